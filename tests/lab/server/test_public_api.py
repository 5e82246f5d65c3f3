"""What needs no token but a key: the traces of a world that is named by its namespace, read only, and nothing else."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scenario_kit.lab.host.http_server import Request
from scenario_kit.lab.server.api import LabServerApi
from scenario_kit.lab.tracing.access import build_traces_path
from scenario_kit.model.runtime.trace import Span, Trace

NOW = 1_790_000_100.0


class OneWorld:
    now = NOW

    def __init__(self, name: str, error: bool = False) -> None:
        span = Span(f"{1:032x}", f"{1:016x}", "", name, "GET /", "SERVER", NOW - 100, 0.1, error, "", {}, {})  # type: ignore[arg-type]
        self.trace = Trace(span.trace_id, (span._replace(resource={"service.name": name}),))

    def traces(self, since: float, until: float) -> Sequence[Trace]:
        return [self.trace] if since <= self.trace.start <= until else []


class TwoWorlds:
    def __init__(self) -> None:
        self.homes = {"shop": OneWorld("cart"), "hotel": OneWorld("geo", error=True)}

    def get_by_namespace(self, namespace: str) -> Any:
        return self.homes.get(namespace)


TOKEN = "s3cret"
SHOP = build_traces_path(TOKEN, "shop")


def ask(path: str, method: str = "GET") -> tuple[int, bytes, str]:
    answer = LabServerApi(TwoWorlds(), TOKEN).answer(Request(method, *path.split("?")))  # type: ignore[arg-type]
    return answer.status, answer.body, answer.type


@pytest.mark.parametrize(("namespace", "service"), [("shop", "cart"), ("hotel", "geo")])
def test_trace_path_shows_its_own_world_only(namespace: str, service: str) -> None:
    status, body, kind = ask(f"{build_traces_path(TOKEN, namespace)}/jaeger/api/services")
    assert (status, kind, json.loads(body)["data"]) == (200, "application/json", [service])


@pytest.mark.parametrize(
    ("query", "lines"),
    [("", 1), ("?since=60", 0), ("?service=geo", 1), ("?service=cart", 0), ("?errors=true", 1)],
)
def test_export(query: str, lines: int) -> None:
    status, body, kind = ask(f"{build_traces_path(TOKEN, 'hotel')}/otlp{query}")
    assert (status, kind, len(body.splitlines())) == (200, "application/x-ndjson", lines)
    assert ask(f"{SHOP}/otlp?errors=true")[1] == b""


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{build_traces_path(TOKEN, 'nobody')}/jaeger/api/services", 404),
        (f"{SHOP}/otlp?since=long", 400),
        (f"{SHOP}/jaeger/api/traces", 400),
        (f"{SHOP}/jaeger/api/nothing", 404),
        (f"{SHOP}/jaeger/api/", 401),
        (f"{SHOP}/jaeger", 401),
        ("/worlds/shop/jaeger/api/services", 401),
        (f"{build_traces_path('other', 'shop')}/jaeger/api/services", 401),
        (f"{build_traces_path(TOKEN, 'hotel').replace('hotel', 'shop')}/otlp", 401),
        ("/worlds/shop", 401),
        ("/worlds", 401),
        ("/worlds/../jaeger/api/services", 401),
    ],
)
def test_other_paths_need_a_token(path: str, status: int) -> None:
    assert ask(path)[0] == status


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_trace_path_is_read_only(method: str) -> None:
    assert ask(f"{SHOP}/jaeger/api/services", method)[0] == 401
    assert ask(f"{SHOP}/otlp", method)[0] == 401

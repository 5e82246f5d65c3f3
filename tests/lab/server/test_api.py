"""The HTTP API and the clock client, over real sockets with fake worlds."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from scenario_kit.errors import AuthoringError, InfrastructureError, KitError, LabError, MetricsError
from scenario_kit.lab import clock
from scenario_kit.lab.clock import WorldClock, WorldWallClock, close_world, open_world
from scenario_kit.lab.host.http_server import LIMIT_BYTES
from scenario_kit.lab.server import api as module
from scenario_kit.lab.server.api import LabServerApi, serve
from scenario_kit.lab.worlds import registry
from tests.lab.worlds.fake_lab import APP, EPOCH, TICKS, FakeLab, spec

TOKEN = "s3cret"
BODY = {"namespace": "shop", "app": APP.to_json(), "seed": 1, "mode": "Virtual"}


@pytest.fixture
def lab() -> FakeLab:
    lab = FakeLab()
    lab.begin()
    return lab


@pytest.fixture
def problems() -> list[str]:
    return []


@pytest.fixture
def server(lab: FakeLab, problems: list[str]) -> Iterator[ThreadingHTTPServer]:
    server = serve(LabServerApi(lab.worlds, TOKEN, lambda: "; ".join(problems)), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def url(server: ThreadingHTTPServer) -> str:
    host, port = server.server_address[:2]
    return f"http://{host!s}:{port}"


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "status"), [("localhost", 200), ("127.0.0.1", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421)]
)
def test_foreign_host_name_is_not_answered(client: httpx.Client, url: str, host: str, status: int) -> None:
    port = url.rpartition(":")[2]
    assert client.get("/worlds", headers={"Host": f"{host}:{port}"}).status_code == status


def test_lab_server_listens_on_loopback_only(server: ThreadingHTTPServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Bearer", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/worlds"),
        ("PUT", "/worlds/t1"),
        ("DELETE", "/worlds/t1"),
        ("POST", "/worlds/t1/wait"),
        ("GET", "/metrics"),
    ],
)
def test_request_without_token_is_rejected(url: str, lab: FakeLab, method: str, path: str, authorization: str) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    response = httpx.request(method, url + path, json=BODY, headers=headers, trust_env=False)
    assert response.status_code == 401
    assert "token" in response.json()["error"]
    assert lab.worlds.all() == []


def test_health_needs_no_token_and_lists_problems(url: str, problems: list[str]) -> None:
    assert httpx.get(f"{url}/healthz", trust_env=False).status_code == 200
    problems.append("thread ticks: ValueError: x")
    response = httpx.get(f"{url}/healthz", trust_env=False)
    assert response.status_code == 503
    assert response.json()["error"] == "thread ticks: ValueError: x"


def test_life_of_a_world(client: httpx.Client) -> None:
    shown = {"trial": "t1", "namespace": "shop", "mode": "Virtual", "seed": 1, "now": EPOCH, "stored": EPOCH}
    assert client.put("/worlds/t1", json=BODY).json() == shown
    assert client.put("/worlds/t1", json=BODY).json() == shown
    waited = client.post("/worlds/t1/wait", json={"until": EPOCH + 40, "step": 15}).json()
    assert waited == {"now": EPOCH + 15, "settled": True, "reason": ""}
    waited = client.post("/worlds/t1/wait", json={"until": EPOCH + 40}).json()
    assert waited == {"now": EPOCH + 45, "settled": True, "reason": ""}
    assert client.get("/worlds/t1").json() == {**shown, "now": EPOCH + 45, "stored": EPOCH + 45}
    assert client.get("/worlds").json() == {"worlds": [{**shown, "now": EPOCH + 45, "stored": EPOCH + 45}]}
    for _ in range(2):
        assert client.delete("/worlds/t1").json() == {}
    assert client.get("/worlds/t1").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "text"),
    [
        ("PUT", "/worlds/t1", b"no json", 400, "malformed"),
        ("PUT", "/worlds/t1", b"[]", 400, "object"),
        ("PUT", "/worlds/t1", b'{"namespace": "shop"}', 400, "missing required field"),
        ("PUT", "/worlds/t1", {**BODY, "mode": "Fast"}, 400, "mode"),
        ("PUT", "/worlds/t1", {**BODY, "scenario": "answer"}, 400, "unknown field"),
        ("PUT", "/worlds/Not_A_Name", BODY, 404, "no such path"),
        ("POST", "/worlds/t1", BODY, 404, "method not supported"),
        ("GET", "/worlds/t1/wait", None, 404, "method not supported"),
        ("GET", "/elsewhere", None, 404, "no such path"),
        ("POST", "/worlds/none/wait", {"until": 0}, 404, "has no world"),
        ("POST", "/worlds/none/wait", {"until": "soon"}, 400, "until"),
        ("POST", "/worlds/none/wait", {"until": 0, "step": 0}, 400, "step is 0"),
    ],
)
def test_bad_requests(client: httpx.Client, method: str, path: str, body: Any, status: int, text: str) -> None:
    content = {"content": body} if isinstance(body, bytes) else {"json": body}
    response = client.request(method, path, **content)
    assert response.status_code == status
    assert text in response.json()["error"]


def test_conflicting_world_is_refused(client: httpx.Client) -> None:
    client.put("/worlds/t1", json=BODY)
    response = client.put("/worlds/t1", json={**BODY, "seed": 2})
    assert response.status_code == 409
    assert "t1" in response.json()["error"]


def test_oversized_body_is_rejected_unread(server: ThreadingHTTPServer) -> None:
    with socket.create_connection(server.server_address[:2]) as raw:
        head = f"PUT /worlds/t1 HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: {LIMIT_BYTES + 1}\r\n\r\n"
        raw.sendall(head.encode())
        assert raw.recv(100).startswith(b"HTTP/1.1 413")


def test_dependency_failure_is_503_and_bug_is_500(client: httpx.Client, lab: FakeLab) -> None:
    client.put("/worlds/t1", json=BODY)
    lab.sink.refuse = MetricsError("Prometheus is gone", fix="start it")
    response = client.post("/worlds/t1/wait", json={"until": EPOCH + 15})
    assert response.status_code == 503
    assert response.json() == {"error": "MetricsError: Prometheus is gone", "fix": "start it"}
    lab.sink.refuse = ZeroDivisionError("oops")
    response = client.post("/worlds/t1/wait", json={"until": EPOCH + 15})
    assert response.status_code == 500
    assert "ZeroDivisionError" in response.json()["error"]


def test_client_disconnect_stops_the_world(server: ThreadingHTTPServer, lab: FakeLab) -> None:
    world = lab.worlds.open(module.WorldSpec.from_json({**BODY, "trial": "t1"}))
    hung_up = threading.Event()
    ended = threading.Event()
    step = lab.twin.step

    def slow_step(view: Any, t: float, dt: float) -> Any:
        if t == EPOCH + 30:
            raw.close()
            hung_up.set()
        return step(view, t, dt)

    lab.twin.step = slow_step  # type: ignore[method-assign]
    wait = world.wait

    def observed_wait(*arguments: Any, **options: Any) -> Any:
        try:
            return wait(*arguments, **options)
        finally:
            ended.set()

    world.wait = observed_wait  # type: ignore[method-assign]
    body = f'{{"until": {EPOCH + 6000}}}'
    head = [
        "POST /worlds/t1/wait HTTP/1.1",
        "Host: localhost:1",
        f"Authorization: Bearer {TOKEN}",
        f"Content-Length: {len(body)}",
    ]
    raw = socket.create_connection(server.server_address[:2])
    raw.sendall("\r\n".join([*head, "", body]).encode())
    assert hung_up.wait(10.0)
    assert ended.wait(10.0)
    assert EPOCH + 30 <= world.now < EPOCH + 6000


def test_metrics_cover_wall_clock_worlds(client: httpx.Client, lab: FakeLab) -> None:
    client.put("/worlds/t1", json={**BODY, "mode": "Wall"})
    world: Any = lab.worlds.get("t1")
    world.tick(1500.0)
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert f'{TICKS[0]}{{namespace="shop"}} 1.0' in response.text


# --- the client


def open_test_world(url: str, token: str = TOKEN, mode: Any = "Virtual", **more: Any) -> Any:
    return open_world(url, token, spec("t1", mode=mode, **more))


def test_world_clock(url: str) -> None:
    world = open_test_world(url)
    assert isinstance(world, WorldClock)
    assert world.now() == EPOCH
    assert world.wait(EPOCH + 40) == EPOCH + 45
    assert open_test_world(url).now() == EPOCH + 45
    close_world(url, TOKEN, "t1")
    close_world(url, TOKEN, "t1")
    with pytest.raises(LabError, match="has no world"):
        world.now()


def test_wall_clock_checks_its_world(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clock.time, "sleep", slept.append)
    wall = open_test_world(url, mode="Wall")
    assert isinstance(wall, WorldWallClock)
    wall.wait(wall.now() + 1000)
    wall.wait(wall.now() - 1000)
    assert slept == [WorldWallClock.STRIDE, 0.0]
    close_world(url, TOKEN, "t1")
    with pytest.raises(LabError, match="has no world"):
        wall.wait(wall.now())


def test_unsettled_cluster_is_an_infrastructure_error(url: str, lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.0)
    world = open_test_world(url)
    lab.unsettle()
    with pytest.raises(InfrastructureError, match=r"did not settle .*ReplicaSet/rs"):
        world.wait(EPOCH + 15)


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [(MetricsError("Prometheus is gone"), InfrastructureError), (ZeroDivisionError("oops"), KitError)],
)
def test_server_errors_keep_their_class(url: str, lab: FakeLab, refusal: Exception, expected: type[Exception]) -> None:
    world = open_test_world(url)
    lab.sink.refuse = refusal
    with pytest.raises(expected, match=str(refusal)):
        world.wait(EPOCH + 15)


def test_unsupported_app_is_an_authoring_error(url: str, client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("there is no component 'web'")

    monkeypatch.setattr(registry, "VirtualWorld", refuse)
    with pytest.raises(AuthoringError, match=r"^app shop 1: there is no component 'web'$") as reported:
        open_test_world(url)
    assert "twin.yaml" in reported.value.fix
    assert client.put("/worlds/t1", json=BODY).status_code == 422


def test_unreachable_or_foreign_server_is_a_lab_error(url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(LabError, match="does not answer"):
        open_test_world(f"http://127.0.0.1:{port}")
    with pytest.raises(LabError, match="token"):
        open_test_world(url, token="wrong")
    open_test_world(url)
    with pytest.raises(LabError, match="different spec"):
        open_test_world(url, seed=2)


def test_pod_ports_are_probed_by_namespace(client: httpx.Client, lab: FakeLab) -> None:
    client.put("/worlds/t1", json=BODY)
    request = {"namespace": "shop", "pod": "web-0", "port": 8080}
    assert client.post("/probe", json=request).json() == {
        "connected": False, "status": None, "reported": "there is no such pod",
    }  # fmt: skip
    assert client.post("/probe", json={**request, "namespace": "elsewhere"}).status_code == 404
    assert client.post("/probe", json={"pod": "web-0"}).status_code == 400
    assert client.get("/probe").status_code in (404, 405)

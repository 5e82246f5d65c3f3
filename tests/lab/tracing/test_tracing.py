"""Jaeger's API and OTLP on hand-made traces: exact documents, searches, refusals."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from scenario_kit.cli.lab.traces import choose_namespace, parse_rows
from scenario_kit.errors import UsageError
from scenario_kit.lab.tracing import TraceSource, reply, serialize_lines
from scenario_kit.lab.tracing.query import Malformed, parse, parse_duration
from scenario_kit.model.runtime.trace import Span, SpanEvent, SpanRef, Trace

NOW = 1_790_000_100.0
SHOP = {"service.name": "cart", "k8s.pod.name": "cart-1", "replicas": 2}
STORE_ERROR = SpanEvent(NOW - 9.9, "exception", {"exception.type": "E", "exception.message": "refused"})


def span(trace: int, number: int, parent: int = 0, **more: Any) -> Span:
    fields: dict[str, Any] = {
        "trace_id": f"{trace:032x}",
        "span_id": f"{number:016x}",
        "parent": f"{parent:016x}" if parent else "",
        "service": "front",
        "name": "GET /",
        "kind": "SERVER",
        "start": NOW - 10.0,
        "seconds": 0.25,
        "error": False,
        "message": "",
        "attributes": {},
        "resource": {"service.name": more.get("service", "front")},
    }
    return Span(**(fields | more))


BAD = Trace(
    f"{1:032x}",
    (
        span(1, 1, error=True, attributes={"http.response.status_code": 500, "ratio": 0.5, "tls": False}),
        span(
            1,
            2,
            1,
            service="cart",
            name="HGET",
            kind="CLIENT",
            seconds=0.1,
            error=True,
            message="refused",
            resource=SHOP,
            events=(STORE_ERROR,),
        ),
    ),
)
GOOD = Trace(f"{2:032x}", (span(2, 1, start=NOW - 5.0, seconds=0.01),))
CONSUMED = Trace(
    f"{3:032x}",
    (span(3, 1, service="books", name="process", kind="CONSUMER", links=(SpanRef(f"{1:032x}", f"{2:016x}"),)),),
)
ALL = [BAD, CONSUMED, GOOD]


def held(since: float, until: float) -> Sequence[Trace]:
    return [trace for trace in ALL if since <= trace.start <= until]


def ask(path: str, query: str = "") -> tuple[int, Any]:
    status, document = reply(TraceSource(NOW, held), path, query)
    assert list(document) == ["data", "total", "limit", "offset", "errors"]
    return status, json.loads(json.dumps(document))


def ids(query: str) -> list[int]:
    status, document = ask("traces", query)
    assert status == 200, document
    return [int(trace["traceID"], 16) for trace in document["data"]]


def test_trace_has_the_documented_shape() -> None:
    status, document = ask(f"traces/{1:x}")
    assert (status, document["errors"]) == (200, None)
    (trace,) = document["data"]
    assert set(trace) == {"traceID", "spans", "processes", "warnings"}
    root, store = trace["spans"]
    assert root == {
        "traceID": f"{1:032x}",
        "spanID": f"{1:016x}",
        "flags": 1,
        "operationName": "GET /",
        "references": [],
        "startTime": 1_790_000_090_000_000,
        "duration": 250_000,
        "tags": [
            {"key": "http.response.status_code", "type": "int64", "value": 500},
            {"key": "ratio", "type": "float64", "value": 0.5},
            {"key": "tls", "type": "bool", "value": False},
            {"key": "span.kind", "type": "string", "value": "server"},
            {"key": "internal.span.format", "type": "string", "value": "otlp"},
            {"key": "error", "type": "bool", "value": True},
            {"key": "otel.status_code", "type": "string", "value": "ERROR"},
        ],
        "logs": [],
        "processID": "p1",
        "warnings": None,
    }
    assert store["references"] == [{"refType": "CHILD_OF", "traceID": f"{1:032x}", "spanID": f"{1:016x}"}]
    assert store["logs"] == [
        {
            "timestamp": 1_790_000_090_100_000,
            "fields": [
                {"key": "event", "type": "string", "value": "exception"},
                {"key": "exception.type", "type": "string", "value": "E"},
                {"key": "exception.message", "type": "string", "value": "refused"},
            ],
        }
    ]
    assert {"key": "otel.status_description", "type": "string", "value": "refused"} in store["tags"]
    assert trace["processes"] == {
        "p1": {"serviceName": "front", "tags": []},
        "p2": {
            "serviceName": "cart",
            "tags": [
                {"key": "k8s.pod.name", "type": "string", "value": "cart-1"},
                {"key": "replicas", "type": "int64", "value": 2},
            ],
        },
    }


def test_links_follow_from() -> None:
    _, document = ask(f"traces/{3:032x}")
    assert document["data"][0]["spans"][0]["references"] == [
        {"refType": "FOLLOWS_FROM", "traceID": f"{1:032x}", "spanID": f"{2:016x}"}
    ]


def test_services_and_operations() -> None:
    assert ask("services")[1]["data"] == ["books", "cart", "front"]
    assert ask("services")[1]["total"] == 3
    assert ask("services/cart/operations")[1]["data"] == ["HGET"]
    assert ask("operations", "service=cart")[1]["data"] == [{"name": "HGET", "spanKind": "client"}]
    assert ask("operations", "service=cart&spanKind=server")[1]["data"] == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("service=front", [2, 1]),
        ("service=front&limit=1", [2]),
        ("service=front&operation=GET%20/", [2, 1]),
        ("service=front&operation=POST", []),
        ("service=front&minDuration=100ms", [1]),
        ("service=front&maxDuration=0.1s", [2]),
        ("service=front&minDuration=1m30s", []),
        ("service=front&lookback=6s", [2]),
        (f"service=front&start={round((NOW - 6) * 1e6)}&end={round(NOW * 1e6)}&lookback=1h", [2]),
        (f"service=front&end={round((NOW - 6) * 1e6)}", [1]),
        ('service=front&tags={"error":"true"}', [1]),
        ('service=front&tags={"http.response.status_code":"500","tls":"false"}', [1]),
        ("service=cart&tag=k8s.pod.name:cart-1", [1]),
        ("service=cart&tag=exception.message:refused", [1]),
        ("service=cart&tag=k8s.pod.name:cart-2", []),
        ("service=nobody", []),
        ("traceID=3&traceID=2", [3, 2]),
    ],
)
def test_search(query: str, expected: list[int]) -> None:
    assert ids(query) == expected


@pytest.mark.parametrize(
    ("path", "query", "status", "text"),
    [
        ("traces", "", 400, "parameter 'service' is required"),
        ("operations", "", 400, "parameter 'service' is required"),
        ("traces", "service=a&limit=ten", 400, "'limit'"),
        ("traces", "service=a&start=yesterday", 400, "'start'"),
        ("traces", "service=a&minDuration=5", 400, "'minDuration'"),
        ("traces", "service=a&minDuration=2s&maxDuration=1s", 400, "'maxDuration' should be greater"),
        ("traces", "service=a&tag=error", 400, "'tag'"),
        ("traces", "service=a&tags=[1]", 400, "'tags'"),
        ("traces", "service=a&tags={", 400, "'tags'"),
        ("traces/xyz", "", 400, "not a trace ID"),
        (f"traces/{9:032x}", "", 404, "trace not found"),
        ("archive/1", "", 404, "no such path"),
    ],
)
def test_refusals(path: str, query: str, status: int, text: str) -> None:
    got, document = ask(path, query)
    assert (got, document["data"], document["errors"][0]["code"]) == (status, None, status)
    assert text in document["errors"][0]["msg"]


def test_trace_search_by_id_reports_missing_ids() -> None:
    status, document = ask("traces", f"traceID=2&traceID={9:032x}")
    assert (status, len(document["data"])) == (200, 1)
    assert document["errors"] == [{"msg": "trace not found", "traceID": f"{9:032x}"}]


def test_dependencies() -> None:
    everything = [{"parent": "front", "child": "cart", "callCount": 1}]
    assert ask("dependencies", f"endTs={round(NOW * 1000)}&lookback=60000")[1]["data"] == everything
    assert ask("dependencies")[1]["data"] == everything
    assert ask("dependencies", "lookback=1000")[1]["data"] == []
    assert ask("dependencies", "service=books")[1]["data"] == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("", 0.0), ("100ms", 0.1), ("1.5s", 1.5), ("2m3s", 123.0), ("7us", 7e-6)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration({"d": text}, "d") == pytest.approx(seconds)


def test_without_times_two_days_are_searched() -> None:
    assert parse("service=a", NOW).since == NOW - 48 * 3600
    with pytest.raises(Malformed):
        parse("", NOW)


def test_otlp_export_has_one_request_per_line() -> None:
    first = json.loads(next(iter(serialize_lines([BAD]))))
    front, cart = first["resourceSpans"]
    assert cart["resource"] == {
        "attributes": [
            {"key": "service.name", "value": {"stringValue": "cart"}},
            {"key": "k8s.pod.name", "value": {"stringValue": "cart-1"}},
            {"key": "replicas", "value": {"intValue": "2"}},
        ]
    }
    (reported,) = cart["scopeSpans"][0]["spans"]
    assert reported == {
        "traceId": f"{1:032x}",
        "spanId": f"{2:016x}",
        "parentSpanId": f"{1:016x}",
        "name": "HGET",
        "kind": 3,
        "startTimeUnixNano": "1790000090000000000",
        "endTimeUnixNano": "1790000090100000000",
        "attributes": [],
        "events": [
            {
                "timeUnixNano": "1790000090100000000",
                "name": "exception",
                "attributes": [
                    {"key": "exception.type", "value": {"stringValue": "E"}},
                    {"key": "exception.message", "value": {"stringValue": "refused"}},
                ],
            }
        ],
        "links": [],
        "status": {"message": "refused", "code": 2},
    }
    assert front["scopeSpans"][0]["spans"][0]["attributes"][1:] == [
        {"key": "ratio", "value": {"doubleValue": 0.5}},
        {"key": "tls", "value": {"boolValue": False}},
    ]
    assert json.loads(list(serialize_lines(ALL))[1])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["links"] == [
        {"traceId": f"{1:032x}", "spanId": f"{2:016x}"}
    ]


def test_trace_table_parses_exported_traces() -> None:
    newest, *_, oldest = parse_rows(serialize_lines(ALL))
    assert (newest.trace_id, newest.root, newest.spans, newest.errors) == (f"{2:032x}", "front GET /", 1, 0)
    bad = next(row for row in parse_rows(serialize_lines(ALL)) if row.errors)
    assert (bad.spans, bad.errors, round(bad.seconds, 6)) == (2, 2, 0.25)
    assert oldest.start == NOW - 10.0


def test_choose_namespace_by_trial_or_only_world() -> None:
    worlds = [{"trial": "t1", "namespace": "shop"}, {"trial": "t2", "namespace": "hotel"}]
    assert [choose_namespace(worlds, "t2"), choose_namespace(worlds, "shop"), choose_namespace(worlds[:1], "")] == [
        "hotel",
        "shop",
        "shop",
    ]
    for some, desired in ((worlds, ""), (worlds, "x"), ([], "")):
        with pytest.raises(UsageError):
            choose_namespace(some, desired)

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from scenario_kit.clients import jaeger
from scenario_kit.clients.jaeger import JaegerTraces, parse_trace
from scenario_kit.errors import InfrastructureError
from scenario_kit.lab.tracing.jaeger import render_trace
from scenario_kit.model.runtime.trace import Span, SpanEvent, SpanRef, Trace

#: A trace as Jaeger's documentation shows one: short identifiers, no kind, a reference to another trace.
WRITTEN = {
    "traceID": "5b8aa5a2d2c872e8",
    "spans": [
        {
            "traceID": "5b8aa5a2d2c872e8", "spanID": "51581bf3cb55c13", "operationName": "HTTP GET /dispatch",
            "references": [
                {"refType": "CHILD_OF", "traceID": "5b8aa5a2d2c872e8", "spanID": "a1"},
                {"refType": "FOLLOWS_FROM", "traceID": "ff", "spanID": "b2"},
            ],
            "startTime": 1500000000500000, "duration": 2500, "processID": "p1",
            "tags": [
                {"key": "span.kind", "type": "string", "value": "client"},
                {"key": "http.status_code", "type": "int64", "value": 503},
                {"key": "error", "type": "bool", "value": True},
            ],
            "logs": [{"timestamp": 1500000000501000, "fields": [{"key": "event", "type": "string", "value": "retry"}]}],
        },
        {
            "traceID": "5b8aa5a2d2c872e8", "spanID": "a1", "operationName": "/", "references": [],
            "startTime": 1500000000000000, "duration": 1000000, "processID": "p1", "tags": None, "logs": None,
        },
    ],
    "processes": {"p1": {"serviceName": "frontend", "tags": [
        {"key": "k8s.namespace.name", "type": "string", "value": "shop"}]}},
    "warnings": None,
}  # fmt: skip


def answer(data: Any) -> tuple[int, bytes]:
    return 200, json.dumps({"data": data, "total": 0, "limit": 0, "offset": 0, "errors": None}).encode()


def trace_at(at: float, number: int, namespace: str = "shop", service: str = "web") -> dict[str, Any]:
    resource = {"service.name": service, **({"k8s.namespace.name": namespace} if namespace else {})}
    span = Span(f"{number:032x}", f"{number:016x}", "", service, "GET", "SERVER", at, 0.1, False, "", {}, resource)
    return render_trace(Trace(span.trace_id, (span,)))


def test_trace_as_documented() -> None:
    trace = parse_trace(WRITTEN)
    root, call = trace.spans
    assert (root.span_id, root.parent, root.kind, root.resource) == (
        "00000000000000a1", "", "INTERNAL", {"service.name": "frontend", "k8s.namespace.name": "shop"},
    )  # fmt: skip
    assert (call.trace_id, call.span_id, call.parent) == (
        "00000000000000005b8aa5a2d2c872e8", "051581bf3cb55c13", "00000000000000a1",
    )  # fmt: skip
    assert (call.kind, call.error, call.attributes) == ("CLIENT", True, {"http.status_code": 503})
    assert (call.start, call.seconds) == (1500000000.5, 0.0025)
    assert call.links == (SpanRef(f"{0xFF:032x}", f"{0xB2:016x}"),)
    assert call.events == (SpanEvent(1500000000.501, "retry", {}),)


def test_what_the_lab_serves_comes_back() -> None:
    events = (SpanEvent(10.5, "exception", {"exception.message": "no"}),)
    link = SpanRef("c" * 32, "d" * 16)
    resource = {"service.name": "cart", "k8s.pod.name": "cart-1"}
    root = Span("a" * 32, "1" * 16, "", "cart", "GET", "SERVER", 10.0, 1.0, True, "it broke", {"n": 1}, resource)
    child = Span(
        "a" * 32, "2" * 16, "1" * 16, "cart", "HGET", "CLIENT", 10.25, 0.5, False, "", {}, resource, (link,), events
    )
    trace = Trace("a" * 32, (root, child))
    assert parse_trace(render_trace(trace)) == trace


def test_traces_of_all_services_once_by_their_begin(scripted: Callable[..., Any]) -> None:
    mine, late, early = trace_at(100.0, 1), trace_at(120.0, 2), trace_at(99.0, 3)
    foreign, nameless = trace_at(101.0, 4, "other"), trace_at(102.0, 5, "")
    script = scripted(answer(["web", "cart"]), answer([late, mine, foreign]), answer([mine, early, nameless]))
    found = JaegerTraces(script.url + "/", ["shop"]).read(100.0, 120.0)
    assert [int(t.trace_id, 16) for t in found] == [1, 5]
    asked = [parse_qs(urlsplit(each.split()[1]).query) for each in script.seen[1:]]
    assert [q["service"] for q in asked] == [["cart"], ["web"]]
    assert (asked[0]["start"], asked[0]["end"]) == (["100000000"], ["120000000"])


def test_a_window_with_more_traces_than_a_page_is_divided(
    scripted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jaeger, "PAGE", 2)
    first, second, third = (trace_at(100.0 + n, n) for n in (1, 6, 8))
    script = scripted(
        answer(["web"]), answer([second, third]), answer([first]), answer([second, third]), answer([second]),
        answer([third]),
    )  # fmt: skip
    assert [t.start for t in JaegerTraces(script.url, ["shop"]).read(100.0, 110.0)] == [101.0, 106.0, 108.0]


def test_more_traces_than_can_be_read(scripted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaeger, "PAGE", 1)
    script = scripted(answer(["web"]), answer([trace_at(100.0, 1)]))
    with pytest.raises(InfrastructureError, match="web has 1 traces or more within") as caught:
        JaegerTraces(script.url, ["shop"]).read(100.0, 110.0)
    assert "--without traces" in caught.value.fix


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ((503, b"storage is gone"), "HTTP 503.*storage is gone"),
        ((200, b"<html>"), "not a response of Jaeger"),
        ((200, b"[]"), "not a response of Jaeger"),
        ((200, b'{"data": 1}'), "not a response of Jaeger"),
        ((200, b'{"data": "web"}'), "not a response of Jaeger"),
        ((200, b'{"data": [1]}'), "not a response of Jaeger"),
        ((200, b"[" * 100_000), "not a response of Jaeger"),
        ((0, b""), "no response from Jaeger"),
    ],
)
def test_a_server_that_is_no_jaeger(scripted: Callable[..., Any], reply: tuple[int, bytes], part: str) -> None:
    with pytest.raises(InfrastructureError, match=part) as caught:
        JaegerTraces(scripted(reply).url, ["shop"]).list_services()
    assert "--jaeger" in caught.value.fix


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"traceID": "1", "spans": [], "processes": {}},
        {**WRITTEN, "processes": {}},
        {**WRITTEN, "spans": ["x"]},
        {"traceID": None},
    ],
)
def test_no_trace(scripted: Callable[..., Any], broken: dict[str, Any]) -> None:
    script = scripted(answer(["web"]), answer([{"traceID": "1", **broken}]))
    with pytest.raises(InfrastructureError, match="not a trace of Jaeger"):
        JaegerTraces(script.url, ["shop"]).read(0.0, 1.0)


@pytest.mark.parametrize("data", [7, "web", ["web"], {"traceID": "1"}])
def test_no_list_of_traces(scripted: Callable[..., Any], data: Any) -> None:
    script = scripted(answer(["web"]), answer(data))
    with pytest.raises(InfrastructureError, match="not a response of Jaeger"):
        JaegerTraces(script.url, ["shop"]).read(0.0, 1.0)

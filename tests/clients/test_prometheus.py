from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import urllib3

from scenario_kit.clients import PrometheusMetrics
from scenario_kit.clients.prometheus import build_error
from scenario_kit.errors import MetricsError


def answer(result: Any, kind: str = "matrix") -> bytes:
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()


def failure(kind: str, text: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": text}).encode()


def test_range(scripted: Callable[..., Any]) -> None:
    script = scripted((200, answer([{"metric": {"a": "b"}, "values": [[15, "1"], [30.5, "NaN"], [45, "+Inf"]]}])))
    (series,) = PrometheusMetrics(script.url).range("foo > 1", 15, 45, 15)
    assert series.labels == {"a": "b"}
    assert [p[0] for p in series.points] == [15, 30.5, 45]
    assert series.points[0][1] == 1
    assert series.points[1][1] != series.points[1][1]
    assert series.points[2][1] == float("inf")
    assert "start=15" in script.seen[0]
    assert "end=45" in script.seen[0]


def test_range_query_keeps_fractional_times(scripted: Callable[..., Any]) -> None:
    script = scripted((200, answer([])))
    assert PrometheusMetrics(script.url).range("foo", 15.25, 45.75, 0.5) == []
    assert "start=15.25" in script.seen[0]
    assert "end=45.75" in script.seen[0]
    assert "step=0.5" in script.seen[0]


def test_instant_vector_and_a_scalar(scripted: Callable[..., Any]) -> None:
    vector = answer([{"metric": {"__name__": "up"}, "value": [15, "1"]}], "vector")
    script = scripted((200, vector), (200, answer([15, "3"], "scalar")), (200, answer([], "vector")))
    metrics = PrometheusMetrics(script.url)
    assert metrics.instant("up", 15)[0].points == [(15.0, 1.0)]
    assert metrics.instant("3", 15) == [({}, [(15.0, 3.0)])]
    assert metrics.instant("none", 15) == []


@pytest.mark.parametrize(
    ("code", "kind", "evaluation"),
    [
        (400, "bad_data", True),
        (422, "execution", True),
        (404, "not_found", False),
        (499, "canceled", False),
        (500, "internal", False),
        (503, "timeout", False),
    ],
)
def test_refusals(scripted: Callable[..., Any], code: int, kind: str, evaluation: bool) -> None:
    script = scripted((code, failure(kind, "found duplicate series for the match group")))
    with pytest.raises(MetricsError, match=f"{kind}: found duplicate series") as caught:
        PrometheusMetrics(script.url).range("foo", 0, 15, 15)
    assert caught.value.evaluation is evaluation
    assert caught.value.slow is (kind in ("timeout", "canceled"))


def test_error_without_json_body() -> None:
    assert "bad gateway" in build_error(502, b"<html>bad gateway", "http://h").message


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"data": {}}', b"[]"])
def test_invalid_responses_are_errors(scripted: Callable[..., Any], body: bytes) -> None:
    with pytest.raises(MetricsError) as caught:
        PrometheusMetrics(scripted((200, body)).url).instant("foo", 0)
    assert not caught.value.evaluation


def test_unreachable_server_is_an_error() -> None:
    with pytest.raises(MetricsError, match=r"127\.0\.0\.1:9") as caught:
        PrometheusMetrics("http://127.0.0.1:9").instant("foo", 0)
    assert not caught.value.evaluation
    assert caught.value.fix


def test_alerts(scripted: Callable[..., Any]) -> None:
    body = json.dumps({"data": {"alerts": [{"state": "firing", "labels": {"alertname": "A"}}]}}).encode()
    assert PrometheusMetrics(scripted((200, body)).url).alerts()[0]["state"] == "firing"


def test_gateway_errors_are_retried(scripted: Callable[..., Any]) -> None:
    script = scripted((503, b"busy"), (200, answer([])))
    assert PrometheusMetrics(script.url).range("foo", 0, 15, 15) == []
    assert len(script.seen) == 2


@pytest.mark.parametrize(
    ("url", "proxied"),
    [("http://prometheus.example:9090", True), ("http://127.0.0.1:9090", False), ("http://inside.example", False)],
)
def test_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch, url: str, proxied: bool) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    pool = PrometheusMetrics(url)._pool
    assert isinstance(pool, urllib3.ProxyManager) is proxied

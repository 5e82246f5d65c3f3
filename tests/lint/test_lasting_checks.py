"""Checks with `stays`: those that cannot fail after the fault, and honest ones beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lint.test_claims import list_messages
from tests.lint.test_truth_rules import scenario

_ADS = 'sum(rate(traces_span_metrics_calls_total{service_name="ad"}[2m]))'


def query(expr: str, operator: str = "GreaterThan", value: int = 0) -> dict[str, Any]:
    return {"query": {"expr": expr, "is": operator, "value": value}}


LASTING = {
    "an offset beyond the fault": query('sum(rate(traces_span_metrics_calls_total{service_name="ad"}[2m] offset 40m))'),
    "a fixed time": query('sum(rate(traces_span_metrics_calls_total{service_name="ad"}[2m] @ start()))'),
    "a window longer than the trial": query('max_over_time(kube_deployment_spec_replicas{deployment="ad"}[1h])'),
    "a subquery longer than the trial": query(f"max_over_time({_ADS}[45m:1m])"),
    "an event of before": {"event": {"entity": "Deployment/ad", "reason": "Scheduled"}},
    "more addresses than pods": {"endpoints": {"service": "Service/ad", "atMost": 100}},
    "a port that nobody opens": {"probe": {"target": "Service/ad", "port": 9999, "succeeds": False}},
}
LIVE = {
    "requests": query(_ADS),
    "the least of a long window": query(
        'min_over_time(kube_deployment_spec_replicas{deployment="ad"}[1h])', "AtLeast", 1
    ),
    "errors of an hour": query(
        'sum(increase(traces_span_metrics_calls_total{service_name="ad"}[1h]))', "AtMost", 99999
    ),
    "addresses": {"endpoints": {"service": "Service/ad", "atLeast": 1}},
    "no second address": {"endpoints": {"service": "Service/ad", "atMost": 1}},
    "a port": {"probe": {"target": "Service/ad", "port": 8080}},
}


def find(check: dict[str, Any], folder: Path) -> list[str]:
    kept = {**check, "stays": True, "describe": "it is as before"}
    return list_messages(scenario(lambda spec: spec["expect"].update(checks=[kept]), folder), "SK141")


@pytest.mark.parametrize("check", LASTING.values(), ids=LASTING)
def test_check_that_cannot_fail_is_reported(check: dict[str, Any], tmp_path: Path) -> None:
    assert len(find(check, tmp_path)) == 1


@pytest.mark.parametrize("check", LIVE.values(), ids=LIVE)
def test_check_that_may_fail_is_not(check: dict[str, Any], tmp_path: Path) -> None:
    assert find(check, tmp_path) == []


@pytest.mark.parametrize(("noise", "reported"), [([], 1), ([{"scale": {"target": "Deployment/ad"}}], 0)])
def test_noise_may_make_a_check_fail(noise: list[dict[str, Any]], reported: int, tmp_path: Path) -> None:
    check = {"object": {"ref": "Deployment/ad", "path": "spec.replicas", "equals": 1}, "stays": True}

    def change(spec: dict[str, Any]) -> None:
        spec["expect"]["checks"] = [{**check, "describe": "one replica is enough"}]
        spec["noise"] = [{"name": f"noise-{i}", "everySeconds": 900, **each} for i, each in enumerate(noise)]

    assert len(list_messages(scenario(change, tmp_path), "SK141")) == reported

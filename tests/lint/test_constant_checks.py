"""Checks with a constant answer, and bounds of PromQL expressions that show it."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint.rules.alerts.query_values.evaluation import compute_bounds
from scenario_kit.lint.rules.alerts.query_values.verdict import find_constant_comparisons
from scenario_kit.load.promql import parser
from tests.lint.test_claims import build_scaling_fault, list_messages
from tests.lint.test_truth_rules import scenario

Spec = dict[str, Any]


@pytest.mark.parametrize(
    ("expr", "low", "high", "sure"),
    [
        ("vector(1)", 1, 1, True),
        ("absent(x)", 1, 1, False),
        ("sum(rate(x[1m]))", 0, inf, False),
        ("rate(x[1m]) or vector(1)", 0, inf, True),
        ("x > bool 0", 0, 1, False),
        ("rate(x[1m]) > bool -1", 1, 1, False),
        ("x > 5", 5, inf, False),
        ("x < 5", -inf, 5, False),
        ("clamp(x, 1, 3)", 1, 3, False),
        ("clamp_max(rate(x[1m]), 3)", 0, 3, False),
        ("x - x", 0, 0, False),
        ("0 * x", 0, 0, False),
        ("-count(x)", -inf, -1, False),
        ("max_over_time((count(x) or vector(0))[5m:15s])", 0, inf, True),
        ("kube_deployment_status_replicas", 0, inf, False),
        ("temperature", -inf, inf, False),
        ("1 + rate(x[1m])", 1, inf, False),
        ("a unless b", -inf, inf, False),
    ],
)
def test_bounds_of_an_expression(expr: str, low: float, high: float, sure: bool) -> None:
    assert compute_bounds(parser.parse_expression(expr))[:3] == (low, high, sure)


@pytest.mark.parametrize(
    ("expr", "reported"),
    [
        ("sum(rate(x[1m])) > bool -1", 1),
        ("rate(x[1m]) >= 0", 1),
        ("x == bool x", 1),
        ("rate(x[1m]) < 0", 1),
        ("count(x) > 0", 0),
        ("count(x > 0) > bool 0", 0),
        ("x > 0", 0),
        ("x != bool x", 0),
        ("(sum(rate(x[1m])) or vector(0)) > 0", 0),
    ],
)
def test_constant_comparison_is_found(expr: str, reported: int) -> None:
    assert len(find_constant_comparisons(expr)) == reported


def query(expr: str, how: str = "AtLeast", value: int = 1, **more: Any) -> Spec:
    return {"query": {"expr": expr, "is": how, "value": value, **more}, "withinSeconds": 60}


def object_(ref: str, path: str, **comparison: Any) -> Spec:
    return {"object": {"ref": ref, "path": path, **comparison}}


def endpoints(**bounds: Any) -> Spec:
    return {"endpoints": {"service": "Service/cart", **bounds}}


CALLS = 'sum(rate(traces_span_metrics_calls_total{service_name="cart"}[1m]))'
PORT = "spec.ports[0].targetPort"


@pytest.mark.parametrize(
    ("check", "reported"),
    [
        pytest.param(query(f"{CALLS} > bool -1"), 1, id="more than less than nothing"),
        pytest.param(query(CALLS, "GreaterThan", -1), 1, id="a rate above -1"),
        pytest.param(query(CALLS, "AtLeast", 0), 1, id="a rate of at least 0"),
        pytest.param(query(f"{CALLS} or vector(3)", "AtLeast", 0), 1, id="any of two"),
        pytest.param(query(f"absent({CALLS[4:-1]})", "Equal", 1, empty="True"), 1, id="absent, or not"),
        pytest.param(query("count(kube_pod_info)", empty="True"), 1, id="some, or none"),
        pytest.param(query(CALLS, "LessThan", 0), 1, id="a negative rate"),
        pytest.param(query(f"0 * {CALLS}", "Equal", 0), 1, id="nothing times anything"),
        pytest.param(endpoints(atLeast=0), 1, id="any number of addresses"),
        pytest.param(object_("Deployment/cart", "status.redyReplicas", atMost=0), 1, id="a misspelled field"),
        pytest.param(object_("Deployment/cart", "spec.replica", exists=False), 1, id="a field that is never there"),
        pytest.param(object_("Deployment/cart", "spec.replica", atMost=1), 1, id="0 for what is not there"),
        pytest.param(object_("Service/cart", "spec.ports", exists=True), 1, id="as it is anyway"),
        pytest.param(endpoints(atLeast=1), 1, id="as many addresses as ever"),
        pytest.param({**endpoints(atLeast=1), "stays": True}, 0, id="as many, and that is meant"),
        pytest.param(
            {**object_("Service/product-catalog", "spec.ports", exists=True), "stays": True}, 0, id="meant as well"
        ),
        pytest.param({**object_("Service/cart", "spec.ports", exists=True), "stays": True}, 1, id="nothing changes it"),
        pytest.param(endpoints(atMost=0), 0, id="no addresses"),
        pytest.param(object_("Service/product-catalog", PORT, equals=9999), 0, id="what the fault writes"),
        pytest.param(object_("Deployment/cart", "status.readyReplicas", atMost=0), 0, id="what only a cluster knows"),
        pytest.param(query(f"{CALLS} or vector(0)", "Equal", 0), 0, id="no requests"),
        pytest.param(query("count(kube_pod_info)"), 0, id="whether there are any"),
        pytest.param(query(f"absent({CALLS[4:-1]})", "Equal", 1), 0, id="whether there are none"),
        pytest.param(query(CALLS, "GreaterThan", 5), 0, id="a rate"),
    ],
)
def test_constant_check_is_reported(check: Spec, reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: spec["expect"].update(checks=[check]), tmp_path)
    assert len(list_messages(path, "SK141")) == reported


def test_constant_check_is_allowed_without_incident(tmp_path: Path) -> None:
    def quiet(spec: Spec) -> None:
        spec["groundTruth"] = {"outcome": "NoIncident"}
        spec["faults"], spec["solutions"], spec["decoys"] = [], [], []
        spec["expect"] = {"checks": [endpoints(atLeast=1)]}

    assert list_messages(scenario(quiet, tmp_path), "SK141") == []


@pytest.mark.parametrize("part", ["effect", "undone"])
def test_constant_effect_check_is_reported(part: str, tmp_path: Path) -> None:
    fault = build_scaling_fault(**{part: [query(f"{CALLS} > bool -1")]})
    path = scenario(lambda spec: None, tmp_path, fault)
    file = path.parent / "faults" / "own" / "fault.yaml"
    assert len(list_messages(file, "SK141")) == 1


@pytest.mark.parametrize(("value", "reported"), [(0, 1), (1, 0)])
def test_constant_check_that_a_decoy_waits_for_is_reported(value: int, reported: int, tmp_path: Path) -> None:
    def wait(spec: Spec) -> None:
        spec["decoys"][0]["changes"][0]["until"] = {"check": query("count(kube_pod_info)", value=value)}

    assert len(list_messages(scenario(wait, tmp_path), "SK141")) == reported

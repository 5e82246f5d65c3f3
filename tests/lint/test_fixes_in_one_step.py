"""Findings whose text must let an author correct the mistake in one step, and honest files that look like mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint.framework.suppression import find_latest_month, get_today
from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault

Spec = dict[str, Any]


def find(path: Path, code: str) -> list[tuple[str, str]]:
    return [(f.message, f.fix) for f in lint_scenario(path) if f.code == code]


def add_trigger(target: str) -> Any:
    def change(spec: Spec) -> None:
        rollout = {"name": "rollout", "type": "deployment-scaled-to-zero", "target": target, "lastsSeconds": 120}
        spec["faults"].append({**rollout, "role": "Trigger"})

    return change


@pytest.mark.parametrize(
    ("target", "reported"),
    [
        pytest.param("Deployment/recommendation", 0, id="a caller that alerts"),
        pytest.param("Deployment/frontend-proxy", 1, id="a caller on which no alert is expected"),
    ],
)
def test_trigger_at_a_component_that_the_cause_affects_too(target: str, reported: int, tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        add_trigger(target)(spec)
        edges = spec["groundTruth"]["propagation"]
        start = {
            "Deployment/recommendation": "Service/product-catalog",
            "Deployment/frontend-proxy": "Deployment/frontend",
        }
        edges[:] = [edge for edge in edges if edge["to"] != target]
        edges.append({"from": start[target], "to": target, "because": "its own requests depend on these answers"})
        alerts = [a for a in spec["expect"]["alerts"] if a.get("entity") != target]
        if not reported:
            alerts.append({"name": "HighRequestErrorRate", "entity": target, "class": "MayFire"})
        spec["expect"]["alerts"] = alerts

    found = [message for message, _ in find(scenario(change, tmp_path), "SK116") if "Trigger" in message]
    assert len(found) == reported


def test_alias_that_is_owned_needs_no_name(tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        spec["groundTruth"]["rootCauses"][0]["aliases"] = ["ReplicaSet/product-catalog"]

    ((_, fix),) = find(scenario(change, tmp_path), "SK112")
    assert fix == "remove it: a ReplicaSet counts as its workload without being named"


def test_quotation_says_where_it_is_from(tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        spec["groundTruth"]["propagation"][0]["because"] = "nobody gets products from a closed shop door"
        spec["brief"] = "Since noon nobody gets products from a shop that used to work; orders fail."

    ((message, _),) = find(scenario(change, tmp_path), "SK211")
    assert message == "the brief contains 'nobody gets products from a', as in `because` of an edge"


def test_refused_fault_lists_possible_targets(tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        spec["faults"].append({"name": "disk", "type": "io-latency", "target": "Deployment/email"})
        spec["groundTruth"]["rootCauses"].append({"fault": "disk"})

    ((_, fix),) = find(scenario(change, tmp_path), "SK304")
    assert "possible targets: " in fix


def test_parameter_without_default_is_named(tmp_path: Path) -> None:
    fault = build_local_fault()
    fault["parameters"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"address": {"type": "string", "description": "The address."}},
        "required": ["address"],
    }
    path = scenario(lambda spec: None, tmp_path, fault)
    (own,) = path.parent.glob("faults/*/fault.yaml")
    found = [(message, fix) for message, fix in find(own, "SK123")]
    assert found
    assert all("zq7" not in message and fix.startswith("give each parameter a default") for message, fix in found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scale": {"target": "Deployment/otel-collector", "replicas": 0}}, "is scaled to 0"),
        ({"scale": {"target": "Deployment/load-generator", "replicas": 0}}, "is scaled to 0"),
        ({"delete": {"target": "Service/otel-collector"}}, "is gone"),
        ({"setFlag": {"flag": "loadGeneratorFloodHomepage", "variant": "on"}}, "the load setting"),
        ({"scale": {"target": "Deployment/ad", "replicas": 2}}, ""),
        ({"restart": {"target": "Deployment/load-generator"}}, ""),
    ],
)
def test_solution_that_takes_away_is_announced(change: Spec, words: str, tmp_path: Path) -> None:
    path = scenario(lambda spec: spec["solutions"][0]["changes"].append(change), tmp_path)
    found = [message for message, _ in find(path, "SK434")]
    assert [words in message for message in found] == ([True] if words else [])


@pytest.mark.parametrize(("fault", "reported"), [("resource-quota-requires-limits", 0), ("env-var-missing", 1)])
def test_policy_that_makes_up_for_another_is_a_repair(fault: str, reported: int, tmp_path: Path) -> None:
    limits = {"limits": [{"type": "Container", "default": {"memory": "300Mi"}}]}
    made = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "defaults"}, "spec": limits}

    def change(spec: Spec) -> None:
        target = "Deployment/cart" if reported == 0 else "Deployment/shipping"
        parameters = {} if reported == 0 else {"name": "QUOTE_ADDR"}
        spec["faults"].append({"name": "cap", "type": fault, "target": target, "parameters": parameters})
        spec["groundTruth"]["rootCauses"].append({"fault": "cap"})
        spec["solutions"].append({"name": "defaults", "fixes": ["cap"], "changes": [{"create": made}]})

    found = [message for message, _ in find(scenario(change, tmp_path), "SK434") if "LimitRange" in message]
    assert len(found) == reported


@pytest.mark.parametrize("alert_class", ["MayFire", "MustNotFire"])
def test_alert_about_a_kind_that_the_app_lacks(alert_class: str, tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        spec["expect"]["alerts"].append({"name": "KubeHpaMaxedOut", "class": alert_class})

    ((message, _),) = find(scenario(change, tmp_path), "SK114")
    assert message == "alert 'KubeHpaMaxedOut' is never about this app, which has no HorizontalPodAutoscaler"


@pytest.mark.parametrize(
    ("account", "reported"), [("ada-l", 0), ("../pulls", 1), ("-ada", 1), ("ada--l", 1), ("a b", 1)]
)
def test_account_of_an_author(account: str, reported: int, tmp_path: Path) -> None:
    found = find(scenario(lambda spec: spec.update(authors=[{"name": "Ada", "github": account}]), tmp_path), "SK603")
    assert len(found) == reported


@pytest.mark.parametrize(("reason", "reported"), [("...", 1), ("x", 1), ("its node has one pod", 0)])
def test_reason_of_a_suppression(reason: str, reported: int, tmp_path: Path) -> None:
    month = str(find_latest_month(get_today()))
    entry = {"code": "SK432", "reason": reason, "until": month}
    assert len(find(scenario(lambda spec: spec.update(suppress=[entry]), tmp_path), "SK610")) == reported

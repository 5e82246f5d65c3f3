"""Findings whose text must let an author correct the mistake in one step, and honest files that look like mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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

"""Declared scopes and capabilities must be needed by the changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint import lint_file
from scenario_kit.lint.fix import fix_file
from tests.lint.test_claims import build_scaling_fault
from tests.lint.test_rules import CATALOG
from tests.lint.test_truth_rules import scenario

NODE = {"cordon": {"target": "Node/node:all"}}
WALL = {
    "create": {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "{{ neutral('wall') }}"},
        "spec": {"podSelector": {"matchLabels": "{{ pod_selector(target) }}"}, "policyTypes": ["Ingress"]},
    }
}


def with_change(change: dict[str, Any], **more: Any) -> dict[str, Any]:
    fault = build_scaling_fault(**more)
    return {**fault, "changes": [*fault["changes"], change]}


def with_cause(when: str) -> dict[str, Any]:
    """Two conjunctive causes, the second one conditional on ``when``."""
    fault = build_scaling_fault(causesJoin="Conjunctive")
    return {**fault, "entities": [*fault["entities"], {**fault["entities"][0], "when": when}]}


@pytest.mark.parametrize(
    ("fault", "reported"),
    [
        pytest.param(build_scaling_fault(), 0, id="nothing is declared"),
        pytest.param(build_scaling_fault(scope="Cluster"), 1, id="a scope"),
        pytest.param(with_change(NODE, scope="Cluster"), 0, id="a scope for nodes"),
        pytest.param(build_scaling_fault(requires=["node-access"]), 1, id="a privilege"),
        pytest.param(build_scaling_fault(requires=["kernel", "node-access"]), 2, id="two privileges"),
        pytest.param(build_scaling_fault(requires=["cni-network-policy"]), 1, id="a capability"),
        pytest.param(with_change(WALL, requires=["cni-network-policy"]), 0, id="a capability that is used"),
        pytest.param(build_scaling_fault(requires=["real-data-plane"]), 0, id="what no object tells"),
        pytest.param(build_scaling_fault(causesJoin="Conjunctive"), 1, id="one cause of several"),
        pytest.param(with_cause("{{ 'yes' if parameters else '' }}"), 0, id="a second cause with other parameters"),
        pytest.param(with_cause("{{ '' }}"), 1, id="a second cause that never is"),
    ],
)
def test_licence_is_needed(fault: dict[str, Any], reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, fault)
    found = lint_file(path.parent / "faults" / "own" / "fault.yaml", CATALOG)
    assert len([f for f in found if f.code == "SK225"]) == reported, [f.message for f in found]


@pytest.mark.parametrize(
    "fault",
    [build_scaling_fault(scope="Cluster"), build_scaling_fault(requires=["kernel", "node-access", "real-data-plane"])],
)
def test_unneeded_scope_or_capability_is_removed(fault: dict[str, Any], tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, fault).parent / "faults" / "own" / "fault.yaml"
    result = fix_file(path, CATALOG)
    assert {f.code for f in result.corrected} == {"SK225"}
    assert "SK225" not in {f.code for f in result.left}
    assert b"real-data-plane" in result.new or "requires" not in fault


def test_declared_conjunction_is_not_changed(tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, build_scaling_fault(causesJoin="Conjunctive")).parent
    assert fix_file(path / "faults" / "own" / "fault.yaml", CATALOG).corrected == ()


@pytest.mark.parametrize(
    ("fault", "reported"),
    [
        pytest.param(build_scaling_fault(), [], id="nothing is declared"),
        pytest.param(build_scaling_fault(scope="Cluster"), ["own"], id="a scope"),
        pytest.param(with_change(NODE, scope="Cluster"), [], id="a scope for nodes"),
    ],
)
def test_unneeded_scope_is_reported_at_use(fault: dict[str, Any], reported: list[str], tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, fault)
    found = [f for f in lint_file(path, CATALOG) if f.code == "SK225"]
    assert [f.message.split("'")[1] for f in found] == reported
    assert all(f.position is not None and f.position.line > 1 for f in found)

"""Causes declared by a scenario's own fault: changed by it, and separately repairable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault

NOTE = {"patch": {"target": "Deployment/ad", "type": "Merge", "patch": {"metadata": {"annotations": {"note": "x"}}}}}
DROP = {"patch": {"target": "Deployment/ad", "type": "Merge", "patch": {"metadata": {"annotations": {"note": None}}}}}


def build_fault_with_cause(entity: dict[str, Any], *changes: dict[str, Any]) -> dict[str, Any]:
    """The fault with this as its one cause, and further changes."""
    fault = build_local_fault()
    fault["entities"] = [entity, {"ref": "{{ target }}", "role": "Victim"}]
    fault["changes"] = [*fault["changes"], *changes]
    return fault


BACK: dict[str, Any] = {"removeFault": {"fault": "catalog-port"}}
NONE: dict[str, Any] = {"mitigation": "None", "solutions": []}


@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        pytest.param(build_local_fault(), set(), id="as it is"),
        pytest.param(
            build_fault_with_cause({"ref": "Deployment/ad", "fix": [DROP]}), {"SK405"}, id="what it does not touch"
        ),
        pytest.param(
            build_fault_with_cause({"ref": "Deployment/ad", "fix": [DROP]}, NOTE), set(), id="what it touches"
        ),
        pytest.param(
            build_fault_with_cause({"ref": "Deployment/ad"}, NOTE), {"SK414"}, id="which is not repaired alone"
        ),
        pytest.param(
            build_fault_with_cause({"ref": "Deployment/ad", "fix": [BACK]}, NOTE), {"SK414"}, id="but with all the rest"
        ),
        pytest.param(
            {**build_fault_with_cause({"ref": "Deployment/ad"}, NOTE), **NONE}, {"SK414"}, id="nor by anybody"
        ),
        pytest.param({**build_local_fault(), **NONE}, set(), id="what nobody can repair"),
        pytest.param(
            build_fault_with_cause({"ref": "Deployment/ad", "role": "Artefact"}, NOTE), {"SK414"}, id="no cause at all"
        ),
    ],
)
def test_local_fault_causes_must_match_its_changes(fault: dict[str, Any], codes: set[str], tmp_path: Path) -> None:
    def label(spec: dict[str, Any]) -> None:
        if fault["entities"][0].get("ref") == "Deployment/ad":
            spec["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/ad"

    path = scenario(label, tmp_path, fault)
    assert {f.code for f in lint_scenario(path)} & {"SK405", "SK406", "SK414"} == codes


@pytest.mark.parametrize(("caller", "codes"), [("checkout", set()), ("frontnd", {"SK119"}), ("geo", {"SK119"})])
def test_scenarios_own_fault_is_checked_for_its_app(caller: str, codes: set[str], tmp_path: Path) -> None:
    fault = build_local_fault()
    errors = f'sum(rate(traces_span_metrics_calls_total{{service_name="{caller}"}}[1m]))'
    fault["effect"] = [{"query": {"expr": errors, "is": "AtLeast", "value": 1}, "describe": "calls fail"}]
    path = scenario(lambda spec: None, tmp_path, fault)

    assert {f.code for f in lint_scenario(path.parent / "faults" / "own" / "fault.yaml")} & {"SK119"} == codes

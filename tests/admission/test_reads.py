"""Objects that checks read: those of the trial, wherever the check is."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.admission import derive_bounds
from scenario_kit.admission.reads import check_reads
from scenario_kit.catalog import Catalog
from scenario_kit.lint.rules.security.runbook_admission import list_refusals
from scenario_kit.load import load_scenario
from scenario_kit.model import Check
from scenario_kit.render import resolve
from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault

RESTART = {"restart": {"target": "Deployment/cart"}}
FOREIGN = {"probe": {"target": "kube-system/Service/kube-dns", "port": 53}}


def find_notes(check: dict[str, Any]) -> list[str]:
    catalog = Catalog()
    bounds = derive_bounds(catalog.app("otel-demo", catalog.versions("otel-demo")[0]), "shop", ())
    return [breach.note for breach in check_reads(Check.from_json(check), bounds)]


@pytest.mark.parametrize(
    "check",
    [
        {"probe": {"target": "Service/cart", "port": 80, "path": "/health?from=.."}},
        {"probe": {"target": "Service/cart", "port": 80, "path": "/v1..2/a"}},
        {"event": {"entity": "Node/a", "reason": "NotReady"}},
        {"log": {"entity": "kube-system/Deployment/coredns", "pattern": "x"}},
        {"object": {"ref": "kube-system/ConfigMap/coredns", "path": "data.Corefile"}},
    ],
)
def test_objects_of_a_trial_may_be_read(check: dict[str, Any]) -> None:
    assert find_notes(check) == []


@pytest.mark.parametrize(
    "check",
    [
        FOREIGN,
        {"object": {"ref": "kube-system/Secret/token", "path": "data.a"}},
        {"log": {"entity": "monitoring/Deployment/prometheus", "pattern": "x"}},
        *(
            {"probe": {"target": "Service/cart", "port": 80, "path": path}}
            for path in ("/../x", "/a/%2e%2e/b", "/a%2F..%2Fb", "/a%3F/../../x")
        ),
    ],
)
def test_other_objects_and_paths_may_not_be_read(check: dict[str, Any]) -> None:
    assert len(find_notes(check)) == 1


@pytest.mark.parametrize("part", ["changes", "undo", "entities", "solutions", "decoys"])
def test_lint_and_operator_refuse_waits_alike(part: str, tmp_path: Path) -> None:
    fault = copy.deepcopy(build_local_fault())
    wait = [{**RESTART, "until": {"check": FOREIGN}}]
    parts: dict[str, Any] = {
        "changes": [*fault["changes"], *wait],
        "undo": wait,
        "entities": [{**fault["entities"][0], "fix": wait}, *fault["entities"][1:]],
        "solutions": [{**fault["solutions"][0], "changes": wait}],
        "decoys": [{"name": "restart", "description": "Restart it", "changes": wait}],
    }
    fault[part] = parts[part]
    path = scenario(lambda _: None, tmp_path, fault)

    runbook = resolve(load_scenario(path).scenario, Catalog(), "app-x1", beside=path)
    refused = [f.message for f in list_refusals(runbook) if "no check may read it" in f.message]
    reported = [f for f in lint_scenario(path.parent / "faults/own/fault.yaml") if "no check may read it" in f.message]
    assert len(refused) >= 1
    assert [f.code for f in reported] == ["SK236"]

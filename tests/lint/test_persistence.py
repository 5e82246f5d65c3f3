"""Declared persistence of a fault against its changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault, experiment

PATCH = {"patch": {"target": "{{ target }}", "type": "Merge", "patch": {"metadata": {"annotations": {"note": "x"}}}}}
RESTART = {"restart": {"target": "Deployment/ad"}}
KILL: dict[str, Any] = {"action": "pod-kill", "gracePeriod": 0}


def job(**spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "registry.k8s.io/pause:3.10"}]}
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch"}}
    return {"create": {**body, "spec": {"template": {"spec": pod}, **spec}}}


@pytest.mark.parametrize(
    ("on", "expected"),
    [("Deployment/ad", []), ("Deployment/email", ["SK410"]), (None, ["SK410"])],
    ids=["its own object", "another one", "anywhere"],
)
def test_distractor_may_raise_its_declared_alerts(on: str | None, expected: list[str], tmp_path: Path) -> None:
    def trouble(spec: dict[str, Any]) -> None:
        spec["faults"].append(
            {"name": "old", "type": "container-command-not-found", "target": "Deployment/ad", "role": "Distractor"}
        )
        alert = {"name": "KubePodCrashLooping", "class": "MayFire", "after": "old"}
        spec["expect"]["alerts"].append(alert if on is None else {**alert, "entity": on})

    assert [f.code for f in lint_scenario(scenario(trouble, tmp_path)) if f.code == "SK410"] == expected


@pytest.mark.parametrize(
    ("persistence", "changes", "true"),
    [
        ("SelfHeals", [experiment()], False),
        ("SelfHeals", [PATCH], False),
        ("SelfHeals", [experiment(**KILL)], True),
        ("SelfHeals", [experiment(**KILL), PATCH], False),
        ("SelfHeals", [{"scale": {"target": "{{ target }}", "replicas": 0}}], False),
        ("SelfHeals", [{"delete": {"target": "Service/cart"}}], False),
        ("OneShot", [experiment(**KILL), RESTART], True),
        ("OneShot", [experiment()], False),
        ("OneShot", [PATCH], False),
        ("Pod", [experiment()], True),
        ("Pod", [PATCH], False),
        ("Pod", [{"setFlag": {"flag": "cartFailure", "variant": "on"}}], False),
        ("Expires", [experiment(duration="1h")], True),
        ("Expires", [experiment()], False),
        ("Expires", [experiment(duration="1h"), PATCH], False),
        ("Expires", [job(activeDeadlineSeconds=3600)], True),
        ("Expires", [job()], False),
        ("Object", [PATCH], True),
        ("Workload", [experiment()], True),
    ],
)
def test_declared_persistence_must_be_possible(
    persistence: str, changes: list[dict[str, Any]], true: bool, tmp_path: Path
) -> None:
    fault = build_local_fault()
    first = changes[0].get("chaos")
    if first is not None:
        first["metadata"]["name"] = "{{ neutral('pod') }}"
    fault |= {"persistence": persistence, "changes": changes}
    path = scenario(lambda s: None, tmp_path, fault)
    beside = path.parent / "faults" / "own" / "fault.yaml"
    for file in (path, beside):
        assert ("SK435" not in {f.code for f in lint_scenario(file)}) is true


@pytest.mark.parametrize(
    ("persistence", "deadline", "cause", "true"),
    [
        ("Object", {"activeDeadlineSeconds": 1500}, True, False),
        ("Workload", {"activeDeadlineSeconds": 1500}, True, False),
        ("Object", {"activeDeadlineSeconds": 86400}, True, True),
        ("Object", {}, True, True),
        ("Expires", {"activeDeadlineSeconds": 1500}, True, True),
        ("Object", {"activeDeadlineSeconds": 1500}, False, True),
    ],
    ids=["object", "workload", "a day", "no deadline", "said to expire", "an artefact"],
)
def test_cause_that_lasts_has_no_deadline(
    persistence: str, deadline: dict[str, Any], cause: bool, true: bool, tmp_path: Path
) -> None:
    fault = build_local_fault()
    named = {"ref": "Job.batch/batch", "role": "Cause" if cause else "Artefact", "generated": True}
    fault |= {"persistence": persistence, "changes": [job(**deadline)], "entities": [named]}
    beside = scenario(lambda s: None, tmp_path, fault).parent / "faults" / "own" / "fault.yaml"
    assert ("SK435" not in {f.code for f in lint_scenario(beside)}) is true


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ({}, True),
        ({"changes": [PATCH, experiment()]}, True),
        ({"persistence": "Pod"}, False),
        ({"changes": [PATCH, {"run": {"client": "psql", "command": ["psql"]}}]}, False),
        ({"mitigation": "Native"}, False),
    ],
    ids=["a patch", "an experiment", "ends with its pods", "a command", "native"],
)
def test_change_that_an_operator_can_take_back_needs_no_workaround(
    part: dict[str, Any], wrong: bool, tmp_path: Path
) -> None:
    fault = {**build_local_fault(), "changes": [PATCH], "mitigation": "Workaround", **part}
    messages = [f.message for f in lint_scenario(scenario(lambda s: None, tmp_path, fault)) if f.code == "SK414"]
    assert any("`mitigation: Workaround` of" in message for message in messages) is wrong

"""Claims that a file itself contradicts: roles, persistence, deadlines, decoys, and checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.lint.test_rules import second_fault
from tests.lint.test_truth_rules import lint_scenario, scenario
from tests.lint.truth_violations import build_local_fault, build_query, distractor

Spec = dict[str, Any]


def list_messages(path: Path, code: str) -> list[str]:
    return [f.message for f in lint_scenario(path) if f.code == code]


def checks(expr: str) -> Callable[[Spec], Any]:
    return lambda spec: spec["expect"].update(checks=[build_query(expr)])


def decoys(*changes: dict[str, Any]) -> Callable[[Spec], Any]:
    listed = [{"name": f"try-{i}", "changes": [change]} for i, change in enumerate(changes)]
    return lambda spec: spec.update(decoys=listed)


def restart(target: str) -> dict[str, Any]:
    return {"restart": {"target": target}}


def note(target: str) -> dict[str, Any]:
    return {"patch": {"target": target, "type": "Merge", "patch": {"metadata": {"annotations": {"seen": "today"}}}}}


def alert(**more: Any) -> Callable[[Spec], Any]:
    """Duplicate the first alert with changes."""
    return lambda spec: spec["expect"]["alerts"].append({**spec["expect"]["alerts"][0], **more})


def add_sustaining_fault(*more: str) -> Callable[[Spec], Any]:
    def change(spec: Spec) -> None:
        second_fault(spec)
        spec["faults"][1]["role"] = "Sustaining"
        for role in more:
            extra = {"name": "before", "type": "pod-kill", "target": "Deployment/ad", "role": role}
            spec["faults"].append(extra)

    return change


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (checks("sum(rate(calls_total[1m])"), "SK117", ["not PromQL"]),
        (checks("sum(rate(calls_total[1m])) > 1"), "SK117", []),
        (checks("(" * 200 + "up" + ")" * 200), "SK117", ["nests deeper"]),
        (checks("max_over_time(up[1y:1s]) > 1"), "SK208", ["31536000 points"]),
        (checks('sum(up{pod=~"(([a-z0-9-]+)+)+!"})'), "SK119", ["matches no object"]),
        (checks("vector(1)"), "SK119", ["no series"]),
        (checks("sum(calls_total) or vector(0)"), "SK119", []),
        (checks('sum(up{namespace="default"})'), "SK119", ["a namespace of its own"]),
        (decoys(restart("Deployment/payment")), "SK432", ["touches"]),
        (decoys(note("Deployment/frontend")), "SK432", ["touches"]),
        (decoys(restart("Deployment/payment"), restart("Deployment/frontend")), "SK432", []),
        (decoys({"delete": {"target": "kube-system/Deployment/coredns"}}), "SK202", ["is in kube-system"]),
        (decoys({"drain": {"target": "Node/node:all"}}), "SK202", ["the whole cluster"]),
        (alert(withinSeconds=900), "SK325", ["two different deadlines"]),
        (alert(withinSeconds=900, entity="Deployment/ad"), "SK325", []),
        (add_sustaining_fault(), "SK404", ["no fault is the Trigger"]),
        (add_sustaining_fault("Trigger"), "SK404", []),
        (distractor, "SK124", []),
        (lambda spec: spec.update(title="Broken"), "SK602", ["too short"]),
        (lambda spec: spec.update(brief="Help!"), "SK602", ["too short"]),
        (lambda spec: spec.update(authors=[{"name": " "}]), "SK603", ["without a name"]),
        (lambda spec: spec.update(authors=[{"name": "\u200b\u2060"}]), "SK603", ["without a name"]),
        (lambda spec: spec.update(authors=[{"name": "Ada\x07"}]), "SK603", ["without a name"]),
        (lambda spec: spec.update(authors=[{"name": "\u0645\u200c\u0631"}]), "SK603", []),
    ],
)
def test_contradicted_claim_is_reported(
    change: Callable[[Spec], Any], code: str, words: list[str], tmp_path: Path
) -> None:
    reported = list_messages(scenario(change, tmp_path), code)
    assert len(reported) == len(words), reported
    assert all(word in message for word, message in zip(words, reported, strict=True))


@pytest.mark.parametrize(("target", "reported"), [("Deployment/cart", 1), ("Deployment/ad", 0)])
def test_distractor_on_labelled_object_is_refused(target: str, reported: int, tmp_path: Path) -> None:
    def change(spec: Spec) -> None:
        second_fault(spec)
        distractor(spec, target)

    assert len(list_messages(scenario(change, tmp_path), "SK124")) == reported


def build_scaling_fault(**more: Any) -> dict[str, Any]:
    """A fault type that takes a workload its replicas."""
    patch = {"spec": {"replicas": 0}}
    back = [{"scale": {"target": "{{ target }}", "replicas": 1}}]
    return {
        **build_local_fault(),
        "changes": [{"patch": {"target": "{{ target }}", "type": "Merge", "patch": patch}}],
        "entities": [{"ref": "{{ target }}", "field": "spec.replicas", "fix": back}],
        "solutions": [{"name": "back", "description": "Scale it up again", "changes": back}],
        "persistence": "Object",
        **more,
    }


RESTART = [{"name": "again", "description": "Start it again", "changes": [restart("{{ target }}")]}]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(build_scaling_fault(), [], id="an operator puts it back"),
        pytest.param(
            build_scaling_fault(persistence="Pod"), ["no solution restarts"], id="a restart is said to end it"
        ),
        pytest.param(
            build_scaling_fault(persistence="Pod", solutions=RESTART), [], id="and is a solution, which is tried"
        ),
        pytest.param(
            build_scaling_fault(mitigation="None", solutions=[]), ["rules out a repair"], id="nobody is said to end it"
        ),
        pytest.param(
            {**build_local_fault(), "mitigation": "None", "solutions": []}, [], id="an experiment that nobody ends"
        ),
    ],
)
def test_declared_persistence_must_match_changes(fault: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    def label(spec: Spec) -> None:
        if fault["persistence"] == "Object" or "field" in fault["entities"][0]:
            spec["groundTruth"]["rootCauses"][0]["entity"] = "Deployment/cart"

    reported = list_messages(scenario(label, tmp_path, fault), "SK414")
    assert len(reported) == len(words), reported
    assert all(word in message for word, message in zip(words, reported, strict=True))


@pytest.mark.parametrize(("name", "reported"), [("own", 0), ("pod-failure", 1)])
def test_own_fault_type_needs_a_unique_name(name: str, reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, {**build_local_fault(), "name": name})
    assert len(list_messages(path, "SK108")) == reported


def two_causes(also: str) -> dict[str, Any]:
    """A fault type that breaks its target and another workload, each of which is a cause."""
    fault = build_scaling_fault()
    fault["changes"].append({"scale": {"target": also, "replicas": 0}})
    fix = [{"scale": {"target": also, "replicas": 1}}]
    fault["entities"].append({"ref": also, "field": "spec.replicas", "fix": fix})
    return fault


@pytest.mark.parametrize(
    ("labels", "reported"),
    [
        (["Deployment/cart"], 1),
        (["Deployment/ad"], 1),
        (["Deployment/cart", "Deployment/ad"], 0),
        (["Deployment/payment"], 0),  # SK405
    ],
)
def test_unlabelled_cause_of_a_fault_is_reported(labels: list[str], reported: int, tmp_path: Path) -> None:
    def label(spec: Spec) -> None:
        spec["groundTruth"]["rootCauses"] = [{"fault": "catalog-port", "entity": name} for name in labels]

    path = scenario(label, tmp_path, two_causes("Deployment/ad"))
    assert len(list_messages(path, "SK404")) == reported


CRON = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "{{ neutral('batch') }}"},
    "spec": {"schedule": "0 5 * * *", "suspend": True, "jobTemplate": {"spec": {"template": {"spec": {}}}}},
}
DELAY = {
    "apiVersion": "chaos-mesh.org/v1alpha1",
    "kind": "Schedule",
    "metadata": {"name": "{{ neutral('batch') }}"},
    "spec": {"schedule": "@every 5h", "type": "NetworkChaos", "networkChaos": {"action": "delay", "mode": "all"}},
}


@pytest.mark.parametrize(
    ("change", "role", "reported"),
    [
        ({"create": CRON}, "Artefact", True),
        ({"create": CRON}, "Victim", True),
        ({"create": CRON}, "Cause", False),
        ({"create": CRON}, "", True),
        ({"chaos": DELAY}, "Artefact", True),
        ({"chaos": DELAY}, "Cause", False),
        ({"create": {**CRON, "kind": "Job"}}, "Artefact", False),
    ],
)
def test_what_acts_again_later_is_a_cause(change: dict[str, Any], role: str, reported: bool, tmp_path: Path) -> None:
    kind = next(iter(change.values()))["kind"]
    group = {"Schedule": "chaos-mesh.org"}.get(kind, "batch")
    fault = build_scaling_fault()
    fault["changes"].append(change)
    if role:
        named = {"ref": f"{kind}.{group}/{{{{ neutral('batch') }}}}", "generated": True, "role": role}
        fault["entities"].append(
            {**named, **({"fix": [{"delete": {"target": named["ref"]}}]} if role == "Cause" else {})}
        )
    path = scenario(lambda spec: None, tmp_path, fault)
    assert any("acts again and again" in message for message in list_messages(path, "SK404")) == reported


def test_missing_solution_describes_its_fault(tmp_path):
    def quota(spec: Spec) -> None:
        spec["faults"].append({"name": "cap", "type": "resource-quota-exceeded", "target": "Deployment/quote"})
        spec["groundTruth"]["rootCauses"].append({"fault": "cap"})

    (reported,) = [f.fix for f in lint_scenario(scenario(quota, tmp_path)) if f.code == "SK416"]
    assert reported.startswith(
        "add a solution with `fixes: [cap]`; the fault's own is 'remove-quota' (delete ResourceQuota/"
    )
    assert reported.endswith(", restart Deployment/quote)")


def test_root_cause_edges_are_reported_once_and_other_cycles_cut(tmp_path):
    def both_ways(spec: Spec) -> None:
        second_fault(spec)
        one, other = (f"Fault/{use['name']}" for use in spec["faults"])
        spec["groundTruth"]["propagation"] += [{"from": one, "to": other}, {"from": other, "to": one}]

    reported = [f.fix for f in lint_scenario(scenario(both_ways, tmp_path)) if f.code == "SK116"]
    assert reported == ["remove the edge: both are root causes"] * 2


def test_victim_that_is_a_root_cause_gets_no_edges(tmp_path):
    def meet(spec: Spec) -> None:
        second_fault(spec)
        spec["groundTruth"]["propagation"] += [
            {"from": "Deployment/recommendation", "to": "Deployment/cart"},
            {"from": "Deployment/currency", "to": "Deployment/cart"},
        ]

    reported = [
        f.fix for f in lint_scenario(scenario(meet, tmp_path)) if f.code == "SK116" and "leads to the root" in f.message
    ]
    assert reported == [
        "remove the edge, and any that only lead to it: fault 'cart-down' is a root cause",
        "reverse the edge",
    ]


def test_cycle_is_to_be_cut(tmp_path):
    def back(spec: Spec) -> None:
        edges = [("frontend", "recommendation"), ("recommendation", "frontend")]
        spec["groundTruth"]["propagation"] += [{"from": f"Deployment/{a}", "to": f"Deployment/{b}"} for a, b in edges]

    reported = [f.fix for f in lint_scenario(scenario(back, tmp_path)) if f.code == "SK116" and "cycle" in f.message]
    assert "remove this edge, or another one of the cycle" in reported


GONE = [
    pytest.param({"ref": "{{ target }}", "exists": True}, 1, id="the target is there"),
    pytest.param({"ref": "ConfigMap/nosuch", "exists": False}, 1, id="what never was is not there"),
    pytest.param({"ref": "{{ target }}", "path": "spec.progressDeadlineSeconds", "equals": 600}, 1, id="a default"),
    pytest.param({"ref": "Service/cart", "path": "spec.ports", "exists": True}, 1, id="an object that it leaves"),
    pytest.param({"ref": "{{ target }}", "path": "spec.replicas", "equals": 1}, 0, id="as it was"),
    pytest.param({"ref": "{{ target }}", "path": "status.availableReplicas", "atLeast": 1}, 0, id="a consequence"),
]


@pytest.mark.parametrize(("check", "reported"), GONE)
def test_undone_fails_while_the_fault_is_in_force(check: dict[str, Any], reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: None, tmp_path, build_scaling_fault(undone=[{"object": check}]))
    assert len(list_messages(path.parent / "faults" / "own" / "fault.yaml", "SK129")) == reported


def test_telling_name_of_a_port_is_a_hint(tmp_path: Path) -> None:
    fault = build_scaling_fault()
    name = [{"op": "replace", "path": "/spec/ports/0/name", "value": "broken-port"}]
    fault["changes"].append({"patch": {"target": "Service/cart", "type": "Json", "patch": name}})
    path = scenario(lambda spec: None, tmp_path, fault)
    assert list_messages(path.parent / "faults" / "own" / "fault.yaml", "SK221")

"""Unlabelled objects that a fault writes, and which of them are restored one by one."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, plan_trials
from scenario_kit.campaign.interventions.artefacts import find_artefacts
from scenario_kit.model import Change, Reference
from scenario_kit.model.authored.fault import Entity

LABELLED = {"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {"data": {"k": "x"}}}}
OTHER = {"patch": {"target": "Service/real", "type": "Merge", "patch": {"spec": {}}}}
POLICY = {"create": {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}}}
RESTART = {"restart": {"target": "Deployment/web"}}
COMMAND = {"run": {"client": "psql", "command": ["REVOKE"]}}
CHAOS = {"chaos": {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos", "metadata": {"name": "c"},
                   "spec": {}}}  # fmt: skip


def normalise_changes(fault, *documents, **more):
    return msgspec.structs.replace(fault, changes=tuple(Change.from_json(d) for d in documents), **more)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([LABELLED], []),
        ([LABELLED, OTHER], ["Service/real"]),
        ([OTHER, LABELLED, OTHER], ["Service/real"]),
        ([LABELLED, POLICY, OTHER], ["NetworkPolicy/p", "Service/real"]),
        ([LABELLED, RESTART, COMMAND], []),
        ([LABELLED, {"scale": {"target": "Deployment/web", "replicas": 9}}], ["Deployment/web"]),
        ([LABELLED, {"delete": {"target": "Secret/web"}}], ["Secret/web"]),
        ([LABELLED, CHAOS], ["NetworkChaos/c"]),
        ([LABELLED, {"chaos": {**CHAOS["chaos"], "spec": {"action": "pod-kill"}}}], []),
    ],
)
def test_unlabelled_objects_are_restored_one_by_one(fault, runbook_of, changes, expected):
    runbook = runbook_of(normalise_changes(fault("a"), *changes))
    assert [a.entity for a in find_artefacts(runbook)] == expected
    undone = [
        [s.name for s in t.steps if s.use == "Undo" and s.kind == "change"] for t in plan_trials(QUICK, runbook, 1)
    ]
    assert [name for names in undone for name in names] == expected


def test_causes_of_other_faults_are_repaired_first(fault, runbook_of):
    runbook = runbook_of(normalise_changes(fault("a"), LABELLED, OTHER), fault("b"))
    steps = next(t.steps for t in plan_trials(QUICK, runbook, 1) if t.purpose == "label-artefact-1")
    reported = [(s.kind, s.use, s.name, s.faults) for s in steps if s.use]
    assert reported == [
        ("change", "Fix", "b:0", ()),
        ("change", "Undo", "Service/real", ("a",)),
        ("expectStillFiring", "Undo", "Service/real", ("a",)),
    ]


def test_alternative_is_accepted_and_hidden_experiment_maps_to_workload(fault, runbook_of):
    either = normalise_changes(fault("a", causes=2, join="Conjunctive"), *(
        {"delete": {"target": f"ConfigMap/a-{i}"}} for i in range(2)
    ))  # fmt: skip
    assert find_artefacts(runbook_of(either, labels=["ConfigMap/a-0"])) == []
    assert find_artefacts(runbook_of(normalise_changes(fault("a"), LABELLED, CHAOS, visibility="Hidden"))) == []


def test_triggers_are_checked_and_distractors_left_out(fault, runbook_of):
    trigger, distractor = (normalise_changes(fault(role, role=role), OTHER) for role in ("Trigger", "Distractor"))
    assert [a.fault for a in find_artefacts(runbook_of(fault("a"), trigger, distractor))] == ["Trigger"]


def test_namespace_is_removed_with_its_cause(fault, runbook_of):
    home = {"create": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tools"}}}
    inside = normalise_changes(
        fault("a"), home, OTHER, entities=(Entity(ref=Reference.parse("tools/CronJob.batch/tuner")),)
    )
    runbook = runbook_of(inside, labels=["tools/CronJob.batch/tuner"])
    assert [a.entity for a in find_artefacts(runbook)] == ["Service/real"]

"""Side effects of repairs: the parts that are tried separately."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, plan_trials
from scenario_kit.campaign.interventions.repair_side_effects import (
    add_side_effects,
    find_own_repairs,
    find_side_effects,
)
from scenario_kit.model import Change, Component, Entity, Procedure, Reference, Solution
from scenario_kit.model.runtime.client import Client

ANSWER, OTHER, THIRD = (
    {"patch": {"target": target, "type": "Merge", "patch": {"data": {"k": "x"}}}}
    for target in ("ConfigMap/a", "Service/real", "Service/else")
)
RESTART = {"restart": {"target": "Deployment/web"}}
CORDON, UNCORDON = {"cordon": {"target": "Node/node:host:Deployment:web"}}, {"uncordon": {"target": "Node/node:all"}}
REVOKE, GRANT = ({"run": {"client": "psql", "command": [word]}} for word in ("REVOKE", "GRANT"))


def changes(*documents):
    return tuple(Change.from_json(d) for d in documents)


def build_repaired_runbook(runbook, *documents):
    """The runbook in which the first cause of `a` is repaired like this, and `psql` runs in the pods of `web`."""
    fix = Procedure(use="Fix", name="a:0", solution=Solution(name="a:0", fixes=("a",), changes=changes(*documents)))
    kept = tuple(p for p in runbook.procedures if (p.use, p.name) != ("Fix", "a:0"))
    store = Component(name="db", workload=Reference.parse("Deployment/web"))
    client = Client(name="psql", store="db", image="i", address="db:1", commands=())
    app = msgspec.structs.replace(runbook.app, components=(store,), clients=(client,))
    return msgspec.structs.replace(runbook, app=app, procedures=(*kept, fix))


@pytest.mark.parametrize(
    ("made", "fix", "part"),
    [
        ([ANSWER], [ANSWER], []),
        ([ANSWER, OTHER], [ANSWER], []),
        ([ANSWER, OTHER], [ANSWER, OTHER], [OTHER]),
        ([OTHER], [OTHER], [OTHER]),
        ([ANSWER, RESTART], [ANSWER, RESTART], []),
        ([ANSWER, OTHER], [OTHER, ANSWER, RESTART], [OTHER, RESTART]),
        ([ANSWER, OTHER], [ANSWER, THIRD], []),
        ([ANSWER, OTHER], [{"removeFault": {"fault": "a"}}], []),
        ([REVOKE], [GRANT], []),
        ([REVOKE], [GRANT, RESTART], []),
        ([ANSWER, REVOKE], [ANSWER, GRANT], [GRANT]),
        ([ANSWER], [ANSWER, GRANT], []),
        ([ANSWER, REVOKE], [ANSWER, RESTART], [RESTART]),
        ([ANSWER, CORDON], [ANSWER, UNCORDON], [UNCORDON]),
        ([ANSWER], [ANSWER, UNCORDON], []),
    ],
    ids=[
        "its own", "an artefact stays", "another object, too", "only another object", "a restart", "with a restart",
        "what the fault left alone", "taken back", "a command", "a command and a restart", "with a command",
        "with a command of its own", "a restart that undoes a command",
        "nodes by another name", "nodes that the fault left alone",
    ],
)  # fmt: skip
def test_repair_with_side_rollback_runs_separately(fault, runbook_of, made, fix, part):
    broken = msgspec.structs.replace(fault("a"), changes=changes(*made))
    runbook = build_repaired_runbook(runbook_of(broken, solutions={"s": ["a"]}), *fix)
    assert [each.part.solution.changes for each in find_side_effects(runbook)] == ([changes(*part)] if part else [])
    purposes = [t.purpose for t in plan_trials(QUICK, runbook, 1)]
    assert ("label-beside-1" in purposes) == bool(part)


def test_side_effect_trial_repairs_other_causes_first(fault, runbook_of):
    broken = msgspec.structs.replace(fault("a"), changes=changes(ANSWER, OTHER))
    runbook = build_repaired_runbook(runbook_of(broken, fault("b"), solutions={"s": ["a", "b"]}), ANSWER, OTHER)
    (tried,) = [t for t in plan_trials(QUICK, runbook, 1) if t.purpose == "label-beside-1"]
    done = [(s.kind, s.name) for s in tried.steps if s.use == "Fix"]
    assert done == [("change", "b:0"), ("change", "a:0:beside"), ("expectStillFiring", "a:0:beside")]
    assert add_side_effects(runbook).procedure("Fix", "a:0:beside").solution.changes == changes(OTHER)


def test_conjunctive_causes_are_each_repaired_without_the_other(fault, runbook_of):
    both = fault("a", causes=2, join="Conjunctive")
    first, second = (
        {"patch": {"target": e.ref, "type": "Merge", "patch": {"data": {"k": "x"}}}} for e in both.entities
    )
    broken = msgspec.structs.replace(both, changes=changes(first, second))
    runbook = runbook_of(broken, solutions={"s": ["a"]})
    assert find_side_effects(build_repaired_runbook(runbook, first)) == []
    (tried,) = find_side_effects(build_repaired_runbook(runbook, first, second))
    assert (tried.part.solution.changes, tried.others) == (changes(second), ())


@pytest.mark.parametrize(
    ("made", "fix", "own"),
    [
        ([ANSWER], [ANSWER], []),
        ([ANSWER, RESTART], [ANSWER, RESTART], []),
        ([ANSWER, OTHER], [ANSWER], []),
        ([ANSWER, OTHER], [ANSWER, OTHER], [ANSWER]),
        ([ANSWER, OTHER], [OTHER, ANSWER, RESTART], [ANSWER, RESTART]),
        ([ANSWER, OTHER], [ANSWER, THIRD], []),
        ([OTHER], [OTHER], []),
        ([ANSWER, REVOKE], [ANSWER, GRANT], [ANSWER]),
        ([ANSWER, REVOKE], [ANSWER, RESTART], [ANSWER]),
        ([REVOKE], [GRANT, RESTART], []),
        ([ANSWER, OTHER], [{"removeFault": {"fault": "a"}}], []),
    ],
    ids=[
        "its own", "with a restart", "an artefact stays", "another object, too", "and a restart",
        "an object that the fault left alone", "only another object", "with a command", "a restart of the store",
        "by commands alone", "taken back",
    ],
)  # fmt: skip
def test_repair_must_suffice_without_what_it_does_to_unlabelled_objects(fault, runbook_of, made, fix, own):
    broken = msgspec.structs.replace(fault("a"), changes=changes(*made))
    runbook = build_repaired_runbook(runbook_of(broken, solutions={"s": ["a"]}), *fix)
    assert [each.part.solution.changes for each in find_own_repairs(runbook)] == ([changes(*own)] if own else [])
    planned = {t.purpose: t for t in plan_trials(QUICK, runbook, 1)}
    assert ("label-apart-1" in planned) == bool(own)
    if own:
        assert [(s.kind, s.use) for s in planned["label-apart-1"].steps[4:6]] == [
            ("change", "Fix"),
            ("expectCleared", "Fix"),
        ]
        assert add_side_effects(runbook).procedure("Fix", "a:0:apart").solution.changes == changes(*own)


def test_what_a_job_did_may_need_a_repair_of_its_own(fault, runbook_of):
    job = Reference.parse("CronJob.batch/tuner")
    broken = msgspec.structs.replace(fault("a"), changes=changes(OTHER), entities=(Entity(ref=job),))
    suspend = {"patch": {"target": str(job), "type": "Merge", "patch": {"spec": {"suspend": True}}}}
    runbook = build_repaired_runbook(runbook_of(broken, solutions={"s": ["a"]}), suspend, OTHER)
    assert find_own_repairs(runbook) == []
    assert [each.part.solution.changes for each in find_side_effects(runbook)] == [changes(OTHER)]


def test_objects_with_a_label_are_repaired_with_the_cause(fault, runbook_of):
    both = fault("a", causes=2, join="Conjunctive")
    first, second = (
        {"patch": {"target": e.ref, "type": "Merge", "patch": {"data": {"k": "x"}}}} for e in both.entities
    )
    broken = msgspec.structs.replace(both, changes=changes(first, second))
    runbook = build_repaired_runbook(runbook_of(broken, solutions={"s": ["a"]}), first, second)
    assert find_own_repairs(runbook) == []


def create(kind):
    return {"create": {"apiVersion": "v1", "kind": kind, "metadata": {"name": "new"}, "spec": {}}}


@pytest.mark.parametrize(
    ("value", "created", "left_out"),
    [("good", "NetworkPolicy", True), ("other", "NetworkPolicy", False), ("good", "Job", False)],
    ids=["as before", "not as before", "a Job may repair data"],
)
def test_restored_cause_needs_no_new_object(fault, runbook_of, value, created, left_out):
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "good"}}
    broken, back = (
        {"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {"data": {"k": text}}}} for text in ("bad", value)
    )
    runbook = runbook_of(msgspec.structs.replace(fault("a"), changes=changes(broken)), solutions={"s": ["a"]})
    runbook = build_repaired_runbook(runbook, back, create(created))
    runbook = msgspec.structs.replace(runbook, objects=(config,))
    found = [each.part.solution.changes for each in find_own_repairs(runbook)]
    assert found == ([changes(back)] if left_out else [])

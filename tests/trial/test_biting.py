"""Persistence of a cause after a solution, and workloads that must restart."""

import msgspec
import pytest

from scenario_kit.model import Change, Check, Procedure, Reference, Severity, Solution, TrialStep
from scenario_kit.model.authored.fault import Entity
from scenario_kit.trial.resolution import durability
from tests.trial.test_alert_steps import ERRORS, Trial, config, fault
from tests.trial.test_inject import TrialHarness
from tests.trial.test_inject import fault as effective

SOLVED = TrialStep(kind="expectCleared", use="Solution", name="s")


def find_active_causes(join="Independent", injected=True, holds=(True,), **fields):
    """Report on a fault whose effect checks have these answers after the solution."""
    answers = {True: "bad", False: "good"}
    effect = tuple(
        Check.from_json({"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": answers[h]}}) for h in holds
    )
    broken = msgspec.structs.replace(effective("a"), effect=effect, **fields)
    stage = TrialHarness(broken)
    context = stage.context()
    if injected:
        context.engine.do(broken.changes[0], ordinal=1, group="Fault/a")
    truth = msgspec.structs.replace(context.runbook.ground_truth, causes_join=join)
    context.runbook = msgspec.structs.replace(context.runbook, ground_truth=truth)
    return durability._check_biting(context, SOLVED)


@pytest.mark.parametrize(
    ("case", "reported"),
    [
        ({}, True),
        ({"holds": (True, True)}, True),
        ({"holds": (True, False)}, False),
        ({"holds": (False,)}, False),
        ({"holds": ()}, False),
        ({"role": "Trigger"}, False),
        ({"role": "Distractor"}, False),
        ({"mitigation": "Workaround"}, False),
        ({"role": "Distractor", "mitigation": "Workaround"}, False),
        ({"injected": False}, False),
        ({"join": "Conjunctive"}, False),
    ],
    ids=str,
)
def test_cause_with_unchanged_checks_is_not_repaired(case, reported):
    found = find_active_causes(**case)
    assert [(f.code, f.severity) for f in found] == ([("SK412", Severity.ERROR)] if reported else [])
    if reported:
        assert found[0].message == "solution 's' leaves fault 'a' (key-wrong) in effect"


@pytest.mark.parametrize(
    ("spec", "conditions", "why"),
    [
        ({"paused": True}, [("Progressing", "False", "late")], "it is paused"),
        ({}, [("ReplicaFailure", "True", "exceeded quota")], "exceeded quota"),
        ({}, [("Progressing", "False", "late")], "late"),
        ({}, [("Available", "False", "x"), ("Progressing", "False", "late")], "late"),
        ({}, [("ReplicaFailure", "False", "x")], "its pods do not start, or do not stay up, within 600 s"),
        ({}, [("Progressing", "True", "x")], "its pods do not start, or do not stay up, within 600 s"),
        ({"paused": False}, None, "its pods do not start, or do not stay up, within 600 s"),
    ],
)
def test_stuck_rollout_is_explained(spec, conditions, why):
    reported = [{"type": t, "status": s, "message": m} for t, s, m in conditions or ()]
    workload = {"spec": spec} | ({} if conditions is None else {"status": {"conditions": reported}})
    assert durability._explain_rollout(workload) == why


def deployment(name, reads=()):
    containers = [{"name": "c", "envFrom": [{"configMapRef": {"name": r}} for r in reads]}]
    spec = {"replicas": 1, "template": {"metadata": {}, "spec": {"containers": containers}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": spec,
    }


OBJECTS = (deployment("web"), deployment("cart", ["a"]), deployment("ad", ["b"]), deployment("idle"), config("a"))


def build_scale(name):
    return Change.from_json({"scale": {"target": f"Deployment/{name}", "replicas": 2}})


@pytest.mark.parametrize(
    ("changes", "carried", "faults", "alerts", "names"),
    [
        ((), "Solution", (fault("a"),), (ERRORS,), {"web", "cart"}),
        ((), "Solution", (fault("a"),), (), {"cart"}),
        ((), "Solution", (fault("b", "Distractor"),), (), set()),
        ((), "Solution", (fault("b", "Trigger"),), (), set()),
        ((build_scale("ad"),), "Solution", (), (), {"ad"}),
        ((build_scale("ad"),), "Fix", (), (), {"ad"}),
        ((build_scale("ad"),), "Decoy", (), (), set()),
        ((Change.from_json({"apply": config("b")}),), "Solution", (), (), {"ad"}),
        ((Change.from_json({"create": config("b")}),), "Solution", (), (), {"ad"}),
        ((Change.from_json({"cordon": {"target": "Node/n"}}),), "Solution", (), (), {"web", "cart", "ad", "idle"}),
        (
            (),
            "Solution",
            (msgspec.structs.replace(fault("a"), target=Reference("Deployment", "idle"), entities=()),),
            (),
            {"idle"},
        ),
        (
            (),
            "Solution",
            (msgspec.structs.replace(fault("z"), entities=(Entity(ref=Reference("Deployment", "ad")),)),),
            (),
            {"ad"},
        ),
        ((build_scale("elsewhere"),), "Solution", (), (), set()),
    ],
)
def test_durability_check_concerns_hit_and_changed_workloads(changes, carried, faults, alerts, names):
    trial = Trial(alerts=alerts)
    procedure = Procedure(use=carried, name="s", solution=Solution(name="s", changes=changes))
    steps = (TrialStep(kind="inject"), TrialStep(kind="change", use=carried, name="s"), SOLVED)
    context = trial.context
    context.spec = msgspec.structs.replace(context.spec, steps=steps)
    context.runbook = msgspec.structs.replace(context.runbook, objects=OBJECTS, procedures=(procedure,), faults=faults)
    assert {name for kind, name in durability._list_concerned(context, 2)} == names
    if changes and not faults and not alerts:
        assert durability._list_concerned(context, 1) == set(), "what is carried out later does not count"


def test_solution_without_faults_needs_no_durability():
    assert durability.lasts(Trial().context, SOLVED, 2, repaired=1200.0, cleared=1300.0) == []

"""Trial programs of each purpose: their steps, and that each can be executed."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, TRY, get_plan, plan_trials
from scenario_kit.campaign.interventions import label_interventions
from scenario_kit.campaign.interventions.persistence import add_restart
from scenario_kit.campaign.planning.derived_names import derive_namespace, derive_trial_name
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.errors import UsageError
from scenario_kit.load import load_scenario
from scenario_kit.model import Change
from scenario_kit.render import resolve

SCENARIOS = sorted((find_data_root() / "catalog" / "scenarios").glob("*/scenario.yaml"))


@pytest.fixture(params=SCENARIOS, ids=lambda p: p.parent.name)
def runbook(request):
    return resolve(load_scenario(request.param).scenario, Catalog(), "otel-demo-bcdf", beside=request.param)


def test_quick_plan_has_repeat_control_and_outcome_trials(runbook):
    planned = plan_trials(QUICK, runbook, 1)
    purposes = [p.purpose for p in planned]
    assert purposes[0] == "repeat-1"
    assert ("control" in purposes) == bool(runbook.faults)
    assert any(p.startswith("label") for p in purposes) == (runbook.outcome == "Incident")
    assert any(s.kind == "expectNoLeaks" for p in planned for s in p.steps) == bool(runbook.faults)
    assert len({p.seed for p in planned}) == len(planned)


def test_repeat_tries_every_decoy_then_repairs(runbook):
    repeat = [s.kind for s in plan_trials(QUICK, runbook, 1)[0].steps]
    if runbook.outcome != "Incident":
        assert not {"expectStillFiring", "undoChange"} & set(repeat)
        return
    assert repeat[:5] == ["deploy", "expectQuiet", "inject", "expectAlerts", "hold"]
    assert repeat[-3:] == ["expectCleared", "teardown", "expectClean"]
    assert repeat.count("expectStillFiring") == len([p for p in runbook.procedures if p.use == "Decoy"])


def test_programs_end_with_cleanup_and_use_existing_procedures(runbook):
    for planned in plan_trials(QUICK, runbook, 1):
        assert [s.kind for s in planned.steps[-2:]] == ["teardown", "expectClean"]
        for step in planned.steps:
            if step.kind == "change" and step.use == "RemoveFault":
                assert runbook.fault(step.name).changes
            elif step.kind == "change" and step.use == "Undo":
                assert runbook.fault(step.faults[0]).changes
            elif step.kind == "change":
                assert add_restart(runbook).procedure(step.use, step.name).solution.changes


def test_control_lasts_as_long_as_a_repeat_before_repair(runbook):
    for control in [p for p in plan_trials(QUICK, runbook, 1) if p.purpose == "control"]:
        assert "inject" not in [s.kind for s in control.steps]
        assert control.steps[1].seconds >= runbook.windows.quiet + runbook.windows.hold


def test_labelled_causes_are_repaired_by_their_own_fix(runbook):
    repairs = label_interventions.find_repairs(runbook)
    assert bool(repairs) == (runbook.outcome == "Incident")
    assert {c.fix.use for repair in repairs for c in repair} <= {"Fix"}
    labels = {r.fault for r in runbook.ground_truth.root_causes}
    assert {c.fault for repair in repairs for c in repair} == labels


def test_try_plan_is_one_repeat(runbook):
    assert [p.purpose for p in plan_trials(TRY, runbook, 1)] == ["repeat-1"]


def test_unknown_plan_is_a_usage_error():
    with pytest.raises(UsageError, match="no plan"):
        get_plan("slow")


def test_names_are_derived_and_namespaces_are_not(runbook):
    planned = plan_trials(TRY, runbook, 1)[0]
    name = derive_trial_name("a-very-long-scenario-name-that-goes-on-and-on-and-on", planned, "d", "try")
    assert name == derive_trial_name("a-very-long-scenario-name-that-goes-on-and-on-and-on", planned, "d", "try")
    assert len(name) + len("-evidence") <= 63
    assert derive_namespace("otel-demo", "a") != derive_namespace("otel-demo", "b")
    assert derive_namespace("otel-demo", "a").startswith("otel-demo-")
    assert runbook.scenario not in derive_namespace("otel-demo", "a")


def with_changes(procedure, *changes):
    solution = msgspec.structs.replace(procedure.solution, changes=tuple(map(Change.from_json, changes)))
    return msgspec.structs.replace(procedure, solution=solution)


ROLLED = {"undoRollout": {"target": "Deployment.apps/web"}}


@pytest.mark.parametrize(
    ("repair", "decoy", "apart"),
    [
        (ROLLED, {"restart": {"target": "Deployment/web"}}, True),
        (ROLLED, {"patch": {"target": "Deployment/web", "type": "Merge", "patch": {"spec": {"paused": False}}}}, True),
        (ROLLED, {"scale": {"target": "Deployment/web", "replicas": 2}}, False),  # that is no revision
        (ROLLED, {"restart": {"target": "Deployment/ad"}}, False),
        ({"restart": {"target": "Deployment/web"}}, {"restart": {"target": "Deployment/web"}}, False),
    ],
    ids=["restart", "patch", "scale", "another workload", "no rollback"],
)
def test_decoy_runs_separately_if_repair_would_roll_back_to_it(repair, decoy, apart, fault, runbook_of):
    runbook = runbook_of(fault("a"), solutions={"back": ["a"]}, decoys=["again"])
    changes = {"back": repair, "again": decoy}
    procedures = [with_changes(p, changes[p.name]) if p.name in changes else p for p in runbook.procedures]
    planned = plan_trials(QUICK, msgspec.structs.replace(runbook, procedures=tuple(procedures)), 1)
    tried = {p.purpose for p in planned for s in p.steps if s.kind == "undoChange"}
    assert tried == ({"decoys"} if apart else {"repeat-1"})
    assert len({p.seed for p in planned}) == len(planned)

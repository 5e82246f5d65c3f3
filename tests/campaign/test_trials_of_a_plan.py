"""Trials of a plan by outcome: purposes, seeds, loads and steps."""

import msgspec
import pytest

from scenario_kit.campaign.interventions import programs
from scenario_kit.campaign.interventions.artefacts import Artefact
from scenario_kit.campaign.interventions.label_interventions import CauseRepair, LeftOut
from scenario_kit.campaign.interventions.persistence import Ending
from scenario_kit.campaign.interventions.repair_side_effects import SideEffect
from scenario_kit.campaign.planning.derived_names import derive_namespace, derive_trial_name
from scenario_kit.campaign.planning.plans import (
    QUICK,
    STANDARD,
    TRY,
    PlannedTrial,
    build_trial_spec,
    count_users,
    join_names,
    plan_trials,
    repeat,
)
from scenario_kit.catalog import find_data_root
from scenario_kit.load import load_scenario
from scenario_kit.model import Change, Procedure, Solution, TrialStep

START, BREAK, END = ["deploy", "expectQuiet"], ["inject", "expectAlerts"], ["teardown", "expectClean"]
BROKEN = [*START, *BREAK]


def format_steps(steps):
    return [
        " ".join(
            part
            for part in (
                s.kind, s.use, s.name, f"{s.seconds}s" if s.seconds else "", "for ever" if s.forever else "",
                f"of {','.join(s.faults)}" if s.faults else "", f"but {','.join(s.except_)}" if s.except_ else "",
            )
            if part
        )
        for s in steps
    ]  # fmt: skip


def decoy(name):
    return [f"change Decoy {name}", f"expectStillFiring Decoy {name}", f"undoChange Decoy {name}"]


def plan_by_purpose(plan, runbook):
    return {t.purpose: (t.seed, format_steps(t.steps)) for t in plan_trials(plan, runbook, 1000)}


def number_repeats(steps, number=5):
    return {f"repeat-{i + 1}": (1000 + i, steps) for i in range(number)}


RESTART = {"restart": {"target": "Deployment/web"}}
PATCH = {"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {"data": {"k": "x"}}}}


def build_restarting_fault(fault):
    return msgspec.structs.replace(fault("a"), changes=(Change.from_json(RESTART), Change.from_json(PATCH)))


def test_incident_with_one_cause_gets_its_trials(fault, runbook_of):
    runbook = runbook_of(build_restarting_fault(fault), solutions={"s": ["a"]}, decoys=["d"])
    assert plan_by_purpose(STANDARD, runbook) == {
        **number_repeats([*BROKEN, "hold", *decoy("d"), "change Solution s", "expectCleared Solution s", *END]),
        "control": (
            1100,
            ["deploy", "expectQuiet 120s", "change Sham rollout", "expectQuiet Sham rollout 60s", *END],
        ),
        "label": (1200, [*BROKEN, "expectNoLeaks", "change Fix a:0", "expectCleared Fix a:0", *END]),
        "cheats": (1400, [*BROKEN, *END]),
    }
    control = next(t for t in plan_trials(STANDARD, runbook, 1) if t.purpose == "control")
    assert control.describe == "without the fault nothing fires, nor when Deployment/web restarts"


def test_incident_with_two_causes_a_trigger_and_a_distractor(fault, runbook_of):
    faults = [fault("a"), fault("b"), fault("t", role="Trigger"), fault("x", role="Distractor")]
    runbook = runbook_of(*faults, solutions={"both": ["a", "b"], "again": []}, decoys=["d", "e"])
    assert plan_by_purpose(QUICK, runbook) == {
        "repeat-1": (
            1000,
            [*BROKEN, "hold", *decoy("d"), *decoy("e"), "change Solution both", "expectCleared Solution both", *END],
        ),
        "control": (1100, ["deploy", "expectQuiet 120s", *END]),
        "distractors": (1101, [*START, "inject of x", "expectQuiet 60s", *END]),
        "untriggered": (1110, [*START, "inject but t", "expectAlerts of t", *END]),
        "undisturbed": (1111, [*START, "inject but x", "expectAlerts of x", *END]),
        "label": (
            1200,
            [*BROKEN, "expectNoLeaks", "change Fix a:0", "change Fix b:0", "expectCleared Fix a:0, b:0", *END],
        ),
        "label-rest": (
            1240, [*BROKEN, "change Fix t:0", "change Fix x:0", "expectStillFiring Fix t:0, x:0", *END],
        ),
        "leave-out-1": (
            1241, [*BROKEN, "change Fix b:0", "expectStillFiring Fix b:0 of a", *decoy("d"), *decoy("e"), *END],
        ),
        "leave-out-2": (
            1242, [*BROKEN, "change Fix a:0", "expectStillFiring Fix a:0 of b", *decoy("d"), *decoy("e"), *END],
        ),
        "solution-2": (1302, [*BROKEN, "change Solution again", "expectCleared Solution again", *END]),
    }  # fmt: skip
    reported = {t.purpose: t.describe for t in plan_trials(QUICK, runbook, 1)}
    assert reported["distractors"] == "with x alone nothing fires"
    assert reported["leave-out-2"] == "with ConfigMap/b left, its alerts keep firing"
    assert reported["solution-2"] == "solution 'again' resolves it"


def test_benign_fault_gets_repeats_control_and_leaks(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("x", role="Distractor"), outcome="Benign")
    assert plan_by_purpose(STANDARD, runbook) == {
        **number_repeats([*BROKEN, "hold", "expectCleared", *END]),
        "control": (1100, ["deploy", "expectQuiet 120s", *END]),
        "distractors": (1101, [*START, "inject of x", "expectQuiet 60s", *END]),
        "leaks": (1103, [*BROKEN, "expectNoLeaks", *END]),
    }


def test_plan_without_incident_repeats_and_checks_leaks(fault, runbook_of):
    held = [*START, "inject", "hold 120s", *END]
    assert plan_by_purpose(STANDARD, runbook_of(fault("x", role="Distractor"), outcome="NoIncident")) == {
        **number_repeats(held),
        "control": (1100, ["deploy", "expectQuiet 120s", *END]),
        "leaks": (1103, [*BROKEN, "expectNoLeaks", *END]),
    }
    assert plan_by_purpose(QUICK, runbook_of(outcome="NoIncident")) == number_repeats(held, 1)


@pytest.mark.parametrize(
    ("left_out", "purposes"),
    [
        ({"control": False}, {"label", "label-rest", "leave-out-1", "leave-out-2", "solution-2", "cheats"}),
        ({"interventions": False}, {"control", "distractors", "undisturbed", "leaks", "solution-2", "cheats"}),
        ({"cheats": False, "solutions": False},
         {"control", "distractors", "undisturbed", "label", "label-rest", "leave-out-1", "leave-out-2"}),
        ({"interventions": False, "leaks": False, "cheats": False, "solutions": False},
         {"control", "distractors", "undisturbed"}),
    ],
)  # fmt: skip
def test_disabled_trials_are_omitted(fault, runbook_of, left_out, purposes):
    runbook = runbook_of(fault("a"), fault("b"), fault("x", role="Distractor"), solutions={"s": [], "t": []})
    plan = (
        msgspec.structs.replace(QUICK, cheats=True, **left_out)
        if "cheats" not in left_out
        else msgspec.structs.replace(QUICK, **left_out)
    )
    assert set(plan_by_purpose(plan, runbook)) == {"repeat-1", *purposes}


def test_plan_without_search_repairs_the_label_directly(fault, runbook_of):
    plan = msgspec.structs.replace(QUICK, leaks=False)
    found = plan_by_purpose(plan, runbook_of(fault("a"), solutions={"s": []}))
    assert found["label"] == (1200, [*BROKEN, "change Fix a:0", "expectCleared Fix a:0", *END])


def test_repeats_differ_in_seed_load_and_variation(fault, runbook_of):
    first, *_ = plan_trials(TRY, runbook_of(fault("a")), 7)
    assert (first.seed, first.load_percent, first.variation) == (7, 100, 0)
    rows = [repeat(first, number) for number in range(1, 8)]
    assert [r.seed for r in rows] == [7, 8, 9, 10, 11, 12, 13]
    assert [r.load_percent for r in rows] == [100, 80, 120, 90, 110, 100, 80]
    assert [r.variation for r in rows] == [0, 1, 2, 3, 4, 5, 6]
    assert [repeat(first, n, (50, 60)).load_percent for n in (1, 2, 3)] == [50, 60, 50]


def test_users_of_a_load():
    file = find_data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
    scenario = load_scenario(file).scenario
    app = msgspec.structs.replace(scenario.spec.app, load=msgspec.structs.replace(scenario.spec.app.load, users=33))
    scenario = msgspec.structs.replace(scenario, spec=msgspec.structs.replace(scenario.spec, app=app))
    assert [count_users(scenario, percent) for percent in (100, 80, 120, 1)] == [33, 26, 40, 1]


@pytest.mark.parametrize(("names", "reported"), [("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")])
def test_names_in_a_sentence(names, reported):
    assert join_names(list(names)) == reported
    assert join_names(list(names), "or") == reported.replace(" and ", " or ")


def build_procedure(name, use="Fix"):
    return Procedure(use=use, name=name, solution=Solution(name=name))


A, B = (CauseRepair(f, f"ConfigMap/{f}", build_procedure(f"{f}:0")) for f in "ab")
REPAIR = (TrialStep(kind="change", use="Solution", name="s"), TrialStep(kind="expectCleared", use="Solution", name="s"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda: programs.build_live(), [*BROKEN, "expectCleared for ever"]),
        (lambda: programs.build_live("Benign"), [*BROKEN, "expectCleared for ever"]),
        (lambda: programs.build_live("NoIncident"), [*START, "inject", "hold for ever"]),
        (lambda: programs.build_benign(), [*BROKEN, "hold", "expectCleared", *END]),
        (lambda: programs.build_no_incident(90), [*START, "inject", "hold 90s", *END]),
        (lambda: programs.scan(), [*BROKEN, "expectNoLeaks", *END]),
        (lambda: programs.build_control(90), ["deploy", "expectQuiet 90s", *END]),
        (lambda: programs.fix_only([A, B]),
         [*BROKEN, "change Fix a:0", "change Fix b:0", "expectCleared Fix a:0, b:0", *END]),
        (lambda: programs.fix_others([A]), [*BROKEN, "change Fix a:0", "expectStillFiring Fix a:0", *END]),
        (lambda: programs.fix_beside(SideEffect(A, build_procedure("a:0:beside"), (B,))),
         [*BROKEN, "change Fix b:0", "change Fix a:0:beside", "expectStillFiring Fix a:0:beside", *END]),
        (lambda: programs.undo_artefact(Artefact("a", "Service/x", ())),
         [*BROKEN, "change Undo Service/x of a", "expectStillFiring Undo Service/x", *END]),
        (lambda: programs.undo_artefact(Artefact("a", "Service/x", (B,))),
         [*BROKEN, "change Fix b:0", "change Undo Service/x of a", "expectStillFiring Undo Service/x of a", *END]),
        (lambda: programs.end(Ending("a", "Expires", "Wait", (B,))),
         [*BROKEN, "change Fix b:0", "expectCleared Wait a 3600s", *END]),
        (lambda: programs.end(Ending("a", "Pod", "Restart", ())),
         [*BROKEN, "change Cheat restart-everything", "expectCleared Cheat restart-everything", *END]),
        (lambda: programs.leave_out(LeftOut((A,), B), [build_procedure("d")], REPAIR),
         [*BROKEN, "change Fix a:0", "expectStillFiring Fix a:0 of b", *decoy("d"), "change Solution s",
          "expectCleared Solution s", *END]),
        (lambda: programs.build_cheated([build_procedure("c", "Cheat")], ()),
         [*BROKEN, "change Cheat c", "expectUnresolved Cheat c", "undoChange Cheat c", *END]),
        (lambda: programs.build_cheated([], REPAIR, [build_procedure("start-again", "Cheat")]),
         [*BROKEN, "change Solution s", "undoChange Solution s", "change Cheat start-again",
          "expectUnresolved Cheat fix-and-revert", *END]),
        (lambda: programs.build_cheated([], [TrialStep(kind="change", use="RemoveFault", name="a"), *REPAIR]), [*BROKEN,
        *END]),
        (lambda: programs.build_cheated([], [TrialStep(kind="change", use="Fix", name="a:0"), *REPAIR]),
         [*BROKEN, "change Fix a:0", "change Solution s", "undoChange Solution s", "undoChange Fix a:0",
          "expectUnresolved Cheat fix-and-revert", *END]),
    ],
)  # fmt: skip
def test_steps_of_a_program(steps, expected):
    assert format_steps(steps()) == expected


def test_name_of_many_repairs_is_truncated():
    many = [CauseRepair(f"f{i}", f"ConfigMap/f{i}", build_procedure(f"f{i:02}:0")) for i in range(30)]
    assert len(programs.fix_only(many)[-3].name) == 128


def test_list_by_use_filters_procedures(fault, runbook_of):
    runbook = runbook_of(fault("a"), solutions={"s": []}, decoys=["d", "e"])
    assert [p.name for p in programs.list_by_use(runbook, "Decoy")] == ["d", "e"]


@pytest.mark.parametrize(
    ("steps", "extra"),
    [
        ((), []),
        ((TrialStep(kind="change", use="Cheat", name="c"), TrialStep(kind="expectUnresolved", use="Cheat", name="c")),
         ["restart-everything"]),
        ((TrialStep(kind="change", use="Cheat", name="restart-everything"),), ["restart-everything"]),
        ((TrialStep(kind="change", use="Fix", name="a:0:beside"),), []),
    ],
)  # fmt: skip
@pytest.mark.parametrize("clock", ["Wall", "Virtual"])
def test_trial_spec_contains_procedures_of_its_steps(fault, runbook_of, steps, extra, clock):
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {}}},
    }
    runbook = msgspec.structs.replace(runbook_of(fault("a"), solutions={"s": []}), objects=(web,), users=7)
    trial = PlannedTrial(purpose="p", describe="d", steps=steps, seed=5)
    found = build_trial_spec(trial, runbook, "quick", clock)
    assert (found.scenario, found.digest, found.plan, found.clock, found.seed) == ("s", "d", "quick", clock, 5)
    assert (found.namespace, found.steps) == ("shop", steps)
    assert found.runbook().users == 7
    assert [p.name for p in found.runbook().procedures] == ["s", "a:0", *extra]
    assert build_trial_spec(trial, runbook, "quick").clock == "Virtual"


def test_rollout_control_is_in_its_trial_spec(fault, runbook_of):
    runbook = runbook_of(build_restarting_fault(fault))
    trial = PlannedTrial(
        purpose="p", describe="d", steps=(TrialStep(kind="change", use="Sham", name="rollout"),), seed=5
    )
    assert [p.use for p in build_trial_spec(trial, runbook, "quick").runbook().procedures] == ["Fix", "Sham"]


def test_trial_descriptions_of_labels_and_controls(fault, runbook_of):
    def reported(*faults, **more):
        return {t.purpose: (t.describe, t.seed) for t in plan_trials(QUICK, runbook_of(*faults, **more), 0)}

    assert reported(fault("a"))["label"] == ("repairing only what is labelled resolves it", 200)
    assert reported(fault("a"))["control"][0] == "without the fault nothing fires"
    either = reported(fault("a", causes=2, join="Conjunctive"))
    assert either["label-1"] == ("repairing ConfigMap/a-0 alone resolves it", 200)
    assert either["label-2"] == ("repairing ConfigMap/a-1 alone resolves it", 201)
    ending = reported(msgspec.structs.replace(fault("a"), persistence="Expires"))
    assert ending["ending-1"] == ("'a' ends by itself, as its persistence Expires declares", 291)
    pod = reported(msgspec.structs.replace(fault("a"), persistence="Pod"))
    assert pod["ending-1"] == ("'a' ends once every workload is restarted, as its persistence Pod declares", 291)
    wrote = msgspec.structs.replace(
        fault("a"), changes=(Change.from_json(PATCH), Change.from_json({"delete": {"target": "Secret/x"}}))
    )
    assert reported(wrote)["label-artefact-1"] == ("undoing only what 'a' did to Secret/x resolves nothing", 221)


def test_only_the_first_label_is_searched_before(fault, runbook_of):
    found = plan_by_purpose(QUICK, runbook_of(fault("a", causes=2, join="Conjunctive")))
    assert ["expectNoLeaks" in found[f"label-{n}"][1] for n in (1, 2)] == [True, False]


@pytest.mark.parametrize(("app", "unique", "name"), [("shop", "a", "shop-{}"), ("hotel", "b", "hotel-{}")])
def test_namespace_has_four_consonants(app, unique, name):
    found = derive_namespace(app, unique)
    letters = found.rpartition("-")[2]
    assert found == name.format(letters)
    assert len(letters) == 4
    assert set(letters) <= set("bcdfghjklmnpqrstvwxz")


def test_trial_name_depends_on_its_inputs():
    trial = PlannedTrial(purpose="label", describe="d", steps=(), seed=5)
    base = ("s" * 35 + "-t", trial, "d", "quick")
    name = derive_trial_name(*base)
    assert name.startswith("s" * 35 + "-label-")
    others = [
        ("x", *base[1:]), (base[0], msgspec.structs.replace(trial, seed=6), "d", "quick"),
        (base[0], msgspec.structs.replace(trial, purpose="l"), "d", "quick"), (*base[:2], "e", "quick"),
        (*base[:3], "try"),
    ]  # fmt: skip
    assert len({derive_trial_name(*each)[-4:] for each in (base, *others)}) == 6

"""Which repairs end an incident, and which must not: by the causes, their roles and how they join."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, plan_trials
from scenario_kit.campaign.interventions import label_interventions
from scenario_kit.model import Change


def list_fix_names(sets):
    return [[c.fix.name for c in one] for one in sets]


def list_leave_one_out(runbook):
    return [
        ([c.fix.name for c in x.repaired], x.left.fix.name)
        for x in label_interventions.leave_one_out(label_interventions.find_repairs(runbook))
    ]


@pytest.mark.parametrize(
    ("faults", "join", "repairs", "leave_one_out"),
    [
        ([("a", 1, "Independent")], "Independent", [["a:0"]], []),
        ([("a", 2, "Independent")], "Independent", [["a:0", "a:1"]], [(["a:1"], "a:0"), (["a:0"], "a:1")]),
        ([("a", 2, "Conjunctive")], "Independent", [["a:0"], ["a:1"]], []),
        (
            [("a", 1, "Independent"), ("b", 1, "Independent")],
            "Independent",
            [["a:0", "b:0"]],
            [(["b:0"], "a:0"), (["a:0"], "b:0")],
        ),
        ([("a", 1, "Independent"), ("b", 1, "Independent")], "Conjunctive", [["a:0"], ["b:0"]], []),
        (
            [("a", 2, "Conjunctive"), ("b", 1, "Independent")],
            "Independent",
            [["a:0", "b:0"], ["a:1", "b:0"]],
            [(["b:0"], "a:0"), (["a:0"], "b:0"), (["a:1"], "b:0")],
        ),
        (
            [("a", 2, "Independent"), ("b", 1, "Independent")],
            "Conjunctive",
            [["a:0", "a:1"], ["b:0"]],
            [(["a:1"], "a:0"), (["a:0"], "a:1")],
        ),
    ],
    ids=["one", "independent in a fault", "conjunctive in a fault", "two", "two together", "mixed", "and of or"],
)  # fmt: skip
def test_interventions_follow_causes_and_join(fault, runbook_of, faults, join, repairs, leave_one_out):
    runbook = runbook_of(*(fault(n, causes=k, join=j) for n, k, j in faults), join=join)
    assert list_fix_names(label_interventions.find_repairs(runbook)) == repairs
    assert list_leave_one_out(runbook) == leave_one_out


def test_unlabelled_fault_is_trigger_distractor_or_missing_label(fault, runbook_of):
    runbook = runbook_of(
        fault("spark", role="Trigger"), fault("fuel", role="Sustaining"), fault("noise", role="Distractor"),
        fault("two", causes=2), labels=["ConfigMap/fuel", "ConfigMap/two-0"],
    )  # fmt: skip
    assert list_fix_names(
        [label_interventions.list_labelled(runbook), label_interventions.list_unlabelled(runbook)]
    ) == [
        ["fuel:0", "two:0"],
        ["spark:0", "noise:0", "two:1"],
    ]


def test_cause_conjunctive_with_label_must_resolve_too(fault, runbook_of):
    inside = runbook_of(fault("a", causes=2, join="Conjunctive"), labels=["ConfigMap/a-1"])
    across = runbook_of(fault("a"), fault("b"), labels=["ConfigMap/a"], join="Conjunctive")
    assert label_interventions.list_unlabelled(inside) == label_interventions.list_unlabelled(across) == []
    assert list_fix_names(label_interventions.find_repairs(inside)) == [["a:0"], ["a:1"]]
    assert list_fix_names(label_interventions.find_repairs(across)) == [["a:0"], ["b:0"]]
    assert list_fix_names([label_interventions.list_labelled(inside), label_interventions.list_labelled(across)]) == [
        ["a:1"],
        ["a:0"],
    ]


def test_unlabelled_cause_does_not_count_for_another_fault(fault, runbook_of):
    runbook = runbook_of(fault("a", causes=2), fault("b"), labels=["ConfigMap/a-0", "ConfigMap/b"], join="Conjunctive")
    assert list_fix_names([label_interventions.list_unlabelled(runbook)]) == [["a:1"]]


_ASIDE = ("expectNoLeaks", "teardown", "expectClean")


def replace_procedures(runbook, changes):
    """The runbook with another change in each of these procedures."""
    procedures = [
        msgspec.structs.replace(
            p, solution=msgspec.structs.replace(p.solution, changes=(Change.from_json(changes[p.name]),))
        )
        if p.name in changes
        else p
        for p in runbook.procedures
    ]
    return msgspec.structs.replace(runbook, procedures=tuple(procedures))


def steps(runbook, purpose):
    (planned,) = [t for t in plan_trials(QUICK, runbook, 1) if t.purpose == purpose]
    return [(s.kind, s.name, s.faults) for s in planned.steps if s.kind not in _ASIDE][4:]


def test_two_independent_causes_make_three_interventions(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"both": ["a", "b"]})
    purposes = [t.purpose for t in plan_trials(QUICK, runbook, 1)]
    assert purposes == ["repeat-1", "control", "label", "leave-out-1", "leave-out-2"]
    assert steps(runbook, "label") == [
        ("change", "a:0", ()), ("change", "b:0", ()), ("expectCleared", "a:0, b:0", ()),
    ]  # fmt: skip
    assert steps(runbook, "leave-out-1") == [("change", "b:0", ()), ("expectStillFiring", "b:0", ("a",))]


def test_decoys_are_retried_with_one_remaining_cause(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"both": ["a", "b"]}, decoys=["d"])
    assert steps(runbook, "leave-out-1")[2:] == [
        ("change", "d", ()), ("expectStillFiring", "d", ()), ("undoChange", "d", ()),
    ]  # fmt: skip


def test_decoys_run_separately_if_last_repair_would_roll_back_to_them(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"one": ["a"], "both": ["a", "b"]}, decoys=["d"])
    made = {"one": {"undoRollout": {"target": "Deployment.apps/web"}}, "d": {"restart": {"target": "Deployment/web"}}}
    runbook = replace_procedures(runbook, made)
    assert steps(runbook, "leave-out-1")[2:] == [("change", "one", ()), ("expectCleared", "one", ())]
    tried = [("change", "d", ()), ("expectStillFiring", "d", ()), ("undoChange", "d", ())]
    assert steps(runbook, "decoys-left-1")[2:] == tried
    assert steps(runbook, "leave-out-2")[2:] == tried  # nothing is rolled back there
    seeds = [p.seed for p in plan_trials(QUICK, runbook, 1)]
    assert len(set(seeds)) == len(seeds)


def test_partial_solution_runs_as_last_repair(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"one": ["a"], "both": ["a", "b"]})
    assert steps(runbook, "leave-out-1")[2:] == [("change", "one", ()), ("expectCleared", "one", ())]
    assert steps(runbook, "leave-out-2")[2:] == []


def test_further_solution_of_a_cause_runs_with_only_this_cause_left(fault, runbook_of):
    solutions = {"one": ["a"], "other": ["a"], "rest": ["b"]}
    runbook = runbook_of(fault("a"), fault("b"), solutions=solutions)
    purposes = [t.purpose for t in plan_trials(QUICK, runbook, 1)]
    assert purposes[-2:] == ["solution-2", "solution-3"]
    assert steps(runbook, "solution-3") == [
        ("change", "b:0", ()),
        ("change", "other", ()),
        ("expectCleared", "other", ()),
    ]
    seeds = [p.seed for p in plan_trials(QUICK, runbook, 1)]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    ("made", "tried"),
    [
        ({"scale": {"target": "ConfigMap/b", "replicas": 2}}, True),
        ({"delete": {"target": "ConfigMap/b"}}, False),
        ({"restart": {"target": "ConfigMap/b"}}, False),
    ],
    ids=["overwritten by the repair", "gone before the repair", "tried after it"],
)
def test_decoy_that_changes_what_is_repaired_runs_before_the_repair(fault, runbook_of, made, tried):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"both": ["a", "b"]}, decoys=["d"])
    fix = {"patch": {"target": "ConfigMap/b", "type": "Merge", "patch": {}}}
    other = {"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {}}}
    runbook = replace_procedures(runbook, {"d": made, "a:0": other, "b:0": fix})
    purposes = [t.purpose for t in plan_trials(QUICK, runbook, 1)]
    assert ("decoys-left-11" in purposes) == tried
    if tried:
        assert steps(runbook, "decoys-left-11") == [
            ("change", "d", ()), ("change", "b:0", ()), ("expectStillFiring", "d", ("a",)),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "tried"),
    [
        ({"restart": {"target": "ConfigMap/b"}}, True),
        ({"scale": {"target": "Deployment/web", "replicas": 2}}, True),
        ({"scale": {"target": "ConfigMap/b", "replicas": 2}}, False),
    ],
    ids=["restarts what was repaired", "another object", "changes what was repaired"],
)
def test_decoy_for_repaired_cause_is_skipped(fault, runbook_of, made, tried):
    runbook = runbook_of(fault("a"), fault("b"), solutions={"both": ["a", "b"]}, decoys=["d"])
    fix = {"patch": {"target": "ConfigMap/b", "type": "Merge", "patch": {}}}
    done = {"d": made, "a:0": fix, "b:0": fix}
    runbook = replace_procedures(runbook, done)
    assert (len(steps(runbook, "leave-out-1")) > 2) == tried


def test_repairing_either_conjunctive_cause_resolves(fault, runbook_of):
    runbook = runbook_of(fault("a", causes=2, join="Conjunctive"), solutions={"one": ["a"]})
    assert [t.purpose for t in plan_trials(QUICK, runbook, 1)] == ["repeat-1", "control", "label-1", "label-2"]
    assert steps(runbook, "label-2") == [("change", "a:1", ()), ("expectCleared", "a:1", ())]


def test_removing_sustaining_fault_helps_and_trigger_does_not(fault, runbook_of):
    runbook = runbook_of(fault("spark", role="Trigger"), fault("fuel", role="Sustaining"), solutions={"s": ["fuel"]})
    assert steps(runbook, "label") == [("change", "fuel:0", ()), ("expectCleared", "fuel:0", ())]
    assert steps(runbook, "label-rest") == [("change", "spark:0", ()), ("expectStillFiring", "spark:0", ())]


def test_distractors_are_tried_alone_and_undone(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("noise", role="Distractor"), solutions={"s": ["a"]})
    (alone,) = [t for t in plan_trials(QUICK, runbook, 1) if t.purpose == "distractors"]
    assert [(s.kind, s.faults) for s in alone.steps[:4]] == [
        ("deploy", ()), ("expectQuiet", ()), ("inject", ("noise",)), ("expectQuiet", ()),
    ]  # fmt: skip
    assert steps(runbook, "label-rest") == [("change", "noise:0", ()), ("expectStillFiring", "noise:0", ())]


@pytest.mark.parametrize(("role", "purpose"), [("Trigger", "untriggered"), ("Distractor", "undisturbed")])
def test_non_root_faults_are_excluded_together(fault, runbook_of, role, purpose):
    runbook = runbook_of(fault("a"), fault("b", role=role), fault("c", role=role), solutions={"s": ["a"]})
    (without,) = [t for t in plan_trials(QUICK, runbook, 1) if t.purpose == purpose]
    assert [(s.kind, s.faults, s.except_) for s in without.steps[2:4]] == [
        ("inject", (), ("b", "c")), ("expectAlerts", ("b", "c"), ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "roles", "purposes", "kinds"),
    [
        ("Benign", ["Cause"], ["repeat-1", "control", "leaks"], ["inject", "expectAlerts", "hold", "expectCleared"]),
        (
            "Benign",
            ["Cause", "Distractor"],
            ["repeat-1", "control", "distractors", "leaks"],
            ["inject", "expectAlerts", "hold", "expectCleared"],
        ),
        ("NoIncident", ["Distractor"], ["repeat-1", "control", "leaks"], ["inject", "hold"]),
        ("NoIncident", [], ["repeat-1"], ["inject", "hold"]),
        ("Incident", [], ["repeat-1"], ["inject", "hold"]),
    ],
)
def test_plans_without_incident_have_no_interventions(fault, runbook_of, outcome, roles, purposes, kinds):
    faults = [fault(f"f{i}", role=role) for i, role in enumerate(roles)]
    planned = plan_trials(QUICK, runbook_of(*faults, outcome=outcome), 1)
    assert [t.purpose for t in planned] == purposes
    assert [s.kind for s in planned[0].steps] == ["deploy", "expectQuiet", *kinds, "teardown", "expectClean"]


def test_names_of_steps_and_trials_fit_the_api(fault, runbook_of):
    many = [fault(f"a-fault-with-a-long-name-{i}") for i in range(16)]
    planned = plan_trials(QUICK, runbook_of(*many, solutions={"all": [f.name for f in many]}), 1)
    assert len(planned) == 3 + 16
    assert max(len(s.name) for t in planned for s in t.steps) <= 128
    assert max(len(t.purpose) for t in planned) <= 12
    assert len({t.seed for t in planned}) == len(planned)

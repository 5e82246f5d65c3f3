"""Which solutions are carried out together, so that every cause is repaired and every solution is tried."""

import pytest

from scenario_kit.campaign.interventions.repairs import build_solutions


def list_solution_steps(runbook):
    return [[f"{s.use} {s.name}" for s in program if s.kind == "change"] for program in build_solutions(runbook)]


@pytest.mark.parametrize(
    ("documented", "expected"),
    [
        ({"both": "ab"}, [["both"]]),
        ({"one": "a", "other": "b"}, [["one", "other"]]),
        ({"both": "ab", "both-too": "ab"}, [["both"], ["both-too"]]),
        ({"one": "a", "instead": "a", "other": "b"}, [["one", "other"], ["instead", "other"]]),
        ({"one": "a", "both": "ab"}, [["one", "Fix b:0"], ["both"]]),
        ({"one": "a", "both": "ab", "other": "b"}, [["one", "other"], ["both"]]),
        ({"unsaid": ""}, [["unsaid"]]),
        ({}, []),
    ],
)
def test_every_solution_is_tried_with_its_complement(fault, runbook_of, documented, expected):
    runbook = runbook_of(fault("a"), fault("b"), solutions=documented)
    assert list_solution_steps(runbook) == [[n if " " in n else f"Solution {n}" for n in names] for names in expected]


def test_program_ends_with_one_expect_cleared_for_all(fault, runbook_of):
    (program,) = build_solutions(runbook_of(fault("a"), fault("b"), solutions={"one": "a", "other": "b"}))
    assert (program[-1].kind, program[-1].use, program[-1].name) == ("expectCleared", "Solution", "one, other")


def test_triggers_and_distractors_need_no_solution(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("t", role="Trigger"), fault("d", role="Distractor"), solutions={"s": "a"})
    assert list_solution_steps(runbook) == [["Solution s"]]


def test_one_solution_suffices_for_conjunctive_faults(fault, runbook_of):
    runbook = runbook_of(fault("a"), fault("b"), join="Conjunctive", solutions={"one": "a", "other": "b"})
    assert list_solution_steps(runbook) == [["Solution one"], ["Solution other"]]


def test_fault_without_mitigation_is_removed(fault, runbook_of):
    hopeless = fault("storm", mitigation="None")
    assert list_solution_steps(runbook_of(hopeless)) == [["RemoveFault storm"]]
    assert list_solution_steps(runbook_of(hopeless, fault("a"), solutions={"s": "a"})) == [
        ["Solution s", "RemoveFault storm"]
    ]


def test_many_solutions_are_combined_efficiently(fault, runbook_of):
    faults = [fault(f"f{i}") for i in range(8)]
    documented = {f"s{i}": [f"f{i % 8}"] for i in range(16)}
    programs = list_solution_steps(runbook_of(*faults, solutions=documented))
    assert [len(p) for p in programs] == [8, 8, 8, 8, 8, 8, 8, 8, 8]

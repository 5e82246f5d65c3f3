"""The next action of a trial, from its program and step outcomes."""

import pytest

from scenario_kit.model import StepStatus, TrialStep
from scenario_kit.trial.plan import Finish, RunStep, Skip, find_first_failure, plan
from scenario_kit.trial.plan import determine_outcome as outcome_of

PROGRAM = tuple(TrialStep(kind=k) for k in ("deploy", "expectQuiet", "inject", "teardown", "expectClean"))


def statuses(*outcomes):
    return [StepStatus(index=i, step=str(PROGRAM[i]), outcome=o, started_at=0.0) for i, o in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "action"),
    [
        ((), RunStep(0)),
        (("Running",), RunStep(0)),
        (("Held",), RunStep(1)),
        (("Held", "Broken"), Skip(2, 1)),
        (("Held", "Broken", "Skipped"), RunStep(3)),
        (("Held", "Infra", "Skipped", "Running"), RunStep(3)),
        (("Held", "Broken", "Skipped", "Held"), RunStep(4)),  # that it is clean is asked whatever came before
        (("Held", "Infra", "Skipped", "Held"), RunStep(4)),
        (("Held", "Held", "Held", "Broken"), RunStep(4)),
        (("Held", "Held", "Held", "Infra"), RunStep(4)),
        (("Held", "Broken", "Skipped", "Infra", "Running"), RunStep(4)),
        (("Broken",), Skip(1, 0)),
        (("Held", "Infra", "Skipped", "Held", "Held"), Finish("Infra")),
        (("Held", "Broken", "Skipped", "Infra", "Held"), Finish("Broken")),
        (("Held",) * 5, Finish("Held")),
        (("Held", "Held", "Held", "Held", "Broken"), Finish("Broken")),
    ],
)
def test_plan(outcomes, action):
    assert plan(PROGRAM, statuses(*outcomes)) == action


@pytest.mark.parametrize(
    ("outcomes", "action"),
    [
        (("Held", "Broken"), RunStep(2)),
        (("Held", "Infra"), RunStep(2)),
        (("Held", "Broken", "Held", "Held"), Finish("Broken")),
        (("Held", "Infra", "Held", "Held"), Finish("Infra")),
        (("Held", "Broken", "Infra"), Skip(3, 2)),
        (("Held", "Infra", "Broken", "Skipped"), Finish("Broken")),
    ],
)
def test_broken_observation_step_does_not_stop_program(outcomes, action):
    program = tuple(TrialStep(kind=k) for k in ("deploy", "expectNoLeaks", "hold", "expectAlerts"))
    known = [StepStatus(index=i, step=str(program[i]), outcome=o, started_at=0.0) for i, o in enumerate(outcomes)]
    assert plan(program, known) == action


def test_every_program_terminates_for_any_outcome():
    for outcome in ("Held", "Broken", "Infra"):
        known = []
        for _ in range(20):
            action = plan(PROGRAM, known)
            if isinstance(action, Finish):
                break
            index = action.index
            what = "Skipped" if isinstance(action, Skip) else outcome
            known.append(StepStatus(index=index, step="", outcome=what, started_at=0.0))
        assert isinstance(action, Finish)
        assert [s.index for s in known] == list(range(len(PROGRAM)))


def test_first_failure_in_program_order_decides():
    mixed = [
        StepStatus(index=2, step="inject", outcome="Infra", started_at=0.0),
        StepStatus(index=1, step="expectNoLeaks", outcome="Broken", started_at=0.0),
        StepStatus(index=3, step="hold", outcome="Broken", started_at=0.0),
        StepStatus(index=0, step="deploy", outcome="Skipped", started_at=0.0),
    ]
    assert find_first_failure(mixed) is mixed[0]
    assert outcome_of(mixed) == "Infra"
    assert find_first_failure(mixed[1:]) is mixed[2]
    assert find_first_failure(mixed[1:2]) is mixed[1]
    assert find_first_failure(mixed[3:]) is None
    assert (outcome_of(mixed[1:2]), outcome_of(mixed[3:]), outcome_of([])) == ("Broken", "Held", "Held")

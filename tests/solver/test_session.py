"""Decisions on a solver's messages: stages, turns, budgets, and the end."""

import msgspec
import pytest

from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.solver.protocol.messages import (
    CallMessage,
    EscalateMessage,
    NoteMessage,
    StopMessage,
    SubmitMessage,
    UsageMessage,
)
from scenario_kit.solver.session import (
    BeginStage,
    Elapsed,
    EndRun,
    Proceed,
    Refuse,
    RunTool,
    SessionLimits,
    SessionState,
    decide,
    lose_solver,
    refuse_line,
    time_out,
)

NOW = Elapsed(now=1000.0, seconds=60.0, wall_seconds=5.0)
CALL = CallMessage(tool="get_alerts", id="7", arguments={"a": 1})
DIAGNOSED = SessionState(stage=1, turns=3, answered=True, answer={"x": 1}, answered_at=900.0)


BEGUN, LIMITS = SessionState(), SessionLimits()


def say(message, state=BEGUN, limits=LIMITS, elapsed=NOW):
    return decide(state, limits, message, elapsed)


@pytest.mark.parametrize(
    ("message", "state", "limits", "action"),
    [
        (CALL, SessionState(), SessionLimits(), RunTool(tool="get_alerts", id="7", arguments={"a": 1})),
        (NoteMessage(text="hm"), SessionState(), SessionLimits(), Proceed()),
        (SubmitMessage(answer={}), SessionState(), SessionLimits(), BeginStage(stage="mitigation")),
        (SubmitMessage(answer={}), SessionState(stages=("diagnosis",)), SessionLimits(), EndRun(reason="finish")),
        (SubmitMessage(), DIAGNOSED, SessionLimits(), EndRun(reason="finish")),
        (StopMessage(reason="no"), SessionState(), SessionLimits(), EndRun(reason="error", message="no")),
        (StopMessage(reason="no"), DIAGNOSED, SessionLimits(), EndRun(reason="finish", message="no")),
        (EscalateMessage(reason="db"), SessionState(), SessionLimits(), EndRun(reason="escalated", message="db")),
        (CALL, SessionState(turns=99), SessionLimits(), RunTool(tool="get_alerts", id="7", arguments={"a": 1})),
        (CALL, SessionState(turns=100), SessionLimits(), EndRun(reason="cap", message="all 100 turns are used")),
        (NoteMessage(text="hm"), SessionState(turns=100), SessionLimits(), Proceed()),
        (
            NoteMessage(text="hm"), SessionState(turns=100, free=2000), SessionLimits(),
            EndRun(reason="cap", message="all 100 turns are used"),
        ),
        (
            CALL, SessionState(), SessionLimits(seconds=59.0),
            EndRun(reason="timeout", message="60 s of incident time have passed; the limit is 59 s"),
        ),
        (
            CALL, SessionState(), SessionLimits(wall_seconds=4.0),
            EndRun(reason="timeout", message="5 s have passed; the limit is 4 s"),
        ),
        (
            UsageMessage(tokens=TokenCounts(input=11)), SessionState(), SessionLimits(tokens=10),
            EndRun(reason="cap", message="11 tokens were used; the limit is 10"),
        ),
        (CALL, SessionState(end="cap", reason="spent"), SessionLimits(), EndRun(reason="cap", message="spent")),
    ],
)  # fmt: skip
def test_message_leads_to(message, state, limits, action):
    assert say(message, state, limits)[1] == action


@pytest.mark.parametrize(
    "message",
    [
        SubmitMessage(),
        EscalateMessage(reason="  "),
        UsageMessage(tokens=TokenCounts(input=-1)),
    ],
)
def test_invalid_message_is_refused(message):
    state, action = say(message)
    assert isinstance(action, Refuse)
    assert action.fix
    assert state.end is None
    assert not state.answered


def test_answer_is_accepted_on_the_last_turn():
    state, action = say(SubmitMessage(answer={}), SessionState(turns=99, stages=("diagnosis",)))
    assert (state.end, state.answered, state.turns) == ("finish", True, 100)
    assert action == EndRun(reason="finish")


def test_submission_is_recorded_with_time_per_stage():
    state, _ = say(SubmitMessage(answer={"x": 1}))
    assert (state.answer, state.answered_at, state.mitigated_at, state.stage_name) == (
        {"x": 1},
        1000.0,
        None,
        "mitigation",
    )
    state, _ = say(SubmitMessage(answer={"x": 2}), state)
    assert (state.answer, state.mitigated_at, state.end) == ({"x": 1}, 1000.0, "finish")


def test_escalation_may_add_but_not_replace_an_answer():
    assert say(EscalateMessage(reason="db", answer={"y": 1}))[0].answer == {"y": 1}
    assert say(EscalateMessage(reason="db", answer={"y": 1}), DIAGNOSED)[0].answer == {"x": 1}


def test_escalation_records_its_target():
    assert say(EscalateMessage(reason="db", to=" shop/StatefulSet/db "))[0].escalated_to == "shop/StatefulSet/db"


def test_tokens_add_up():
    state, _ = say(UsageMessage(tokens=TokenCounts(input=3, output=4), model="m"))
    state, _ = say(UsageMessage(tokens=TokenCounts(cached=2, reasoning=1)), state)
    assert (state.tokens.total, state.model, state.measured) == (10, "m", True)


def test_invalid_message_costs_a_turn():
    refusal = Refuse(problem="no JSON", fix="JSON")
    state, limits = SessionState(), SessionLimits(turns=3)
    for _ in range(3):
        state, action = refuse_line(state, limits, refusal, NOW)
        assert action == refusal
    state, action = refuse_line(state, limits, refusal, NOW)
    assert (state.end, action) == ("cap", EndRun(reason="cap", message="all 3 turns are used"))


@pytest.mark.parametrize(("end", "reason"), [(lose_solver, "error"), (time_out, "timeout")])
def test_ended_session_keeps_its_answer(end, reason):
    gone = end(DIAGNOSED, "gone")
    assert (gone.end, gone.answer) == (reason, {"x": 1})
    assert end(msgspec.structs.replace(gone, end="finish"), "again").end == "finish"


def test_every_session_terminates():
    """Any sequence of messages ends a run after its turns."""
    for message in (CALL, SubmitMessage(), EscalateMessage(reason=" ")):
        state = SessionState()
        for _ in range(101):
            state, _ = say(message, state)
        assert state.end == "cap"


def test_notes_beyond_those_that_are_free_cost_turns():
    state, limits = SessionState(), SessionLimits(turns=2)
    for _ in range(41):
        state, action = say(NoteMessage(text="hm"), state, limits)
        assert action == Proceed()
    assert (state.turns, state.free) == (1, 40)


@pytest.mark.parametrize("count", [10**16, 10**400])
def test_absurd_token_counts_are_refused(count):
    state, action = say(UsageMessage(tokens=TokenCounts(input=count)))
    assert isinstance(action, Refuse)
    assert state.tokens == TokenCounts()

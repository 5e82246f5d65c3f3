"""The state machine of a run: handle one solver message (docs/solve.md). Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from scenario_kit.model.base import Value
from scenario_kit.scoring.runs.usage import TokenCounts
from scenario_kit.solver.protocol.messages import (
    STAGES,
    CallMessage,
    EndReason,
    EscalateMessage,
    NoteMessage,
    SolverMessage,
    StageName,
    StopMessage,
    SubmitMessage,
    UsageMessage,
)


class SessionLimits(Value, frozen=True, kw_only=True):
    """The limits of a run; None is unlimited. ``seconds`` is incident time, ``wall_seconds`` wall time."""

    turns: int = 100
    tokens: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


class SessionState(Value, frozen=True, kw_only=True):
    """The state of a run. ``stage`` is the index of the current stage, ``answer`` the submitted diagnosis.
    ``free`` counts notes and reports of usage.
    ``escalated_to`` is the object whose owners take over after an escalation.
    Times are seconds on the incident's clock; None if it did not happen.
    """

    stages: tuple[StageName, ...] = STAGES
    stage: int = 0
    turns: int = 0
    free: int = 0
    tokens: TokenCounts = TokenCounts()
    measured: bool = False
    model: str = ""
    answered: bool = False
    answer: Any = None
    answered_at: float | None = None
    mitigated_at: float | None = None
    escalated_to: str = ""
    end: EndReason | None = None
    reason: str = ""

    @property
    def stage_name(self) -> StageName | None:
        """The name of the current stage; None once all have ended."""
        return self.stages[self.stage] if self.stage < len(self.stages) else None


class RunTool(Value, frozen=True, kw_only=True):
    """Run a tool and send its result."""

    tool: str
    id: str
    arguments: dict[str, Any]


class BeginStage(Value, frozen=True, kw_only=True):
    """Announce the next stage."""

    stage: StageName


class Refuse(Value, frozen=True, kw_only=True):
    """Refuse an invalid message."""

    problem: str
    fix: str


class EndRun(Value, frozen=True, kw_only=True):
    """End the run, with the reason."""

    reason: EndReason
    message: str = ""


class Proceed(Value, frozen=True, kw_only=True):
    """Continue without an answer."""


SessionAction = RunTool | BeginStage | Refuse | EndRun | Proceed


class Elapsed(Value, frozen=True, kw_only=True):
    """The current incident time, and the duration of the run on the incident's clock and the wall clock."""

    now: float
    seconds: float
    wall_seconds: float


#: Messages that cost a turn.
_TURNS: Final = (CallMessage, SubmitMessage, EscalateMessage)
#: Messages that cost none, up to a number for each turn of the limit, so that no run is endless.
_FREE: Final = (NoteMessage, UsageMessage)
_FREE_PER_TURN: Final = 20
#: Maximum number of tokens of one kind in a run.
_MOST_TOKENS: Final = 10**15


def decide(
    state: SessionState, limits: SessionLimits, message: SolverMessage, elapsed: Elapsed
) -> tuple[SessionState, SessionAction]:
    """Decide on a message; after the end of the run, only repeat the end."""
    if state.end is not None:
        return state, EndRun(reason=state.end, message=state.reason)
    free = isinstance(message, _FREE) and state.free < limits.turns * _FREE_PER_TURN
    asks = isinstance(message, _TURNS) or (isinstance(message, _FREE) and not free)
    if spent := find_spent(state, limits, elapsed, asks=asks):
        return _end(state, *spent)
    state = msgspec.structs.replace(state, turns=state.turns + asks, free=state.free + free)
    match message:
        case NoteMessage():
            return state, Proceed()
        case UsageMessage():
            return _count_tokens(state, limits, message)
        case StopMessage():
            return _end(state, "finish" if state.answered else "error", message.reason or "the solver stopped")
        case EscalateMessage():
            return _escalate(state, message, elapsed.now)
        case SubmitMessage():
            return _submit(state, message, elapsed.now)
        case CallMessage():
            return state, RunTool(tool=message.tool, id=message.id, arguments=message.arguments)


def refuse_line(
    state: SessionState, limits: SessionLimits, refusal: Refuse, elapsed: Elapsed
) -> tuple[SessionState, SessionAction]:
    """Decide on an invalid line: it costs a turn, so that no run is endless."""
    if state.end is not None:
        return state, EndRun(reason=state.end, message=state.reason)
    if spent := find_spent(state, limits, elapsed, asks=True):
        return _end(state, *spent)
    return msgspec.structs.replace(state, turns=state.turns + 1), refusal


def find_spent(
    state: SessionState, limits: SessionLimits, elapsed: Elapsed, *, asks: bool
) -> tuple[EndReason, str] | None:
    """Find an exhausted limit: the end reason and a message; None if there is none."""
    if asks and state.turns >= limits.turns:
        return "cap", f"all {limits.turns} turns are used"
    if limits.tokens is not None and state.tokens.total > limits.tokens:
        return _describe_token_limit(state.tokens, limits.tokens)
    if limits.seconds is not None and elapsed.seconds > limits.seconds:
        return "timeout", f"{elapsed.seconds:.0f} s of incident time have passed; the limit is {limits.seconds:.0f} s"
    if limits.wall_seconds is not None and elapsed.wall_seconds > limits.wall_seconds:
        return "timeout", f"{elapsed.wall_seconds:.0f} s have passed; the limit is {limits.wall_seconds:.0f} s"
    return None


def lose_solver(state: SessionState, message: str) -> SessionState:
    """Return the state of a run whose solver exited; earlier answers count."""
    return state if state.end is not None else _end(state, "error", message)[0]


def time_out(state: SessionState, message: str) -> SessionState:
    """Return the state of a run whose solver timed out."""
    return state if state.end is not None else _end(state, "timeout", message)[0]


def _end(state: SessionState, reason: EndReason, message: str) -> tuple[SessionState, SessionAction]:
    return msgspec.structs.replace(state, end=reason, reason=message), EndRun(reason=reason, message=message)


def _count_tokens(
    state: SessionState, limits: SessionLimits, message: UsageMessage
) -> tuple[SessionState, SessionAction]:
    used = message.tokens
    if min(used.input, used.cached, used.output, used.reasoning) < 0:
        return state, Refuse(problem="a negative number of tokens", fix="send what was used since the last message")
    if max(used.input, used.cached, used.output, used.reasoning) + state.tokens.total > _MOST_TOKENS:
        return state, Refuse(problem=f"more than {_MOST_TOKENS} tokens", fix="send the number of tokens")
    tokens, model = state.tokens + used, message.model or state.model
    state = msgspec.structs.replace(state, tokens=tokens, measured=True, model=model)
    if limits.tokens is not None and tokens.total > limits.tokens:
        return _end(state, *_describe_token_limit(tokens, limits.tokens))
    return state, Proceed()


def _describe_token_limit(tokens: TokenCounts, limit: int) -> tuple[EndReason, str]:
    return "cap", f"{tokens.total} tokens were used; the limit is {limit}"


def _escalate(state: SessionState, message: EscalateMessage, now: float) -> tuple[SessionState, SessionAction]:
    if not message.reason.strip():
        return state, Refuse(problem="an escalation without a reason", fix="give the reason for the escalation")
    if message.answer is not None and not state.answered:
        state = msgspec.structs.replace(state, answered=True, answer=message.answer, answered_at=now)
    state = msgspec.structs.replace(state, escalated_to=message.to.strip())
    return _end(state, "escalated", message.reason)


def _submit(state: SessionState, message: SubmitMessage, now: float) -> tuple[SessionState, SessionAction]:
    if state.stage_name == "diagnosis":
        if message.answer is None:
            return state, Refuse(problem="a diagnosis without an answer", fix="put it into `answer`; see `start`")
        state = msgspec.structs.replace(state, answered=True, answer=message.answer, answered_at=now)
    else:
        state = msgspec.structs.replace(state, mitigated_at=now)
    state = msgspec.structs.replace(state, stage=state.stage + 1)
    if (following := state.stage_name) is not None:
        return state, BeginStage(stage=following)
    return _end(state, "finish", "")

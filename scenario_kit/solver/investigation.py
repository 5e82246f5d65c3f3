"""One run: carries out a solver's messages, answers them, and records all of them in the journal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.solver.gateway.answers import ToolAnswer, cut_middle
from scenario_kit.solver.gateway.tools import Sources, describe_tools, use_tool
from scenario_kit.solver.protocol.lines import BadLine
from scenario_kit.solver.protocol.messages import (
    VERSION,
    EndMessage,
    KitMessage,
    NoteMessage,
    OfferedLimits,
    RefusalMessage,
    ResultMessage,
    SolverMessage,
    StageMessage,
    StageName,
    StartMessage,
)
from scenario_kit.solver.records.journal import BadLineEntry, Journal
from scenario_kit.solver.session import (
    BeginStage,
    Elapsed,
    EndRun,
    Proceed,
    Refuse,
    RunTool,
    SessionAction,
    SessionLimits,
    SessionState,
    decide,
    lose_solver,
    refuse_line,
    time_out,
)

#: The format of a diagnosis.
ANSWER_FORM: Final = (
    '{"entities": [{"name": "<namespace>/<Kind>/<name>", "contributing_factor": true, "reasoning": "…",'
    ' "evidence": "…"}],'
    ' "propagations": [{"source": "<entity>", "target": "<entity>", "condition": "…", "effect": "…"}],'
    ' "alerts_explained": [{"alert": "…", "explanation": "…", "explained": true}]};'
    " contributing_factor is true for root causes alone; if nothing is wrong, the lists are empty"
)
#: Maximum recorded length of an invalid line.
_MAX_RECORDED: Final = 2000


class IncidentClock(Protocol):
    """The clock of the incident."""

    @property
    def mode(self) -> Literal["virtual", "wall"]:
        """The kind of clock: virtual or wall time."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    def advance(self, seconds: float) -> None:
        """Advance the clock. On a wall clock, 0 does not wait.

        Raises:
            InfrastructureError: the incident's infrastructure failed.
        """


class Assignment(NamedTuple):
    """The task of a solver: an incident name without hints, the brief, the stages, and the cost of a call.

    ``seconds_per_call`` applies to a virtual clock only.
    """

    incident: str
    brief: str
    stages: tuple[StageName, ...]
    seconds_per_call: float


class Investigation:
    """A run from hand-over to end. ``session.machine`` decides; this class carries out its actions.

    ``clock`` is the incident's, ``wall`` the wall clock, both in seconds since the epoch.
    """

    def __init__(
        self,
        assignment: Assignment,
        sources: Sources,
        clock: IncidentClock,
        journal: Journal,
        limits: SessionLimits,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._assignment, self._wall = assignment, wall
        self._sources, self._clock, self._journal, self._limits = sources, clock, journal, limits
        self._began, self._began_wall = clock.now(), wall()
        self.state = SessionState(stages=assignment.stages)

    @property
    def began(self) -> float:
        """The time of the hand-over, on the incident's clock."""
        return self._began

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.state.end is not None

    @property
    def patience(self) -> float | None:
        """The remaining wall seconds; None if unlimited."""
        limit = self._limits.wall_seconds
        return None if limit is None else max(limit - (self._wall() - self._began_wall), 0.0)

    def start(self) -> KitMessage:
        """Build the start message."""
        limits = self._limits
        message = StartMessage(
            protocol=VERSION,
            incident=self._assignment.incident,
            brief=self._assignment.brief,
            namespaces=self._sources.namespaces,
            stages=self.state.stages,
            clock=self._clock.mode,
            seconds_per_call=self._assignment.seconds_per_call,
            now=format_timestamp(self._clock.now()),
            limits=OfferedLimits(
                turns=limits.turns, tokens=limits.tokens, seconds=limits.seconds, wall_seconds=limits.wall_seconds
            ),
            tools=describe_tools(is_static=self._sources.is_static),
            answer=ANSWER_FORM,
        )
        self._record(message)
        return message

    def handle(self, message: SolverMessage) -> KitMessage | None:
        """Handle a message; None if it has no answer.

        Raises:
            InfrastructureError: the incident's infrastructure failed; the run does not count for the solver.
        """
        if isinstance(message, NoteMessage):
            message = msgspec.structs.replace(message, text=cut_middle(message.text))
        self._journal.write_message(message, solver=True, now=self._clock.now(), wall=self._wall())
        turns = self.state.turns
        self.state, action = decide(self.state, self._limits, message, self._elapse())
        return self._carry_out(action, spent=self.state.turns > turns)

    def refuse(self, line: bytes, problem: BadLine) -> KitMessage | None:
        """Answer a line that is not a message."""
        text = line[:_MAX_RECORDED].decode(errors="replace")
        self._journal.write(BadLineEntry(now=self._clock.now(), wall=self._wall(), text=text, problem=problem.problem))
        refusal = Refuse(problem=problem.problem, fix=problem.fix)
        self.state, action = refuse_line(self.state, self._limits, refusal, self._elapse())
        return self._carry_out(action, spent=isinstance(action, Refuse))

    def lose(self, because: str) -> None:
        """End the run of a solver that exited."""
        if not self.over:
            self.state = lose_solver(self.state, because)
            self._record(EndMessage(reason="error", message=because))

    def expire(self, because: str) -> KitMessage:
        """End the run of a solver that timed out."""
        self.state = time_out(self.state, because)
        return self._record(EndMessage(reason=self.state.end or "timeout", message=self.state.reason))

    def _elapse(self) -> Elapsed:
        now = self._clock.now()
        return Elapsed(now=now, seconds=now - self._began, wall_seconds=self._wall() - self._began_wall)

    def _carry_out(self, action: SessionAction, *, spent: bool) -> KitMessage | None:
        if spent:  # on a wall clock, only catch up on what is due
            self._clock.advance(self._assignment.seconds_per_call if self._clock.mode == "virtual" else 0.0)
        match action:
            case Proceed():
                return None
            case RunTool():
                answer = use_tool(self._sources, action.tool, action.arguments)
                if answer.seconds:
                    self._clock.advance(answer.seconds)
                return self._record(self._render(action.id, answer))
            case BeginStage():
                return self._record(StageMessage(stage=action.stage, now=self._now(), turns_left=self._turns_left))
            case Refuse():
                return self._record(RefusalMessage(problem=action.problem, fix=action.fix, turns_left=self._turns_left))
            case EndRun():
                return self._record(EndMessage(reason=action.reason, message=action.message))

    def _render(self, identifier: str, answer: ToolAnswer) -> ResultMessage:
        return ResultMessage(
            id=identifier, ok=answer.ok, valid=answer.valid, content=answer.content,
            now=self._now(), turns_left=self._turns_left,
        )  # fmt: skip

    def _now(self) -> str:
        return format_timestamp(self._clock.now())

    @property
    def _turns_left(self) -> int:
        return self._limits.turns - self.state.turns

    def _record(self, message: KitMessage) -> KitMessage:
        self._journal.write_message(message, solver=False, now=self._clock.now(), wall=self._wall())
        return message

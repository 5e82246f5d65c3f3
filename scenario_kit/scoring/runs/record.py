"""The record of one run; unknown values are empty."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.answer import SolverAnswer
from scenario_kit.scoring.metrics.escalation import Escalation
from scenario_kit.scoring.metrics.grades import JudgeGrades
from scenario_kit.scoring.metrics.safeguards import SafeguardOutcome
from scenario_kit.scoring.runs.usage import TokenCounts

#: State of the answer. Only ``Answered`` runs can score; the others still count in denominators.
AnswerState = Literal["Answered", "Empty", "Missing", "Invalid"]
StopReason = Literal["finish", "cap", "timeout", "error", "escalated"]


class ToolCall(Value, frozen=True, kw_only=True):
    """A tool call. ``valid`` refers to its arguments, ``ok`` to its success."""

    name: str
    text: str = ""
    valid: bool = True
    ok: bool = True


class RunTimes(Value, frozen=True, kw_only=True):
    """Seconds since the agent started; None if not reached or not recorded."""

    wall: float | None = None
    detection: float | None = None
    diagnosis: float | None = None
    mitigation: float | None = None
    escalation: float | None = None


class RunRecord(Value, frozen=True, kw_only=True):
    """One run on one incident. ``problem`` explains why there is no usable answer.

    ``solver`` is the name of the agent, ``digest`` that of the incident's version, if recorded; ``resolved`` the goal
    predicate of mitigation; ``changed`` the objects that the solver changed; ``escalation`` is a handover to another
    owner; ``optimum`` pairs of observed and optimal costs and efficiencies; ``grades`` those of an external judge.
    """

    incident: str
    trial: str
    answer: SolverAnswer | None = None
    state: AnswerState = "Missing"
    problem: str = ""
    stop: StopReason | None = None
    escalation: Escalation | None = None
    times: RunTimes = RunTimes()
    turns: int | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tokens: TokenCounts | None = None
    model: str = ""
    solver: str = ""
    digest: str = ""
    resolved: bool | None = None
    changed: tuple[str, ...] | None = None
    safeguards: tuple[SafeguardOutcome, ...] | None = None
    optimum: dict[str, tuple[float, float]] = {}
    grades: JudgeGrades | None = None

"""The record of one run, as it is scored: whatever is not known stays empty."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value
from scenario_kit.scoring.entities.answer import SolverAnswer
from scenario_kit.scoring.metrics.safeguards import SafeguardOutcome
from scenario_kit.scoring.runs.usage import TokenCounts

#: What there is of an answer. Only ``Answered`` can earn anything; the others stay in every denominator.
AnswerState = Literal["Answered", "Empty", "Missing", "Invalid"]
StopReason = Literal["finish", "cap", "timeout", "error", "escalated"]


class ToolCall(Value, frozen=True, kw_only=True):
    """A call of a tool. ``valid`` says that its arguments were, ``ok`` that it did what it should."""

    name: str
    text: str = ""
    valid: bool = True
    ok: bool = True


class RunTimes(Value, frozen=True, kw_only=True):
    """Seconds since the agent started. None where it did not come to that, or was not recorded."""

    wall: float | None = None
    detection: float | None = None
    diagnosis: float | None = None
    mitigation: float | None = None


class RunRecord(Value, frozen=True, kw_only=True):
    """One run of one incident. ``problem`` tells why there is no usable answer.

    ``solver`` is the name of the agent, empty where the record does not say;
    ``resolved`` is the goal predicate of the mitigation, ``changed`` the objects that the solver changed, ``optimum``
    how near costs and efficiencies came, as pairs of observed and optimal.
    """

    incident: str
    trial: str
    answer: SolverAnswer | None = None
    state: AnswerState = "Missing"
    problem: str = ""
    stop: StopReason | None = None
    times: RunTimes = RunTimes()
    turns: int | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tokens: TokenCounts | None = None
    model: str = ""
    solver: str = ""
    resolved: bool | None = None
    changed: tuple[str, ...] | None = None
    safeguards: tuple[SafeguardOutcome, ...] | None = None
    optimum: dict[str, tuple[float, float]] = {}

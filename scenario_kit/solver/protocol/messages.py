"""The messages of the protocol as a tagged union; ``type`` is the tag. Unknown fields are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal

import msgspec

from scenario_kit.scoring.runs.usage import TokenCounts

#: Protocol version, incremented by changes that are incompatible with existing solvers.
VERSION: Final = 1
StageName = Literal["diagnosis", "mitigation"]
STAGES: Final[tuple[StageName, ...]] = ("diagnosis", "mitigation")
EndReason = Literal["finish", "cap", "timeout", "error", "escalated"]


class ToolDescription(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a tool; ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class OfferedLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a solver; None is unlimited. ``seconds`` is incident time, ``wall_seconds`` wall time."""

    turns: int
    tokens: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


class StartMessage(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """The first message to a solver. ``incident`` is a name without hints about the fault."""

    protocol: int
    incident: str
    brief: str
    namespaces: tuple[str, ...]
    stages: tuple[StageName, ...]
    clock: Literal["virtual", "wall"]
    seconds_per_call: float
    now: str
    limits: OfferedLimits
    tools: tuple[ToolDescription, ...]
    answer: str


class ResultMessage(msgspec.Struct, frozen=True, kw_only=True, tag="result"):
    """The result of a tool call: ``valid`` if its arguments were valid, ``ok`` if it succeeded."""

    id: str
    ok: bool
    valid: bool
    content: str
    now: str
    turns_left: int


class StageMessage(msgspec.Struct, frozen=True, kw_only=True, tag="stage"):
    """An answer was accepted, and the next stage begins."""

    stage: StageName
    now: str
    turns_left: int


class RefusalMessage(msgspec.Struct, frozen=True, kw_only=True, tag="refusal"):
    """A line was not a valid message. It counts as a turn."""

    problem: str
    fix: str
    turns_left: int


class EndMessage(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The last message to a solver."""

    reason: EndReason
    message: str = ""


class CallMessage(msgspec.Struct, frozen=True, kw_only=True, tag="call", forbid_unknown_fields=True):
    """Call a tool."""

    tool: str
    id: str = ""
    arguments: dict[str, Any] = {}


class SubmitMessage(msgspec.Struct, frozen=True, kw_only=True, tag="submit", forbid_unknown_fields=True):
    """End the current stage: a diagnosis with an answer, a mitigation without."""

    answer: Any = None


def build_answer(names: Iterable[str], because: str = "") -> dict[str, Any]:
    """Build a diagnosis that blames objects, each as ``namespace/Kind/name``."""
    entities = [{"name": name, "contributing_factor": True, "reasoning": because, "evidence": ""} for name in names]
    return {"entities": entities, "propagations": [], "alerts_explained": []}


class EscalateMessage(msgspec.Struct, frozen=True, kw_only=True, tag="escalate", forbid_unknown_fields=True):
    """Escalate the incident, with what is known so far. That ends the run.

    ``to`` is the object whose owners are to take over, as ``namespace/Kind/name``.
    """

    reason: str
    to: str = ""
    answer: Any = None


class StopMessage(msgspec.Struct, frozen=True, kw_only=True, tag="stop", forbid_unknown_fields=True):
    """End the run without a further answer."""

    reason: str = ""


class NoteMessage(msgspec.Struct, frozen=True, kw_only=True, tag="note", forbid_unknown_fields=True):
    """A thought, which is only recorded. It costs neither a turn nor time."""

    text: str


class UsageMessage(msgspec.Struct, frozen=True, kw_only=True, tag="usage", forbid_unknown_fields=True):
    """Tokens used since the last such message."""

    tokens: TokenCounts
    model: str = ""


SolverMessage = CallMessage | SubmitMessage | EscalateMessage | StopMessage | NoteMessage | UsageMessage
KitMessage = StartMessage | ResultMessage | StageMessage | RefusalMessage | EndMessage

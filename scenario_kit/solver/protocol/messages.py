"""Every message of the protocol, as tagged values. ``type`` names the message; unknown fields are refused."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from scenario_kit.scoring.runs.usage import TokenCounts

#: Version of the protocol; a change that an existing solver would not understand raises it.
VERSION: Final = 1
StageName = Literal["diagnosis", "mitigation"]
STAGES: Final[tuple[StageName, ...]] = ("diagnosis", "mitigation")
EndReason = Literal["finish", "cap", "timeout", "error", "escalated"]


class ToolDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a solver learns of it; ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class OfferedLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a solver may use up; None is no limit. ``seconds`` are the incident's, ``wall_seconds`` the wall clock's."""

    turns: int
    tokens: int | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


class StartMessage(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """The first message that a solver gets. ``incident`` names the run and says nothing about what is wrong."""

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
    """What a tool answered. ``valid`` says that its arguments were, ``ok`` that it did what it should."""

    id: str
    ok: bool
    valid: bool
    content: str
    now: str
    turns_left: int


class StageMessage(msgspec.Struct, frozen=True, kw_only=True, tag="stage"):
    """An answer was taken, and the next stage begins."""

    stage: StageName
    now: str
    turns_left: int


class RefusalMessage(msgspec.Struct, frozen=True, kw_only=True, tag="refusal"):
    """A line could not be used. It counts as a turn."""

    problem: str
    fix: str
    turns_left: int


class EndMessage(msgspec.Struct, frozen=True, kw_only=True, tag="end"):
    """The last message that a solver gets."""

    reason: EndReason
    message: str = ""


class CallMessage(msgspec.Struct, frozen=True, kw_only=True, tag="call", forbid_unknown_fields=True):
    """Use a tool."""

    tool: str
    id: str = ""
    arguments: dict[str, Any] = {}


class SubmitMessage(msgspec.Struct, frozen=True, kw_only=True, tag="submit", forbid_unknown_fields=True):
    """End the present stage: a diagnosis with its answer, a mitigation without one."""

    answer: Any = None


class EscalateMessage(msgspec.Struct, frozen=True, kw_only=True, tag="escalate", forbid_unknown_fields=True):
    """Hand the incident to somebody else, with what is known so far. That ends the run."""

    reason: str
    answer: Any = None


class StopMessage(msgspec.Struct, frozen=True, kw_only=True, tag="stop", forbid_unknown_fields=True):
    """End the run without (a further) answer."""

    reason: str = ""


class NoteMessage(msgspec.Struct, frozen=True, kw_only=True, tag="note", forbid_unknown_fields=True):
    """A thought, for the record alone. It is no turn, and takes no time."""

    text: str


class UsageMessage(msgspec.Struct, frozen=True, kw_only=True, tag="usage", forbid_unknown_fields=True):
    """Tokens used since the last such message."""

    tokens: TokenCounts
    model: str = ""


SolverMessage = CallMessage | SubmitMessage | EscalateMessage | StopMessage | NoteMessage | UsageMessage
KitMessage = StartMessage | ResultMessage | StageMessage | RefusalMessage | EndMessage

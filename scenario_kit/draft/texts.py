"""The texts of a draft: correct and complete without revealing anything; authors will improve them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.model import Fault, FaultType
from scenario_kit.model.authored.scenario import AlertExpectation

#: What users or on-call engineers notice, by the first alert.
_NOTICED: Final = {
    "HighRequestErrorRate": "Users have been seeing errors for a few minutes.",
    "HighRequestLatency": "Users say that everything has been slow for a few minutes.",
    "NoRequestsReceived": "Part of the application has gone quiet; users miss some of its functions.",
}
#: Words to write in lower case within a sentence; others may be names.
_BEGINNINGS: Final = frozenset({
    "A", "All", "An", "Another", "Connections", "Each", "Every", "File", "Files", "Limits", "Many", "Names", "No",
    "Nobody", "One", "Open", "Packets", "Pods", "Requests", "Slow", "Some", "Somebody", "Something", "The", "There",
    "Two", "Users",
})  # fmt: skip
_PAGED: Final = "The people on call were paged a few minutes ago: something in the application is not healthy."


def write_brief(alerts: Iterable[AlertExpectation]) -> str:
    """Write the brief for the must-fire alert."""
    first = next((a.name for a in alerts if a.alert_class == "MustFire"), "")
    return _NOTICED.get(first, _PAGED)


#: The brief if there is nothing to repair.
_ASKED: Final = "Somebody says that the application has not felt right today. Is something wrong?"


def write_question() -> str:
    """Write the brief of a scenario without an incident, which must not suggest one."""
    return _ASKED


def write_title(fault_type: FaultType, fault: Fault) -> str:
    """Write the title from target and fault; solvers never see it."""
    first, _, rest = fault_type.title.partition(" ")
    what = f"{first.lower()} {rest}" if first in _BEGINNINGS else fault_type.title
    return f"{fault.target.name}: {what}"[:160]


def write_description(fault_type: FaultType) -> str:
    """Write the description of the fault; solvers never see it."""
    return " ".join(fault_type.description.split())

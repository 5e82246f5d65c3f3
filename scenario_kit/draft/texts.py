"""The texts of a draft. They are true and complete, and tell a solver nothing; an author will want to do better."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.model import Fault, FaultType, Reference
from scenario_kit.model.authored.scenario import AlertExpectation

#: What users or the people on call notice, by the alert that fires first.
_NOTICED: Final = {
    "HighRequestErrorRate": "Users have been seeing errors for a few minutes.",
    "HighRequestLatency": "Users say that everything has been slow for a few minutes.",
    "NoRequestsReceived": "Part of the application has gone quiet; users miss some of its functions.",
}
#: Words that are small within a sentence; others may be names.
_ARTICLES: Final = frozenset(
    {"A", "An", "The", "All", "Every", "Each", "One", "Two", "No", "Nobody", "Some", "Pods", "Requests"}
)
_PAGED: Final = "The people on call were paged a few minutes ago: something in the application is not healthy."


def write_brief(alerts: Iterable[AlertExpectation]) -> str:
    """Write the page, from the alert that must fire."""
    first = next((a.name for a in alerts if a.alert_class == "MustFire"), "")
    return _NOTICED.get(first, _PAGED)


#: What somebody says where nothing is broken, or nothing that needs anybody.
_ASKED: Final = "Somebody says that the application has not felt right today. Is something wrong?"


def write_question() -> str:
    """Write the page of a scenario in which nobody needs to act: it must not promise trouble."""
    return _ASKED


def write_title(fault_type: FaultType, fault: Fault) -> str:
    """Write where it happens, and what. Never shown to a solver."""
    first, _, rest = fault_type.title.partition(" ")
    what = f"{first.lower()} {rest}" if first in _ARTICLES else fault_type.title
    return f"{Reference.parse(fault.target).name}: {what}"[:160]


def write_description(fault_type: FaultType) -> str:
    """Write the mechanism. Never shown to a solver."""
    return " ".join(fault_type.description.split())

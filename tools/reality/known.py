"""Differences that remain between the simulated kubelet and a real one, each with its cause (docs/fidelity.md)."""

from __future__ import annotations

import re

from scenario_kit.model.base import Value
from tools.reality.compare import Difference


class Known(Value, frozen=True, kw_only=True):
    """Differences whose case and aspect match the patterns in full, and the reason why they are left."""

    case: str
    aspect: str
    cause: str


_RUNC = "runc 1.1, the recorded one, says less than runc 1.2 and later, whose words the simulation has"
_REGISTRY = "no registry was reached from the recording machine; in a lab one answers that the image is absent"
_ADMISSION = "the simulated kubelet admits what it is given: in a lab the scheduler binds pods, and only what fits"
_GONE = "a forced deletion removes the object first, and the simulated kubelet says nothing about what is gone"
_LATE = "the real node was late by ten seconds and more when this was recorded, on an overbooked machine"
_UNKNOWN = "of containers that were never created a real kubelet says ContainerStatusUnknown when their pod is deleted"

KNOWN: tuple[Known, ...] = (
    Known(case="command-(path-)?not-found", aspect="event Failed|main message", cause=_RUNC),
    Known(case="image-absent|deleted-without-image", aspect="event Failed|main message", cause=_REGISTRY),
    Known(case="deleted-at-once", aspect="event Killing", cause=_GONE),
    Known(case="deleted-without-image", aspect="main states", cause=_UNKNOWN),
    Known(
        case="command-not-found|out-of-memory|started-too-late|alive-never-deaf",
        aspect="main restarts at",
        cause=_LATE,
    ),
    Known(case="command-path-not-found", aspect="condition PodReadyToStartContainers", cause=_LATE),
    Known(case="requests-too-large", aspect=".*", cause=_ADMISSION),
)

#: Cases without a record. They were tried on a machine with twenty times more work than processors, where the real node
#: started containers ten and more seconds late: what it then did says nothing about times. ``ci/reality`` records them.
UNRECORDED: frozenset[str] = frozenset({"alive-exec-never", "exit-137", "exit-3-on-failure", "one-of-two-crashes"})


def matches(known: Known, difference: Difference) -> bool:
    """Whether it is one of those."""
    return bool(re.fullmatch(known.case, difference.case) and re.fullmatch(known.aspect, difference.aspect))


def cause(difference: Difference) -> str:
    """Why this difference is left; empty where nobody has said so."""
    return next((k.cause for k in KNOWN if matches(k, difference)), "")

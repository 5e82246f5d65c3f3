"""Known differences between the simulated and a real kubelet, with their causes (docs/fidelity.md)."""

from __future__ import annotations

import re

from scenario_kit.model.base import Value
from tools.reality.compare import Difference


class Known(Value, frozen=True, kw_only=True):
    """Differences whose case and aspect fully match the patterns, and their cause."""

    case: str
    aspect: str
    cause: str


_RUNC = "the recording has runc 1.1, whose messages are shorter than the simulated ones of runc 1.2 and later"
_REGISTRY = "the recording machine reached no registry; in a lab a registry answers that the image does not exist"
_ADMISSION = "the simulated kubelet admits every pod: in a lab the scheduler only binds pods that fit"
_GONE = "a forced deletion removes the object first, and the simulated kubelet sends no events for removed pods"
_LATE = "the real node was delayed by ten seconds or more during the recording, on an overloaded machine"
_UNKNOWN = "a real kubelet reports ContainerStatusUnknown for containers never created when their pod is deleted"

KNOWN: tuple[Known, ...] = (
    Known(case="command-(path-)?not-found", aspect="event Failed|main message", cause=_RUNC),
    Known(case="image-absent|deleted-without-image", aspect="event Failed|main message", cause=_REGISTRY),
    Known(case="deleted-at-once", aspect="event Killing", cause=_GONE),
    Known(case="deleted-without-image", aspect="main states", cause=_UNKNOWN),
    Known(
        case="command-not-found|out-of-memory|started-too-late|alive-never-deaf", aspect="main restarts at", cause=_LATE
    ),
    Known(case="command-path-not-found", aspect="condition PodReadyToStartContainers", cause=_LATE),
    Known(case="requests-too-large", aspect=".*", cause=_ADMISSION),
)

#: Cases without a recording: on the overloaded recording machine, the real node started their containers ten or more
#: seconds late, so their times are meaningless. ``ci/reality`` records them.
UNRECORDED: frozenset[str] = frozenset({"alive-exec-never", "exit-137", "exit-3-on-failure", "one-of-two-crashes"})


def matches(known: Known, difference: Difference) -> bool:
    """Return whether a known difference covers this one."""
    return bool(re.fullmatch(known.case, difference.case) and re.fullmatch(known.aspect, difference.aspect))


def find_cause(difference: Difference) -> str:
    """Return the known cause of a difference; empty if it is unexplained."""
    return next((k.cause for k in KNOWN if matches(k, difference)), "")

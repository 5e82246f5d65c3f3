"""When Chaos Mesh's manager starts or ends an experiment: a period or a duration after a time in the object."""

from __future__ import annotations

import math
from typing import Final

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import PAUSE, SCHEDULE, read_duration
from scenario_kit.model.kubernetes.duration import parse_seconds
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

_EVERY: Final = "@every "


def read_period(schedule: Object) -> float | None:
    """Read the seconds between two starts of a Schedule; None unless they are always the same (``@every``).

    The manager's cron library rounds them down to whole seconds, at least one.
    """
    text = str((schedule.get("spec") or {}).get("schedule", ""))
    if not text.startswith(_EVERY):
        return None
    try:
        return max(float(math.floor(parse_seconds(text.removeprefix(_EVERY).strip()))), 1.0)
    except ValueError:
        return None


def read_length(obj: Object) -> float | None:
    """Read after how many seconds the manager acts: the period of a Schedule, or the duration of an experiment.

    None if it never does: no period or duration, or a one-shot action.
    """
    return read_period(obj) if obj["kind"] == SCHEDULE else read_duration(obj.get("spec") or {})


def read_base(obj: Object) -> float:
    """Read the time (wall) from which the manager counts."""
    last = (obj.get("status") or {}).get("time") if obj["kind"] == SCHEDULE else None
    return parse_timestamp(last or obj["metadata"]["creationTimestamp"])


def is_expired(obj: Object, wall: float) -> bool:
    """Return whether the manager acts on an object by now: starts an experiment, or ends this one."""
    length = read_length(obj)
    return length is not None and read_base(obj) + length <= wall


def is_paused(obj: Object) -> bool:
    """Return whether an experiment or a Schedule is paused."""
    return (obj["metadata"].get("annotations") or {}).get(PAUSE) == "true"

"""When Chaos Mesh's manager starts or ends an experiment: a period or a duration after a time in the object."""

from __future__ import annotations

from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import PAUSE, SCHEDULE, read_duration, read_period
from scenario_kit.model.kubernetes.timestamp import parse_timestamp


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

"""The lines of a recording: what was observable of an app, tick by tick. Times are in seconds since the epoch."""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.model.base import Object, Value
from scenario_kit.model.runtime.trace import Trace


class RecordedLine(NamedTuple):
    """A log line of a container."""

    namespace: str
    pod: str
    container: str
    at: float
    text: str


class RemovedObject(NamedTuple):
    """A deleted object."""

    kind: str
    namespace: str
    name: str


class RecordedTick(Value, frozen=True, kw_only=True):
    """The observations of the tick that ends at ``at``.

    ``objects`` are new or changed ones in their final state, ``events`` all writes of Events in order of arrival.
    Lines, events and traces have times of their own, possibly before the tick.
    """

    at: float
    objects: tuple[Object, ...] = ()
    removed: tuple[RemovedObject, ...] = ()
    events: tuple[Object, ...] = ()
    lines: tuple[RecordedLine, ...] = ()
    traces: tuple[Trace, ...] = ()

"""What was to be seen of an app, tick by tick: the lines of a recording. Times are seconds since the epoch on the
trial's clock.
"""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.model.base import Object, Value
from scenario_kit.model.runtime.trace import Trace


class RecordedLine(NamedTuple):
    """A line that a container printed."""

    namespace: str
    pod: str
    container: str
    at: float
    text: str


class RemovedObject(NamedTuple):
    """An object that is no longer there."""

    kind: str
    namespace: str
    name: str


class RecordedTick(Value, frozen=True, kw_only=True):
    """What came to be seen in the tick that ends at ``at``.

    ``objects`` are those that are new or have changed, as they are at the end; ``events`` every write of an Event in
    order of arrival. Lines, events and traces carry their own times, which may lie before the tick.
    """

    at: float
    objects: tuple[Object, ...] = ()
    removed: tuple[RemovedObject, ...] = ()
    events: tuple[Object, ...] = ()
    lines: tuple[RecordedLine, ...] = ()
    traces: tuple[Trace, ...] = ()

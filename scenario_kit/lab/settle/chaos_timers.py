"""Starts of Chaos Mesh's Schedules, and ends of experiments with a duration, on a trial's clock.

The manager compares both with the wall clock: a Schedule starts an experiment so long after ``status.time`` (at first,
after its creation), and an experiment ends so long after its creation (``controllers/schedule/cron/utils.go`` and
``DurationExceeded`` in Chaos Mesh). What is due on the trial's clock gets an earlier time, and the manager acts by
itself; what the wall clock would make due too soon, in a trial that waits, gets a later one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from scenario_kit.lab.settle.chaos_lengths import is_expired, is_paused, read_base, read_length
from scenario_kit.lab.settle.checks.settle_context import read_controller_uid
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import SCHEDULE

#: Extra seconds by which a time is moved back, to cover clock skew and the API's whole seconds.
_MARGIN_SECONDS: Final = 2.0
#: A time is moved forward once this share of the period or duration has passed on the wall clock.
_STALE_SHARE: Final = 0.5


@dataclass(slots=True)
class _Timer:
    """What is due when, on the trial's clock. ``expired``: the manager was told, and has not acted yet.

    ``started`` are the experiments that a Schedule had started by then.
    """

    obj: Object
    due: float
    expired: bool = False
    started: frozenset[str] = frozenset()


class ChaosTimers:
    """The timers of one world. Its thread and that of ``renew`` share them.

    ``set_base`` writes the time from which the manager counts.
    """

    def __init__(self, set_base: Callable[[Object, float], None]) -> None:
        self._set_base = set_base
        self._lock = threading.Lock()
        self._timers: dict[str, _Timer] = {}
        self._started: dict[str, frozenset[str]] = {}

    def observe(self, objects: Iterable[Object], now: float) -> None:
        """Note the objects that exist at ``now`` on the trial's clock; new ones count from then on."""
        with self._lock:
            found: dict[str, _Timer] = {}
            started: dict[str, set[str]] = {}
            for obj in objects:
                started.setdefault(read_controller_uid(obj), set()).add(obj["metadata"]["uid"])
                length = read_length(obj)
                if length is None or "deletionTimestamp" in obj["metadata"]:
                    continue
                uid = obj["metadata"]["uid"]
                timer = found[uid] = self._timers.get(uid) or _Timer(obj, now + length)
                timer.obj = obj
            self._timers = found
            self._started = {owner: frozenset(uids) for owner, uids in started.items()}

    def expire(self, before: float, wall: float) -> bool:
        """Let the manager act on what is due before a time of the trial's clock; return whether it has to act.

        A start that was missed while its Schedule was paused is made up for once, as by the manager.
        """
        with self._lock:
            due = [t for t in self._timers.values() if t.due < before and not t.expired and not is_paused(t.obj)]
            for timer in due:
                length = read_length(timer.obj) or 0.0
                self._set_base(timer.obj, wall - length - _MARGIN_SECONDS)
                timer.expired = True
                timer.started = self._started.get(timer.obj["metadata"]["uid"], frozenset())
                while timer.due < before and timer.obj["kind"] == SCHEDULE:
                    timer.due += length
            return bool(due) or any(t.expired and t.obj["kind"] == SCHEDULE for t in self._timers.values())

    def has_unrecorded_start(self, wall: float) -> bool:
        """Return whether the manager has started an experiment and not written down when.

        It does so after the start. In a trial whose minutes pass in milliseconds, that write would replace a later one
        of ours, and the next start would not come.
        """
        with self._lock:
            return any(
                timer.expired
                and is_expired(timer.obj, wall)
                and bool(self._started.get(uid, frozenset()) - timer.started)
                for uid, timer in self._timers.items()
                if timer.obj["kind"] == SCHEDULE
            )

    def restart(self, wall: float) -> None:
        """Begin the next period of Schedules whose start was due, whether the manager has made it or not.

        It makes none while an earlier experiment still runs and may not be joined (``concurrencyPolicy: Forbid``).
        """
        with self._lock:
            for timer in self._timers.values():
                if timer.expired and timer.obj["kind"] == SCHEDULE:
                    timer.expired = False
                    if is_expired(timer.obj, wall):
                        self._set_base(timer.obj, wall)

    def renew(self, wall: float) -> None:
        """Move forward what would soon be due on the wall clock, but is not on the trial's."""
        with self._lock:
            for timer in self._timers.values():
                length = read_length(timer.obj) or 0.0
                if not timer.expired and wall - read_base(timer.obj) > length * _STALE_SHARE:
                    self._set_base(timer.obj, wall)

"""Wake reconcilers: on a change, when an action is due, and at a resync interval.

Reconciliation is level-triggered: it reads the cluster, not the event, so late, repeated or lost events affect only its
timing.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final

from scenario_kit.errors import ScenarioKitError

log = logging.getLogger(__name__)
#: Seconds between reconciliations of an unchanged object (resync) and of one that changes all the time (rate limit).
IDLE_SECONDS: Final = 300.0
BUSY_SECONDS: Final = 1.0
#: Initial and maximum back-off after a failed reconciliation, in seconds.
_INITIAL_BACKOFF: Final = 3.0
_MAX_BACKOFF: Final = 60.0

#: Reconciles an object and returns the wall time of its next due action, or None. May block.
Reconcile = Callable[[], float | None]


def compute_wait(now: float, due: float | None, failures: int, spread: float) -> float:
    """Compute the seconds until the next reconciliation if nothing changes.

    Args:
        now: wall time, in seconds since the epoch.
        due: wall time of the next due action; None if there is none.
        failures: number of consecutive failed reconciliations.
        spread: jitter between 0 and 1 that spreads objects created together.
    """
    if failures:
        return min(_INITIAL_BACKOFF * 2.0 ** (failures - 1), _MAX_BACKOFF)
    idle = IDLE_SECONDS * (1 - spread / 4)
    return idle if due is None else min(max(due - now, BUSY_SECONDS), idle)


class Wakeups:
    """Reconcilers that wait for changes, by kind and name of their object. Used by one event loop."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._events: dict[tuple[str, str], asyncio.Event] = {}

    def wake(self, kind: str, name: str) -> None:
        """Request a reconciliation of an object; ignored if it is not followed."""
        if changed := self._events.get((kind, name)):
            changed.set()

    async def follow(
        self, kind: str, name: str, reconcile: Reconcile, stop: Callable[[float], Awaitable[object]]
    ) -> None:
        """Reconcile an object on every wakeup until stopped.

        ``stop`` waits for a number of seconds and returns true as soon as following should end.
        """
        changed = self._events[kind, name] = asyncio.Event()
        draw = random.Random(f"{kind}/{name}")
        failures = 0
        try:
            while True:
                changed.clear()
                due, failures = await _try(reconcile, name, failures)
                if await stop(BUSY_SECONDS):
                    return
                wait = compute_wait(self._now(), due, failures, draw.random()) - BUSY_SECONDS
                if await _wait_for_change(changed, wait, stop):
                    return
        finally:
            if self._events.get((kind, name)) is changed:
                del self._events[kind, name]


async def _try(reconcile: Reconcile, name: str, failures: int) -> tuple[float | None, int]:
    try:
        return await asyncio.to_thread(reconcile), 0
    except ScenarioKitError as error:
        log.warning("%s: %s", name, error)
    except Exception:  # must not end the loop: the object would never be reconciled again
        log.exception("%s", name)
    return None, failures + 1


async def _wait_for_change(changed: asyncio.Event, seconds: float, stop: Callable[[float], Awaitable[object]]) -> bool:
    """Wait for a change or a number of seconds; return True once following should end."""
    if seconds <= 0:
        return False
    woken, ending = asyncio.ensure_future(changed.wait()), asyncio.ensure_future(stop(seconds))
    try:
        done, _ = await asyncio.wait({woken, ending}, return_when=asyncio.FIRST_COMPLETED)
        return ending in done and bool(ending.result())
    finally:
        for each in (woken, ending):
            each.cancel()

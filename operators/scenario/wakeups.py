"""When an object is looked at again: when something of it changed, when something is due, and once in a while.

Watches tell of changes, so nothing is asked while nothing happens. Whoever looks still reads the cluster, not the
event: an event that is late, repeated or lost changes when it is looked, never what is decided.
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
#: Seconds between two looks at an object of which nothing is heard, and between two of one that changes all the time.
IDLE_SECONDS: Final = 300.0
BUSY_SECONDS: Final = 1.0
#: Seconds until the next look after one that failed: at first, and at most.
_FIRST_RETRY: Final = 3.0
_LONGEST_RETRY: Final = 60.0

#: Looks at an object: says when something is due there by itself (wall time), or None. May block.
Look = Callable[[], float | None]


def compute_wait(now: float, due: float | None, failures: int, spread: float) -> float:
    """Compute for how many seconds nobody has to look, unless something changes.

    Args:
        now: wall time, in seconds since the epoch.
        due: when something is due; None where nothing is.
        failures: how many looks in a row failed.
        spread: between 0 and 1; keeps objects that appeared together from being looked at together.
    """
    if failures:
        return min(_FIRST_RETRY * 2.0 ** (failures - 1), _LONGEST_RETRY)
    idle = IDLE_SECONDS * (1 - spread / 4)
    return idle if due is None else min(max(due - now, BUSY_SECONDS), idle)


class Wakeups:
    """Who waits for changes of which object, by kind and name. Used by one event loop."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._bells: dict[tuple[str, str], asyncio.Event] = {}

    def wake(self, kind: str, name: str) -> None:
        """Let an object be looked at soon; one that nobody follows is nobody's."""
        if bell := self._bells.get((kind, name)):
            bell.set()

    async def follow(self, kind: str, name: str, look: Look, stop: Callable[[float], Awaitable[object]]) -> None:
        """Look at an object until it is gone, as often as there is a reason to.

        ``stop`` waits for so many seconds, or until following is to end, which it then answers with something true.
        """
        bell = self._bells[kind, name] = asyncio.Event()
        draw = random.Random(f"{kind}/{name}")
        failures = 0
        try:
            while True:
                bell.clear()
                due, failures = await _try(look, name, failures)
                if await stop(BUSY_SECONDS):
                    return
                wait = compute_wait(self._now(), due, failures, draw.random()) - BUSY_SECONDS
                if await _wait_for_bell(bell, wait, stop):
                    return
        finally:
            if self._bells.get((kind, name)) is bell:
                del self._bells[kind, name]


async def _try(look: Look, name: str, failures: int) -> tuple[float | None, int]:
    try:
        return await asyncio.to_thread(look), 0
    except ScenarioKitError as problem:
        log.warning("%s: %s", name, problem)
    except Exception:  # whatever it is, the object is looked at again: nothing else would ever do so
        log.exception("%s", name)
    return None, failures + 1


async def _wait_for_bell(bell: asyncio.Event, seconds: float, stop: Callable[[float], Awaitable[object]]) -> bool:
    """Wait until a bell rings, or so many seconds; True once following is to end."""
    if seconds <= 0:
        return False
    ringing, ending = asyncio.ensure_future(bell.wait()), asyncio.ensure_future(stop(seconds))
    try:
        done, _ = await asyncio.wait({ringing, ending}, return_when=asyncio.FIRST_COMPLETED)
        return ending in done and bool(ending.result())
    finally:
        for each in (ringing, ending):
            each.cancel()

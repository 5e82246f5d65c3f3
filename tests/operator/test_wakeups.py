"""When an object is looked at again, without any time passing here."""

import asyncio

import pytest

from operators.scenario.wakeups import BUSY_SECONDS, IDLE_SECONDS, Wakeups, compute_wait
from scenario_kit.errors import InfrastructureError


@pytest.mark.parametrize(
    ("due", "failures", "spread", "wait"),
    [
        (None, 0, 0.0, IDLE_SECONDS),
        (None, 0, 1.0, IDLE_SECONDS * 0.75),
        (130.0, 0, 0.0, 30.0),
        (90.0, 0, 0.0, BUSY_SECONDS),
        (10_000.0, 0, 0.0, IDLE_SECONDS),
        (None, 1, 0.5, 3.0),
        (101.0, 2, 0.5, 6.0),
        (None, 5, 0.0, 48.0),
        (None, 50, 0.0, 60.0),
    ],
)
def test_wait_depends_on_due_time_and_failures(due, failures, spread, wait):
    assert compute_wait(100.0, due, failures, spread) == wait


class Following:
    """An object with scripted reconciliations; waits end at once and are recorded."""

    def __init__(self, *looks, ring_at=()):
        self.looks, self.waits, self.ring_at = list(looks), [], ring_at
        self.wakeups = Wakeups(now=lambda: 100.0)

    def look(self):
        answer = self.looks.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def stop(self, seconds):
        self.waits.append(seconds)
        if len(self.waits) in self.ring_at:
            self.wakeups.wake("Scenario", "home/s")
            await asyncio.Event().wait()  # only what was rung ends this
        return not self.looks

    def run(self):
        asyncio.run(asyncio.wait_for(self.wakeups.follow("Scenario", "home/s", self.look, self.stop), 30))
        return self.waits


def test_idle_object_sends_no_requests():
    busy, idle = Following(None, None).run()[:2]
    assert busy == BUSY_SECONDS
    assert IDLE_SECONDS * 0.75 <= idle + BUSY_SECONDS <= IDLE_SECONDS


def test_due_object_is_reconciled_on_time():
    assert Following(140.0, None).run()[:2] == [1.0, 39.0]


def test_change_ends_the_wait():
    assert len(Following(None, None, ring_at=(2,)).run()) == 3


def test_failed_reconcile_backs_off_exponentially():
    trouble = InfrastructureError("gone")
    waits = Following(trouble, trouble, ZeroDivisionError(), None).run()
    assert waits[1:6:2] == [2.0, 5.0, 11.0]


def test_wake_of_unknown_object_is_ignored():
    wakeups = Wakeups()
    wakeups.wake("Scenario", "home/none")

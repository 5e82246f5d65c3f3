"""The wall clock reports unobserved time."""

import pytest

from scenario_kit.clients import clock
from scenario_kit.errors import InfrastructureError

NOON = 1_800_000_000.0


class Machine:
    """Stands in for the ``time`` module; ``meanwhile`` is what else happens during the next sleep."""

    def __init__(self):
        self.wall, self.steady = NOON, 100.0
        self.meanwhile = (0.0, 0.0)

    def time(self):
        return self.wall

    def monotonic(self):
        return self.steady

    def sleep(self, seconds):
        wall, steady = self.meanwhile
        self.wall += seconds + wall
        self.steady += seconds + steady
        self.meanwhile = (0.0, 0.0)


@pytest.fixture
def machine(monkeypatch):
    found = Machine()
    monkeypatch.setattr(clock, "time", found)
    return found


def test_wall_clock_wait_is_bounded_and_non_negative(machine):
    wall = clock.WallClock()
    assert wall.wait(NOON + 1000) == NOON + 5
    assert wall.wait(NOON + 7) == NOON + 7
    assert wall.wait(NOON) == NOON + 7


@pytest.mark.parametrize(
    ("wall_by", "steady_by", "reported"),
    [
        (3600.0, 0.0, r"jumped by \+3600 s"),
        (-3600.0, 0.0, r"jumped by -3600 s"),
        (900.0, 900.0, "nothing ran for 900 s"),
        (20.0, 20.0, ""),
        (-20.0, 0.0, ""),
    ],
    ids=["set forward, or asleep", "set back", "stopped", "a busy machine", "a correction"],
)
def test_wait_detects_jump_during_sleep(machine, wall_by, steady_by, reported):
    wall = clock.WallClock()
    machine.meanwhile = (wall_by, steady_by)
    if reported:
        with pytest.raises(InfrastructureError, match=reported):
            wall.wait(wall.now() + 5)
    else:
        wall.wait(wall.now() + 5)
    before = wall.now()
    assert wall.wait(before + 5) == before + 5, "it is told once"


def test_wait_detects_jump_between_waits(machine):
    wall = clock.WallClock()
    machine.wall += 3600.0
    with pytest.raises(InfrastructureError, match="jumped"):
        wall.wait(wall.now())


def test_small_clock_corrections_are_tolerated(machine):
    wall = clock.WallClock()
    for _ in range(10):
        machine.meanwhile = (-10.0, 0.0)
        wall.wait(wall.now() + 5)

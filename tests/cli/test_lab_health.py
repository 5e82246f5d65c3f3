"""Health of a lab while a campaign runs."""

import pytest

from scenario_kit.cli.validation.lab_health import MAX_RESTARTS, PERIOD_SECONDS, LabHealth
from scenario_kit.lab import lifecycle
from scenario_kit.lab.host.state import DeadPart

OPERATOR = DeadPart(name="operator", pid=7, log="operator.log", tail="no folder `catalog`")
STORE = DeadPart(name="etcd", pid=8, log="etcd.log", tail="no space left")


class _Lab:
    name = "default"
    dead = ()

    @classmethod
    def load(cls, name):
        return cls()

    def dead_parts(self):
        return self.dead


@pytest.fixture
def restarts(monkeypatch):
    found = []
    monkeypatch.setattr(lifecycle, "bring_up", lambda name, say: found.append(name))
    return found


@pytest.mark.parametrize(("dead", "count"), [((), 0), ((STORE,), 0), ((OPERATOR, STORE), 0), ((OPERATOR,), 1)])
def test_only_a_dead_operator_is_restarted(monkeypatch, restarts, dead, count):
    monkeypatch.setattr(_Lab, "dead", dead)
    problems = LabHealth(_Lab()).find_problems()
    assert len(restarts) == count
    assert problems == ([] if count else [str(part) for part in dead])


@pytest.mark.parametrize(
    ("pause", "restarted"), [(1.0, MAX_RESTARTS), (PERIOD_SECONDS, MAX_RESTARTS + 1)], ids=["at once", "now and then"]
)
def test_operator_that_keeps_exiting_is_a_problem(monkeypatch, restarts, pause, restarted):
    monkeypatch.setattr(_Lab, "dead", (OPERATOR,))
    times = iter(range(10_000))
    health = LabHealth(_Lab(), now=lambda: pause * next(times))
    problems = [health.find_problems() for _ in range(MAX_RESTARTS + 1)][-1]
    assert len(restarts) == restarted
    assert ("no folder `catalog`" in "".join(problems)) == (restarted == MAX_RESTARTS)

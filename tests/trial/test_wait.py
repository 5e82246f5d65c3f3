"""How a trial lets time pass while chaos is bound to pods that may be replaced."""

from types import SimpleNamespace

import pytest

from scenario_kit.model import TrialSpec
from scenario_kit.trial.engine.context import TICK, TrialContext


class Bound:
    """An engine that counts calls of ``maintain``."""

    def __init__(self, bound):
        self.bound, self.looks = bound, 0

    def maintain(self, groups):
        assert groups == ["Fault/main"]
        self.looks += 1
        return 0

    def record_expired(self, now):
        return None

    def needs_maintenance(self, groups):
        return self.bound


class Passing:
    """A clock that jumps to the end of each wait."""

    def __init__(self):
        self.at, self.waits = 1000.0, 0

    def now(self):
        return self.at

    def wait(self, until):
        self.at, self.waits = max(self.at, until), self.waits + 1
        return self.at


@pytest.mark.parametrize(("bound", "waits"), [(True, 4), (False, 1)])
def test_bound_chaos_is_maintained_every_virtual_tick(bound, waits):
    engine, clock = Bound(bound), Passing()
    fault = SimpleNamespace(name="main", group="Fault/main", persistence="Workload", lasts_seconds=None)
    context = TrialContext(
        name="t", spec=TrialSpec(scenario="s", digest="d", namespace="shop", steps=(), resolved=""),
        runbook=SimpleNamespace(faults=(fault,), noise=()), cluster=None, solver=None, metrics=None, clock=clock,
        engine=engine, evaluator=None, management="kit", health=list, stopping=lambda: False, idle=lambda _: None,
        tell=lambda *_: None,
    )  # fmt: skip
    assert context.wait(1000 + 4 * TICK) == 1060
    assert (clock.waits, engine.looks) == (waits, waits)

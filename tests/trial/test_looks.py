"""How alert steps pass time, what they remember, and deadlines of expectations."""

import msgspec
import pytest

from scenario_kit.errors import InfrastructureError
from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.model import AlertExpectation, Reference, TrialStep
from scenario_kit.testing import FakeClock, FakeMetrics
from scenario_kit.trial import Stopped
from scenario_kit.trial.alerts.alert_steps import (
    await_interval,
    choose_next_look,
    compute_deadlines,
    expect_alerts,
    expect_quiet,
    hold,
    measure_served,
    pass_time,
)
from scenario_kit.trial.engine.baseline import Baseline
from tests.trial.test_alert_steps import ALWAYS, ERRORS, INJECTED, PROGRAM, Trial, codes, fault


def set_clock(trial, clock):
    trial.context.spec = msgspec.structs.replace(trial.context.spec, clock=clock)
    return trial


class Waits(FakeClock):
    """A clock that remembers the ends of its waits."""

    def __init__(self, start):
        super().__init__(start)
        self.ends = []

    def wait(self, until):
        self.ends.append(until - INJECTED)
        return super().wait(until)


@pytest.mark.parametrize(("clock", "ends", "looks"), [("Virtual", [40.0], 0), ("Wall", [15.0, 30.0, 40.0], 3)])
def test_only_wall_clock_checks_during_a_wait(clock, ends, looks):
    trial, reported = set_clock(Trial(), clock), []
    trial.context.clock = Waits(INJECTED)
    trial.context.tell = lambda now, history: reported.append(now)
    assert await_interval(trial.context, INJECTED, 40) == INJECTED + 40
    assert (trial.context.clock.ends, len(reported)) == (ends, looks)
    assert await_interval(trial.context, INJECTED, 40) == INJECTED + 40
    assert trial.context.clock.ends == ends, "it has passed"


@pytest.mark.parametrize(
    ("clock", "passed", "at"),
    [
        ("Virtual", 0, 60),
        ("Virtual", 59, 60),
        ("Virtual", 60, 120),
        ("Virtual", 61, 120),
        ("Wall", 0, 15),
        ("Wall", 20, 30),
    ],
)
def test_looks_align_to_ticks_from_step_start(clock, passed, at):
    trial = set_clock(Trial(), clock)
    trial.clock.wait(INJECTED + passed)
    assert choose_next_look(trial.context, INJECTED) == INJECTED + at


def test_virtual_time_stops_until_advanced():
    trial, idled = Trial(), []

    def idle(seconds):
        idled.append(seconds)
        if len(idled) == 3:
            trial.clock.wait(INJECTED + 5)

    trial.context.idle = idle
    pass_time(trial.context, INJECTED)
    assert (idled, trial.clock.now()) == ([0.3] * 3, INJECTED + 5)
    wall = set_clock(Trial(), "Wall")
    pass_time(wall.context, INJECTED)
    assert wall.clock.now() == INJECTED + 15


@pytest.mark.parametrize(
    ("node", "grace", "passed"),
    [("worker-1", 30, 15), ("worker-1", None, 0), ("worker-1", 0, 0), ("", 30, 0)],
)
def test_virtual_time_passes_while_a_deleted_pod_ends(node, grace, passed):
    trial = Trial()
    meta = {"name": "cart-1", "namespace": "shop"}
    if grace is not None:
        meta |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": grace}
    trial.cluster.put({"kind": "Pod", "metadata": meta, "spec": {"nodeName": node}})
    idled = []

    def idle(seconds):
        idled.append(seconds)
        if len(idled) == 3:
            raise Stopped

    trial.context.idle = idle
    if passed:
        pass_time(trial.context, INJECTED)
    else:
        with pytest.raises(Stopped):
            pass_time(trial.context, INJECTED)
    assert trial.clock.now() == INJECTED + passed


def test_deadline_comes_from_author_or_rule():
    own = AlertExpectation(name="Errors", entity=Reference("Deployment", "ad"), within_seconds=90)
    may = AlertExpectation(name="Errors", alert_class="MayFire")
    assert compute_deadlines(Trial(alerts=(ERRORS, own, may)).context) == {ERRORS: 360.0, own: 90.0}


@pytest.mark.parametrize(
    ("onset", "within", "found"),
    [(1960.0, None, []), (2260.0, None, []), (2261.0, None, ["SK322"]), (1960.0, 480, ["SK322"]), (1960.0, 960, [])],
)
def test_default_deadline_includes_the_period_of_a_recurring_fault(onset, within, found):
    due = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), within_seconds=within)
    trial = Trial(fault("a"), alerts=(due,), firing={("Errors", "Deployment/web"): [(onset, None)]})
    windows = msgspec.structs.replace(trial.context.runbook.windows, period=900)
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, windows=windows)
    assert codes(expect_alerts(trial.context, INJECTED)) == found


@pytest.mark.parametrize(
    ("onset", "within", "found"),
    [(1060.0, 60, []), (1061.0, 60, ["SK322"]), (1360.0, None, []), (1361.0, None, ["SK322"])],
)
def test_expected_alert_must_fire_by_its_deadline(onset, within, found):
    due = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), within_seconds=within)
    trial = Trial(fault("a"), alerts=(due,), firing={("Errors", "Deployment/web"): [(onset, None)]})
    assert codes(expect_alerts(trial.context, INJECTED)) == found
    if not found:
        assert trial.clock.now() <= onset + 60


def requests(rate, errors=0.0):
    def answer(expr, at):
        seconds = float(expr.partition("[")[2].partition("s]")[0])
        value = errors if "STATUS_CODE_ERROR" in expr else rate
        return [] if value is None else [({}, value * seconds)]

    return FakeMetrics(answer)


def test_measure_served_counts_entry_requests():
    trial = Trial()
    trial.context.metrics = requests(2.0, 0.5)
    assert measure_served(trial.context, 1000.0, 1200.0) == EntryTraffic(seconds=200, requests=400, errors=100)
    trial.context.metrics = requests(None)
    assert measure_served(trial.context, 1000.0, 1200.0) == EntryTraffic(seconds=200)


@pytest.mark.parametrize(("seconds", "window"), [(None, 60), (200, 200), (600, 300)])
def test_traffic_before_the_fault_is_remembered(seconds, window):
    trial = Trial()
    trial.context.metrics = requests(2.0, 0.5)
    trial.context.save_baseline(Baseline(namespace_uid="u"))
    assert expect_quiet(trial.context, TrialStep(kind="expectQuiet", seconds=seconds), 1, INJECTED) == []
    baseline = trial.context.baseline()
    assert baseline.namespace_uid == "u"
    assert baseline.served == EntryTraffic(seconds=window, requests=2.0 * window, errors=0.5 * window)
    assert trial.clock.now() == INJECTED + (seconds or 60)


def test_app_without_traffic_metrics_is_not_quiet():
    trial = Trial()
    trial.context.metrics = requests(None)
    with pytest.raises(InfrastructureError, match="no request at the entry 'web' was measured"):
        expect_quiet(trial.context, TrialStep(kind="expectQuiet"), 1, INJECTED)


@pytest.mark.parametrize(("steps", "noted"), [(PROGRAM, True), (PROGRAM[:3], False)])
def test_solver_signs_are_recorded_during_hold(steps, noted):
    trial = Trial(steps=steps)
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "x"}}
    trial.cluster.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}, "spec": {},
                       "status": {"containerStatuses": [{"name": "web", "state": waiting}]}})  # fmt: skip
    expect_quiet(trial.context, TrialStep(kind="expectQuiet"), 1, INJECTED)
    assert bool(trial.context.baseline().signs) is noted


def test_sham_control_saves_no_baseline():
    firing = {("Errors", "Deployment/web"): [(1010.0, 1020.0)]}
    trial = Trial(firing=firing, alerts=(ERRORS,))
    step = TrialStep(kind="expectQuiet", use="Sham")
    (found,) = expect_quiet(trial.context, step, 1, INJECTED)
    assert found.code == "SK307"
    (other,) = expect_quiet(Trial(firing=firing, alerts=(ERRORS,), steps=PROGRAM[:2]).context, PROGRAM[1], 1, INJECTED)
    assert found.message != other.message
    assert trial.context.baseline() is None
    assert codes(expect_quiet(Trial().context, step, 1, INJECTED)) == []


@pytest.mark.parametrize(("seconds", "end"), [(None, 300), (700, 700)])
def test_hold_lasts_its_window_and_records_new_alerts(seconds, end):
    trial = Trial(fault("a"), alerts=(ERRORS,), firing=ALWAYS)
    trial.context.save_baseline(Baseline(namespace_uid="u", signs=("old",)))
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "x"}}
    trial.cluster.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}, "spec": {},
                       "status": {"containerStatuses": [{"name": "web", "state": waiting}]}})  # fmt: skip
    assert hold(trial.context, TrialStep(kind="hold", seconds=seconds), INJECTED) == ([], [])
    assert trial.clock.now() == INJECTED + end
    baseline = trial.context.baseline()
    assert (baseline.namespace_uid, baseline.signs) == ("u", ("old",))
    assert any("CrashLoopBackOff" in sign for sign in baseline.found)

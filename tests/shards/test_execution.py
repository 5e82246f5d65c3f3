"""A run of a shard: what is repeated and what is not, whatever interrupts it."""

from __future__ import annotations

import errno

import pytest

from scenario_kit.campaign import Polling
from scenario_kit.errors import AuthoringError, LabError, Unreachable, UsageError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Verdict
from scenario_kit.shards.execution import ShardRun, ShardTally
from scenario_kit.shards.result_store import FolderStore
from scenario_kit.shards.results import StoredResult
from tests.shards.conftest import make_report, make_work


class Machine:
    """Runs shards in a folder; ``behave`` maps scenarios to what their validation does."""

    def __init__(self, folder, work, **behave):
        self.store, self.work, self.behave = FolderStore(folder), work, behave
        self.asked, self.lines = [], []

    def validate(self, item):
        self.asked.append(item.scenario)
        act = self.behave.get(item.scenario, Verdict.PASS)
        if isinstance(act, BaseException):
            raise act
        return act if not isinstance(act, Verdict) else make_report(item, act)

    def run(self, shard=0, **behave):
        self.behave.update(behave)
        self.asked.clear()
        return ShardRun(self.work, self.store, self.validate, self.lines.append, "pod-1").run(shard)

    def result(self, scenario):
        return self.store.read(self.work.name, scenario).result


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path, make_work("a", "b", "c"))


def test_only_the_scenarios_of_the_shard_are_validated(tmp_path):
    machine = Machine(tmp_path, make_work("a", "b", "c", shards=2))
    assert machine.run(1) == ShardTally(1, 0, ())
    assert machine.asked == ["b"]
    assert machine.run(0) == ShardTally(2, 0, ())
    with pytest.raises(UsageError, match="no shard 2"):
        machine.run(2)


def test_finished_scenario_is_not_repeated(machine):
    machine.run(a=Verdict.FAIL, b=Verdict.INCONCLUSIVE)
    assert machine.run() == ShardTally(3, 3, ())
    assert machine.asked == []
    assert [machine.result(name).verdict for name in "abc"] == [Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS]
    assert machine.result("a").pod == "pod-1"


def test_only_edited_scenario_is_validated_again(machine):
    machine.run()
    machine.work = make_work("a", "b", "c", b="another digest")
    assert machine.run() == ShardTally(3, 2, ())
    assert machine.asked == ["b"]
    assert "does not count: the scenario has changed since" in machine.lines[-4]


def test_damaged_result_is_replaced(machine, tmp_path):
    machine.run()
    (report,) = tmp_path.glob("nightly-b-*.gz")
    report.write_bytes(b"damaged")
    assert machine.run() == ShardTally(3, 2, ())
    assert machine.asked == ["b"]
    assert machine.run().kept == 3


def test_failed_infrastructure_is_tried_again_after_the_others(machine):
    assert machine.run(a=LabError("etcd died")) == ShardTally(2, 0, ("a",))
    assert machine.asked == ["a", "b", "c"]
    assert machine.result("a").message == "etcd died"
    machine.work = make_work("a", "b", "c", b="another digest")
    assert machine.run() == ShardTally(2, 1, ("a",))
    assert machine.asked == ["b", "a"]
    assert machine.result("a").attempts == 2
    assert machine.run(a=Verdict.PASS) == ShardTally(3, 2, ())


@pytest.mark.parametrize(
    ("problem", "said"),
    [(OSError(errno.ENOSPC, "No space left on device", "/tmp/lab"), "No space left"), (MemoryError(), "out of memory")],
)
def test_exhausted_machine_is_no_verdict(problem, said, machine):
    assert machine.run(b=problem) == ShardTally(2, 0, ("b",))
    assert (machine.result("b").state, machine.result("b").verdict) == ("Failed", Verdict.NOT_EVALUATED)
    assert said in machine.result("b").message
    assert machine.run(b=Verdict.PASS) == ShardTally(3, 2, ())


def test_not_evaluated_is_retried_unless_a_capability_is_missing(machine):
    lacking = build_finding("SK911", message="no NetworkPolicies")
    item = machine.work.items[1]
    tally = machine.run(a=Verdict.NOT_EVALUATED, b=make_report(item, Verdict.NOT_EVALUATED, findings=(lacking,)))
    assert tally == ShardTally(2, 0, ("a",))
    assert machine.run().kept == 2


@pytest.mark.parametrize(
    ("problem", "verdict", "said"),
    [
        (ValueError("a bug"), Verdict.KIT_ERROR, "ValueError: a bug"),
        (UsageError("bad lab"), Verdict.KIT_ERROR, "bad lab"),
        (AuthoringError("unknown app"), Verdict.FAIL, "unknown app"),
    ],
)
def test_error_in_one_scenario_does_not_stop_the_others(problem, verdict, said, machine):
    assert machine.run(b=problem) == ShardTally(3, 0, ())
    assert (machine.result("b").verdict, machine.result("b").message) == (verdict, said)
    assert machine.result("c").verdict == Verdict.PASS


def test_report_that_cannot_be_kept_does_not_stop_the_others(machine, monkeypatch):
    monkeypatch.setattr("scenario_kit.shards.results._MAX_REPORT_BYTES", 10)
    assert machine.run() == ShardTally(3, 0, ())
    assert machine.result("a").verdict == Verdict.KIT_ERROR
    assert "cannot truncate a report" in machine.result("a").message


def test_preemption_keeps_results_and_is_not_counted(machine):
    with pytest.raises(KeyboardInterrupt):
        machine.run(b=KeyboardInterrupt())
    assert (machine.result("a").verdict, machine.result("b").state) == (Verdict.PASS, "Begun")
    assert machine.result("b").attempts == 0
    assert machine.store.read("nightly", "c") is None
    assert machine.run(b=Verdict.PASS) == ShardTally(3, 1, ())
    assert machine.asked == ["b", "c"]


def test_preemption_ends_a_run_also_without_an_api_server(machine):
    store = machine.store

    class Away:
        read = staticmethod(store.read)
        attempts = 0

        def write(self, stored):
            self.attempts += 1
            if self.attempts > 1:
                raise Unreachable("no route to host")
            store.write(stored)

    machine.store = Away()
    with pytest.raises(KeyboardInterrupt):
        machine.run(a=KeyboardInterrupt())
    assert store.read("nightly", "a").result.attempts == 1


class Killed(BaseException):
    """The end of a process by SIGKILL: nothing is written any more."""


def test_crashing_scenario_runs_last_next_time(machine):
    with pytest.raises(Killed):
        machine.run(a=Killed())
    assert (machine.result("a").state, machine.result("a").attempts) == ("Begun", 1)
    with pytest.raises(Killed):
        machine.run()
    assert machine.asked == ["b", "c", "a"]
    assert machine.result("c").verdict == Verdict.PASS


class Flaky:
    """A store behind an API server that is away for some requests."""

    def __init__(self, store, away):
        self.store, self.away = store, away

    def read(self, work, scenario):
        return self.store.read(work, scenario)

    def write(self, stored: StoredResult):
        if stored.result.state == "Ended" and self.away:
            self.away -= 1
            raise Unreachable("no route to host")
        self.store.write(stored)


@pytest.mark.parametrize(("away", "ends"), [(3, True), (100, False)])
def test_result_upload_retries_until_a_deadline(away, ends, machine):
    now = [0.0]
    polling = Polling(pause=lambda s: now.__setitem__(0, now[0] + s), clock=lambda: now[0], patience=60)
    machine.store = Flaky(machine.store, away)
    run = ShardRun(machine.work, machine.store, machine.validate, machine.lines.append, polling=polling)
    if ends:
        assert run.run(0).ended == 3
    else:
        with pytest.raises(Unreachable):
            run.run(0)
        assert machine.asked == ["a"]

"""Leader election: when a candidate may write the Lease, and that two never act at the same time."""

import math
import os
import random
import threading
from datetime import UTC, datetime

import pytest

from operators.leadership import elector as election
from operators.leadership.elector import LeaderElector, Timing, has_ended, keep_leading, name_process
from operators.leadership.lease import LEASE, LeaseRecord, Sighting, choose_action, hold, observe, read_record, release
from scenario_kit.errors import Conflict, Unreachable
from scenario_kit.testing import FakeCluster

AT = datetime(2026, 11, 26, 1, 2, 3, 45, tzinfo=UTC)
OURS, THEIRS = "a", "b"


def build_sighting(holder, since=100.0, seconds=15):
    return Sighting(record=LeaseRecord(holder=holder, seconds=seconds, version="7"), since=since)


@pytest.mark.parametrize(
    ("sighting", "now", "ended", "action"),
    [
        (None, 0.0, False, "Create"),
        (build_sighting(OURS), 100.0, False, "Renew"),
        (build_sighting(OURS), 999.0, False, "Renew"),
        (build_sighting(""), 100.0, False, "Acquire"),
        (build_sighting(THEIRS), 100.0, False, "Wait"),
        (build_sighting(THEIRS), 114.9, False, "Wait"),
        (build_sighting(THEIRS), 115.0, False, "Acquire"),
        (build_sighting(THEIRS, seconds=60), 115.0, False, "Wait"),
        (build_sighting(THEIRS), 100.0, True, "Acquire"),
    ],
)
def test_candidate_action_follows_lease_state(sighting, now, ended, action):
    assert choose_action(sighting, OURS, now, holder_ended=ended) == action


def test_lease_age_counts_from_last_observed_write():
    first = observe(None, build_sighting(THEIRS).record, 10.0)
    assert first.since == 10.0
    assert observe(first, first.record, 20.0) == first
    renewed = LeaseRecord(holder=THEIRS, version="8")
    assert observe(first, renewed, 20.0) == Sighting(record=renewed, since=20.0)


def test_acquiring_counts_a_transition_and_renewing_does_not():
    theirs = LeaseRecord(holder=THEIRS, acquired="x", renewed="x", transitions=3, version="7")
    taken = hold(theirs, OURS, AT)
    assert (taken.holder, taken.transitions) == (OURS, 4)
    assert taken.acquired == taken.renewed == "2026-11-26T01:02:03.000045Z"
    renewed = hold(taken, OURS, AT.replace(minute=5))
    assert (renewed.acquired, renewed.transitions) == (taken.acquired, 4)
    assert hold(LeaseRecord(), OURS, AT).transitions == 0
    assert release(taken, AT).holder == ""


class Machine:
    """A clock shared by candidates; a pause advances it."""

    def __init__(self):
        self.now = 0.0

    def timing(self):
        return Timing(lambda: self.now, lambda: AT, self.pause)

    def pause(self, event, seconds):
        self.now += seconds
        return event.is_set()


def start(kind):
    """An API server with the operator's namespace."""
    return kind([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LEASE.namespace}}])


def read_holder(cluster):
    return read_record(cluster.get(LEASE)).holder


def test_second_candidate_waits_a_full_lease_after_last_renewal():
    cluster, machine = start(FakeCluster), Machine()
    assert LeaderElector(cluster, "pod-1", machine.timing()).acquire()
    assert LeaderElector(cluster, "pod-2", machine.timing()).acquire()
    assert read_holder(cluster) == "pod-2"
    assert 15 <= machine.now <= 17


def test_released_lease_is_acquired_immediately():
    cluster, machine = start(FakeCluster), Machine()
    first = LeaderElector(cluster, "pod-1", machine.timing())
    first.acquire()
    first.stop()
    assert first.renew()
    assert read_holder(cluster) == ""
    assert LeaderElector(cluster, "pod-2", machine.timing()).acquire()
    assert machine.now <= 2


def test_leader_exits_when_lease_is_taken():
    cluster, machine = start(FakeCluster), Machine()
    first = LeaderElector(cluster, "pod-1", machine.timing())
    first.acquire()
    cluster.patch(LEASE, {"spec": {"holderIdentity": "pod-2"}})
    codes = []
    keep_leading(first, codes.append).join(10)
    assert codes == [election.LOST]
    assert read_holder(cluster) == "pod-2"


class Silent(FakeCluster):
    """An API server that stops to answer."""

    silent = False

    def get(self, ref):
        if self.silent:
            raise Unreachable("no answer")
        return super().get(ref)


def test_leader_that_cannot_renew_stops_before_expiry():
    cluster, machine = start(Silent), Machine()
    first = LeaderElector(cluster, "pod-1", machine.timing())
    first.acquire()
    cluster.silent = True
    assert not first.renew()
    assert 10 <= machine.now < 15


def test_lab_leader_survives_outage_and_exits_when_lease_is_taken():
    cluster, machine = start(Silent), Machine()
    pauses = []

    def pause(event, seconds):
        machine.now += seconds
        pauses.append(seconds)
        cluster.silent = len(pauses) < 100
        if len(pauses) == 101:
            cluster.patch(LEASE, {"spec": {"holderIdentity": "pod-2"}})
        return event.is_set()

    first = LeaderElector(cluster, "pod-1", Timing(lambda: machine.now, lambda: AT, pause), patience=math.inf)
    first.acquire()
    assert not first.renew()
    assert len(pauses) == 101
    assert read_holder(cluster) == "pod-2"


def test_brief_outage_keeps_the_leader():
    cluster, machine = start(Silent), Machine()
    first = LeaderElector(cluster, "pod-1", machine.timing())
    first.acquire()
    pauses = iter([True, True, True, False, False])

    def pause(event, seconds):
        cluster.silent = next(pauses, None) or False
        machine.now += seconds
        if machine.now > 10:
            first.stop()
        return event.is_set()

    first._timing = Timing(lambda: machine.now, lambda: AT, pause)
    assert first.renew()


class Contested(FakeCluster):
    """Another candidate writes between every read and write of ours."""

    def patch(self, ref, patch, type="Merge", **options):
        super().patch(ref, {"metadata": {"labels": {"n": str(random.random())}}})
        return super().patch(ref, patch, type, **options)


def test_lost_lease_write_is_not_an_acquisition():
    cluster, machine = start(Contested), Machine()
    LeaderElector(cluster, "pod-1", machine.timing()).acquire()
    second = LeaderElector(cluster, "pod-2", machine.timing())
    machine.now += 100
    with pytest.raises(Conflict):
        cluster.patch(LEASE, {"metadata": {"resourceVersion": cluster.get(LEASE)["metadata"]["resourceVersion"]}})
    assert not second._try()
    machine.now += 100
    assert not second._try()
    assert read_holder(cluster) == "pod-1"


def test_api_error_is_logged_and_retried(caplog):
    machine = Machine()
    candidate = LeaderElector(FakeCluster(), "pod-1", machine.timing())
    assert not candidate._try()
    assert "namespace" in caplog.text.lower()


def test_concurrent_candidates_elect_one_leader():
    cluster = start(FakeCluster)
    leaders, barrier = [], threading.Barrier(8)

    def stand(name):
        candidate = LeaderElector(cluster, name)
        barrier.wait()
        if candidate._try():
            leaders.append(name)

    threads = [threading.Thread(target=stand, args=(f"pod-{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaders == [read_holder(cluster)]


def test_dead_local_process_holds_no_lease():
    host, _, process = name_process().partition("_")
    assert not has_ended(name_process())
    assert has_ended(f"{host}_{os.getpid()}_1")
    assert has_ended(f"{host}_{2**22 + 1}_{process.partition('_')[2]}")
    assert not has_ended(f"other-{host}_1_1")
    assert not has_ended("something-else")

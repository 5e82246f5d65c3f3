"""A virtual world: time moves only in a wait, tick by tick, and every interruption is taken up again."""

from __future__ import annotations

import time

import pytest

from scenario_kit.errors import MetricsError
from scenario_kit.lab.worlds import LabWorld, VirtualWorld, WaitResult
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from scenario_kit.model.runtime.process import Exit
from tests.lab.worlds.fake_lab import EPOCH, TICKS, FakeLab, spec


@pytest.fixture
def lab() -> FakeLab:
    lab = FakeLab()
    lab.begin()
    return lab


@pytest.fixture
def world(lab: FakeLab) -> LabWorld:
    return lab.worlds.open(spec())


def wait(world: LabWorld, seconds: float, *, stride: float | None = None, wall: float = 5.0) -> WaitResult:
    return world.wait(EPOCH + seconds, stride=stride, seconds=wall, should_continue=lambda: True)


def times(lab: FakeLab) -> list[float]:
    return [at - EPOCH for at, _ in lab.sink.written]


def test_virtual_world_starts_at_epoch_and_stands_still(lab: FakeLab, world: LabWorld) -> None:
    assert isinstance(world, VirtualWorld)
    assert world.now == EPOCH
    assert lab.worlds.read_clock("shop") == EPOCH
    assert lab.worlds.get_processes("shop") is lab.twin


@pytest.mark.parametrize(
    ("until", "stride", "reached"),
    [(0, None, 0), (-60, None, 0), (15, None, 15), (40, None, 45), (60, 15, 15), (60, 20, 30), (10, 60, 15)],
)
def test_wait_ends_on_the_grid(
    until: float, stride: float | None, reached: float, lab: FakeLab, world: LabWorld
) -> None:
    assert wait(world, until, stride=stride) == WaitResult(EPOCH + reached, True)
    assert times(lab) == [float(t) for t in range(15, int(reached) + 1, 15)]
    assert lab.twin.steps == [(EPOCH + t, 15) for t in range(15, int(reached) + 1, 15)]


def test_repeated_wait_is_idempotent(lab: FakeLab, world: LabWorld) -> None:
    wait(world, 60)
    assert wait(world, 60) == WaitResult(EPOCH + 60, True)
    assert len(lab.twin.steps) == 4


def test_samples_are_complete_and_in_order(lab: FakeLab, world: LabWorld) -> None:
    wait(world, 30)
    assert [samples[TICKS] for _, samples in lab.sink.written] == [1.0, 2.0]
    assert any(name.startswith("kube_namespace") for (name, _) in lab.sink.written[0][1])
    assert [line.t for line in lab.nodes.lines] == [EPOCH + 15, EPOCH + 30]


def test_kubelet_runs_at_its_due_second(lab: FakeLab, world: LabWorld) -> None:
    lab.nodes.due = [EPOCH + 3.2, EPOCH + 3.9, EPOCH + 14.9, EPOCH + 20]
    wait(world, 15)
    assert sorted({t - EPOCH for t in lab.nodes.ran}) == [0, 4, 15]
    wait(world, 30)
    assert max(lab.nodes.ran) == EPOCH + 30
    assert EPOCH + 20 in lab.nodes.ran


def test_always_due_kubelet_does_not_stop_time(lab: FakeLab, world: LabWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.nodes, "next_wakeup", lambda _: world.now)
    assert wait(world, 15).now == EPOCH + 15


def test_kubelet_sees_process_exits_before_samples(lab: FakeLab, world: LabWorld) -> None:
    end = Exit("uid", "c", 137, "OOMKilled")
    lab.twin.exits[EPOCH + 15] = [end]
    wait(world, 15)
    assert lab.nodes.ended == [(end, EPOCH + 15)]
    assert lab.nodes.ran[-1] == EPOCH + 15


def test_unsettled_cluster_stops_time_with_reason(lab: FakeLab, world: LabWorld) -> None:
    lab.unsettle()
    waited = wait(world, 60, wall=0.0)
    assert waited == WaitResult(EPOCH, False, "ReplicaSet/rs: generation 1 is not observed, but 0")
    lab.settle()
    assert wait(world, 60) == WaitResult(EPOCH + 60, True)


def test_reads_wait_for_events_and_logs(lab: FakeLab, world: LabWorld) -> None:
    lab.nodes.written = False
    assert wait(world, 60) == WaitResult(EPOCH + 60, False, "the kubelet's events are not written yet")
    lab.nodes.written = True
    assert wait(world, 60) == WaitResult(EPOCH + 60, True)


def test_interrupted_tick_runs_exactly_once(lab: FakeLab, world: LabWorld) -> None:
    lab.twin.exits[EPOCH + 15] = [Exit("uid", "c", 1, "Error")]
    lab.nodes.due = [EPOCH + 4]
    disturbed: set[tuple[float, int]] = set()

    def disturb(now: float) -> int:
        occasion = (now, len(lab.nodes.ended))
        if occasion in disturbed:
            return 0
        disturbed.add(occasion)
        lab.unsettle()
        return 1

    lab.nodes.on_run = disturb
    stops = []
    while world.now < EPOCH + 30 or not lab.quiet:
        lab.settle()
        waited = world.wait(EPOCH + 30, stride=None, seconds=60.0, should_continue=lambda: lab.quiet)
        stops.append((waited.now - EPOCH, waited.settled))
    assert stops == [(0, False), (4, False), (15, False), (15, False), (30, False), (30, True)]
    assert times(lab) == [15.0, 30.0]
    assert lab.twin.steps == [(EPOCH + 15, 15), (EPOCH + 30, 15)]
    assert [samples[TICKS] for _, samples in lab.sink.written] == [1.0, 2.0]


def test_departed_caller_stops_time_at_the_next_tick(lab: FakeLab, world: LabWorld) -> None:
    answers = iter([True, True, True])
    waited = world.wait(EPOCH + 600, stride=None, seconds=60.0, should_continue=lambda: next(answers, False))
    assert waited.now < EPOCH + 600
    assert times(lab)[-1] == waited.now - EPOCH


def test_rejected_samples_are_written_by_the_next_wait(lab: FakeLab, world: LabWorld) -> None:
    lab.sink.refuse = MetricsError("Prometheus is gone")
    with pytest.raises(MetricsError):
        wait(world, 15)
    assert (world.now, world.stored) == (EPOCH + 15, EPOCH)
    lab.sink.refuse = None
    wait(world, 30)
    assert (world.now, world.stored) == (EPOCH + 30, EPOCH + 30)
    assert times(lab) == [15.0, 30.0]
    assert [samples[TICKS] for _, samples in lab.sink.written] == [1.0, 2.0]


def test_closed_world_ends_its_series(lab: FakeLab, world: LabWorld) -> None:
    wait(world, 15)
    assert lab.worlds.close("t1")
    assert lab.sink.written[-1] == (EPOCH + 30, {})
    assert lab.sink.closed
    assert not wait(world, 60).settled
    assert not lab.worlds.close("t1")


def test_namespace_of_closed_world_continues_from_its_time(lab: FakeLab, world: LabWorld) -> None:
    wait(world, 30)
    lab.worlds.close("t1")
    assert EPOCH + 30 <= lab.worlds.read_clock("shop") < EPOCH + 3600


def test_rollout_deadline_wakes_its_controller(lab: FakeLab, world: LabWorld) -> None:
    progressing = {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated", "lastUpdateTime": "2026"}
    annotations = {"deployment.kubernetes.io/revision": "1"}
    status = {"observedGeneration": 1, "replicas": 0, "updatedReplicas": 0, "conditions": [progressing]}
    fields = {"spec": {"replicas": 0, "progressDeadlineSeconds": 30}, "status": status}
    owner = {"kind": "Deployment", "name": "web", "uid": "Deployment-web", "controller": True}
    lab.put("Deployment", "web", metadata={"annotations": annotations}, **fields)
    metadata = {"annotations": annotations, "ownerReferences": [owner]}
    lab.put("ReplicaSet", "web-1", metadata=metadata, spec={"replicas": 0}, status={"observedGeneration": 1})
    lab.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    lab.cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": fields["spec"],
            "status": status,
        }
    )
    waited = wait(world, 120, wall=0.5)
    assert not waited.settled
    assert waited.now == EPOCH + 60  # the first tick after 30 s without progress, counted from the first tick
    assert "progress deadline has passed" in waited.reason
    (reported,) = lab.cluster.list("Deployment", "shop", group="apps")
    assert reported["status"]["conditions"][0]["lastUpdateTime"] > "2026-01-01T00:00:00Z"
    concluded = {**status, "conditions": [{**progressing, "status": "False", "reason": "ProgressDeadlineExceeded"}]}
    lab.put("Deployment", "web", metadata={"annotations": annotations}, spec=fields["spec"], status=concluded)
    assert wait(world, 120) == WaitResult(EPOCH + 120, True)


def test_chaos_timers_follow_virtual_time(lab: FakeLab, world: LabWorld) -> None:
    """Expired objects are renewed at the beginning of the tick in which they are due."""
    created = {"creationTimestamp": format_timestamp(time.time() - 1)}
    lab.put("Schedule", "often", metadata=created, spec={"schedule": "@every 60s"})
    renewed = []
    for end in range(15, 136, 15):
        wait(world, end, wall=0.5)
        renewed += [(end, name) for name, _ in lab.bases]
        lab.bases.clear()
        lab.put("Schedule", "often", metadata=created, spec={"schedule": "@every 60s"}, status={})
    assert renewed == [(75, "often"), (135, "often")]


def test_wall_clock_starts_no_chaos(lab: FakeLab, world: LabWorld) -> None:
    created = {"creationTimestamp": format_timestamp(time.time() - 50)}
    lab.put("Schedule", "often", metadata=created, spec={"schedule": "@every 60s"})
    assert isinstance(world, VirtualWorld)
    world.renew_timers()
    ((name, base),) = lab.bases
    assert (name, base) == ("often", pytest.approx(time.time(), abs=5.0))

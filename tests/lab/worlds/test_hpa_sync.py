"""Autoscalers in virtual time: when a world waits for their controller, and the window it is given to scale down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scenario_kit.lab.worlds.hpa_sync import TickMemory
from tests.lab.server.test_hpa_pacing import AGENT, CPU
from tests.lab.worlds.fake_lab import EPOCH, FakeLab, spec


def hpa(reason: str, uid: str = "u") -> dict[str, Any]:
    return {
        "metadata": {"uid": uid},
        "status": {"conditions": [{"type": "AbleToScale", "status": "True", "reason": reason}]},
    }


def test_overdue_counts_on_virtual_time() -> None:
    memory = TickMemory()
    held = hpa("ScaleDownStabilized")
    assert [bool(memory.list_overdue([held], float(t))) for t in range(0, 330, 15)] == [False] * 20 + [True] * 2


def test_ready_for_new_scale_restarts_stabilization() -> None:
    memory = TickMemory()
    assert not memory.list_overdue([hpa("ScaleDownStabilized")], 0.0)
    assert not memory.list_overdue([hpa("ReadyForNewScale")], 285.0)
    assert not memory.list_overdue([hpa("ScaleDownStabilized")], 300.0)
    assert memory.list_overdue([hpa("ScaleDownStabilized")], 600.0)


def test_window_starts_at_the_first_relevant_tick() -> None:
    memory = TickMemory()
    for n in range(30):
        memory.record_tick(n * 15.0, 1000.0 + n * 0.3)  # a tick takes 0.3 s by the wall clock
    # At 435 s the window begins after the tick of 135 s (n = 9); the one of 150 s counts: told at 1003.0.
    seconds, at = memory.compute_window(435.0, 1008.9)
    assert (seconds, round(at, 2)) == (6, 1008.98)
    seconds, at = memory.compute_window(435.0, 1009.1)
    assert (seconds, round(at, 2)) == (7, 1009.98)


def add_autoscaler(lab: FakeLab, **spec_: Any) -> None:
    """An autoscaler of a settled ReplicaSet whose one pod is rejected."""
    lab.begin()
    failing = {"conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]}
    labels = {"matchLabels": {"app": "web"}}
    lab.put("ReplicaSet", "web", spec={"replicas": 1, "selector": labels}, status={"observedGeneration": 1, **failing})
    target = {"kind": "ReplicaSet", "name": "web"}
    bounds = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3}
    lab.put("HorizontalPodAutoscaler", "web", spec={**bounds, "metrics": [CPU], **spec_}, status={})


def test_world_advances_only_after_controller_sync() -> None:
    lab = FakeLab()
    add_autoscaler(lab)
    world = lab.worlds.open(spec())

    def wait(seconds: float) -> Any:
        return world.wait(EPOCH + 30, stride=None, seconds=seconds, should_continue=lambda: True)

    waited = wait(0.2)
    assert (waited.now, waited.settled) == (EPOCH + 15, False)
    assert "its controller has not processed the latest metrics" in waited.reason
    with ThreadPoolExecutor(1) as pool:
        controller = pool.submit(lambda: [lab.metrics_gate.pace("shop", "app=web", AGENT) for _ in range(2)])
        assert wait(10.0).settled
        controller.result(5)  # the second look was let go by the second tick
    assert [t for t, _ in lab.twin.steps] == [EPOCH + 15, EPOCH + 30]


def test_custom_behavior_needs_the_wall_clock() -> None:
    lab = FakeLab()
    add_autoscaler(lab, behavior={"scaleUp": {"stabilizationWindowSeconds": 60}})
    waited = lab.worlds.open(spec()).wait(EPOCH + 30, stride=None, seconds=0.2, should_continue=lambda: True)
    assert (waited.now, waited.settled) == (EPOCH + 15, False)
    assert "run this trial on the wall clock" in waited.reason

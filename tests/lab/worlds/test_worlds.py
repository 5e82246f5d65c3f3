"""The registry: which world a trial and a namespace have, and what drives those in real time."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import KitError, Unreachable
from scenario_kit.lab.worlds import SampleHorizon, WallWorld, registry
from scenario_kit.lab.worlds.registry import UnsupportedApp, WorldConflict
from scenario_kit.lab.worlds.sample_horizon import GAP
from scenario_kit.lab.worlds.world import TICK_SECONDS
from tests.lab.worlds.fake_lab import APP, EPOCH, TICKS, FakeLab, spec


@pytest.fixture
def lab() -> FakeLab:
    lab = FakeLab()
    lab.begin()
    return lab


def test_open_is_idempotent(lab: FakeLab) -> None:
    assert lab.worlds.open(spec()) is lab.worlds.open(spec())
    assert [w.spec.trial for w in lab.worlds.all()] == ["t1"]


@pytest.mark.parametrize(
    "other",
    [{"seed": 2}, {"mode": "Wall"}, {"namespace": "else"}, {"assumptions": {"x": 1.0}}, {"trial": "t2"}],
)
def test_conflicting_world_is_refused(other: dict[str, Any], lab: FakeLab) -> None:
    lab.worlds.open(spec())
    with pytest.raises(WorldConflict):
        lab.worlds.open(spec(**other))


def test_namespace_is_free_after_its_world_closed(lab: FakeLab) -> None:
    lab.worlds.open(spec())
    lab.worlds.close("t1")
    assert lab.worlds.open(spec("t2")).now == EPOCH


def test_world_owns_every_namespace_of_its_app(lab: FakeLab) -> None:
    world = lab.worlds.open(spec(others=("shop-stores",)))

    assert lab.worlds.get_by_namespace("shop-stores") is world
    assert lab.worlds.read_clock("shop-stores") == world.now
    with pytest.raises(WorldConflict):
        lab.worlds.open(spec("t2", namespace="shop-stores"))

    lab.worlds.close("t1")
    assert lab.worlds.get_by_namespace("shop-stores") is None


def test_view_contains_objects_of_every_namespace(lab: FakeLab) -> None:
    metadata = {"name": "db", "namespace": "shop-stores", "uid": "u", "resourceVersion": "5000"}
    lab.store.put("Service", {"kind": "Service", "metadata": metadata, "spec": {}})
    view = lab.worlds.open(spec(others=("shop-stores",))).view()

    assert view.kind("Service") == {}
    assert list(view.within("shop-stores").kind("Service")) == ["db"]
    assert [o["metadata"]["name"] for o in view.list_all("Service")] == ["db"]
    assert view.within("elsewhere").kind("Service") == {}


def test_namespace_time_never_repeats(lab: FakeLab) -> None:
    first = lab.worlds.open(spec())
    first.wait(EPOCH + 30, stride=None, seconds=5.0, should_continue=lambda: True)
    lab.worlds.close("t1")
    second = lab.worlds.open(spec("t2"))
    assert second.now >= EPOCH + 30 + GAP
    assert (second.now - EPOCH) % TICK_SECONDS == 0


def test_sample_horizon_survives_restart(tmp_path: Path) -> None:
    file = tmp_path / "worlds.json"
    SampleHorizon(file).record("shop", EPOCH + 30)
    assert SampleHorizon(file).compute_start("shop", EPOCH) >= EPOCH + 30 + GAP
    assert SampleHorizon(file).compute_start("other", EPOCH) == EPOCH


def test_app_refused_by_the_twin_is_unsupported(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("shop 1 has no twin")

    monkeypatch.setattr(registry, "VirtualWorld", refuse)
    with pytest.raises(UnsupportedApp, match="has no twin"):
        lab.worlds.open(spec())
    assert lab.worlds.all() == []


def test_namespaces_of_no_world_live_in_the_present(lab: FakeLab) -> None:
    before = time.time()
    assert before <= lab.worlds.read_clock("default") <= time.time()
    assert lab.worlds.get_processes("default").image_exists("anything")


def test_wall_world_exposes_values_of_last_tick(lab: FakeLab) -> None:
    world = lab.worlds.open(spec(mode="Wall"))
    assert isinstance(world, WallWorld)
    assert TICKS not in lab.worlds.collect_exposed()
    world.tick(1500.0)
    assert lab.worlds.collect_exposed()[TICKS] == 1.0
    assert lab.twin.steps == [(1500.0, 15)]
    lab.worlds.close("t1")
    assert TICKS not in lab.worlds.collect_exposed()


@pytest.mark.parametrize("mode", ["Wall", "Virtual"])
def test_ended_world_is_garbage_collected(mode: str, lab: FakeLab) -> None:
    lab.worlds.open(spec(mode=mode)).wait(EPOCH + 60, stride=None, seconds=0.1, should_continue=lambda: True)
    lab.worlds.tick_walls(1500.0)
    world = weakref.ref(lab.worlds.all()[0])
    lab.worlds.collect_exposed()
    lab.worlds.close("t1")
    gc.collect()
    assert world() is None


def test_virtual_worlds_are_not_exposed(lab: FakeLab) -> None:
    lab.worlds.open(spec()).wait(EPOCH + 15, stride=None, seconds=5.0, should_continue=lambda: True)
    assert TICKS not in lab.worlds.collect_exposed()


def test_wall_world_wait_settles_without_sleeping_for_the_past(lab: FakeLab) -> None:
    world = lab.worlds.open(spec(mode="Wall"))
    waited = world.wait(0.0, stride=None, seconds=5.0, should_continue=lambda: True)
    assert waited.settled
    assert abs(waited.now - time.time()) < 60
    lab.unsettle()
    waited = world.wait(0.0, stride=None, seconds=0.0, should_continue=lambda: True)
    assert not waited.settled
    assert "ReplicaSet/rs" in waited.reason


def run_until(lab: FakeLab, calls: int) -> list[float]:
    """Run the kubelet's thread until it has run that often."""
    stop = threading.Event()

    def on_run(now: float) -> int:
        if len(lab.nodes.ran) >= calls:
            stop.set()
        return 0

    lab.nodes.on_run = on_run
    lab.worlds.run_nodes(stop)
    return lab.nodes.ran


def test_kubelet_runs_for_wall_worlds_and_for_pods_of_no_world(lab: FakeLab) -> None:
    lab.put("Pod", "p", spec={}, status={})
    before = time.time()
    assert before <= run_until(lab, 1)[-1] <= time.time()
    lab.worlds.open(spec(mode="Wall"))
    seen = len(lab.twin.observed)
    run_until(lab, len(lab.nodes.ran) + 1)
    assert len(lab.twin.observed) > seen


def test_kubelet_thread_skips_virtual_worlds(lab: FakeLab) -> None:
    lab.put("Pod", "p", spec={}, status={})
    lab.store.put("Pod", {"metadata": {"name": "q", "namespace": "default", "uid": "q", "resourceVersion": "9999"}})
    lab.worlds.open(spec())
    assert all(now > EPOCH + 1e6 for now in run_until(lab, 2))


def test_short_outage_of_the_api_server_is_survived(lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_RETRY_SECONDS", 0.0)
    lab.put("Pod", "p", spec={}, status={})
    stop = threading.Event()

    def on_run(_: float) -> int:
        if len(lab.nodes.ran) < 3:
            raise Unreachable("connection refused")
        stop.set()
        return 0

    lab.nodes.on_run = on_run
    lab.worlds.run_nodes(stop)
    assert len(lab.nodes.ran) == 3


@pytest.mark.parametrize("error", [Unreachable("gone"), KitError("a bug")])
def test_lasting_error_ends_the_kubelet_thread(error: Exception, lab: FakeLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(registry, "_LONGEST_OUTAGE_SECONDS", 0.0)
    lab.put("Pod", "p", spec={}, status={})

    def on_run(_: float) -> int:
        raise error

    lab.nodes.on_run = on_run
    with pytest.raises(type(error)):
        lab.worlds.run_nodes(threading.Event())


def test_specs_are_values(lab: FakeLab) -> None:
    document = spec().to_json()
    assert document["app"] == APP.to_json()
    assert type(spec()).from_json(document) == spec()

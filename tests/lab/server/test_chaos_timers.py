"""Starts of Schedules and ends of experiments on a trial's clock, which a manager acts on by the wall clock."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lab.settle.chaos_lengths import is_expired, read_length
from scenario_kit.lab.settle.chaos_timers import ChaosTimers
from scenario_kit.lab.settle.checks import list_unsettled
from scenario_kit.model.chaos.kinds import read_period
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from tests.lab.server.cluster_objects import facts, meta, world

WALL = 1_800_000_000.0
PAUSED = {"annotations": {"experiment.chaos-mesh.org/pause": "true"}}


def schedule(text: str = "@every 600s", *, created: float = WALL, last: float | None = None, **more: Any) -> Any:
    spec = {"schedule": text, "type": "NetworkChaos", "concurrencyPolicy": more.pop("policy", "Forbid")}
    status = {"active": [{"name": name} for name in more.pop("active", ())]}
    if last is not None:
        status["time"] = format_timestamp(last)  # type: ignore[assignment]
    metadata = meta("often", creationTimestamp=format_timestamp(created), **more)
    return {"kind": "Schedule", "metadata": metadata, "spec": spec, "status": status}


def experiment(name: str, *phases: str, created: float = WALL, owner: Any = None, **more: Any) -> Any:
    spec = {"action": more.pop("action", "delay"), "duration": more.pop("duration", "200s")}
    injected = bool(phases) and all(phase == "Injected" for phase in phases)
    conditions = [
        {"type": "AllInjected", "status": str(injected)},
        {"type": "AllRecovered", "status": str(not injected)},
    ]
    status = {"conditions": conditions, "experiment": {"containerRecords": [{"phase": phase} for phase in phases]}}
    if owner is not None:
        more["ownerReferences"] = [{"kind": "Schedule", "uid": owner["metadata"]["uid"], "controller": True}]
    metadata = meta(name, creationTimestamp=format_timestamp(created), **more)
    return {"kind": "NetworkChaos", "metadata": metadata, "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("@every 600s", 600.0),
        ("@every 10m", 600.0),
        ("@every 1h30m", 5400.0),
        ("@every  90s ", 90.0),
        ("@every 1.9s", 1.0),
        ("@every 10ms", 1.0),
        ("*/10 * * * *", None),
        ("@hourly", None),
        ("@every", None),
        ("@every soon", None),
        ("", None),
    ],
)
def test_periods(text: str, seconds: float | None) -> None:
    assert read_period(schedule(text)) == seconds


@pytest.mark.parametrize(
    ("obj", "seconds"),
    [
        (schedule(), 600.0),
        (experiment("e"), 200.0),
        (experiment("e", duration="3m20s"), 200.0),
        (experiment("e", duration=""), None),
        (experiment("e", duration=None), None),
        (experiment("e", duration="a while"), None),
        (experiment("e", action="pod-kill"), None),
    ],
)
def test_lengths(obj: Any, seconds: float | None) -> None:
    assert read_length(obj) == seconds


@pytest.mark.parametrize(
    ("obj", "after", "expired"),
    [
        (schedule(), 599, False),
        (schedule(), 600, True),
        (schedule(last=WALL + 300), 600, False),
        (schedule(last=WALL + 300), 900, True),
        (schedule("0 * * * *"), 99999, False),
        (experiment("e"), 199, False),
        (experiment("e"), 200, True),
        (experiment("e", duration=""), 99999, False),
    ],
)
def test_expiry_depends_on_age_and_schedule(obj: Any, after: float, expired: bool) -> None:
    assert is_expired(obj, WALL + after) is expired


class Manager:
    """A manager's objects, and the times that were set."""

    def __init__(self, *objects: Any) -> None:
        self.objects = list(objects)
        self.renewed: list[tuple[str, float]] = []
        self.timers = ChaosTimers(self.set_base)

    def set_base(self, obj: Any, base: float) -> None:
        self.renewed.append((obj["metadata"]["name"], base - WALL))
        if obj["kind"] == "Schedule":
            obj["status"]["time"] = format_timestamp(base)
        else:
            obj["metadata"]["creationTimestamp"] = format_timestamp(base)

    def tick(self, start: float, wall: float = 0.0) -> list[tuple[str, float]]:
        """Return the objects expired at the beginning of a tick; the manager then acts on them."""
        self.renewed = []
        self.timers.observe(self.objects, start)
        if self.timers.expire(start + 15.0, WALL + wall):
            for obj in self.objects:
                if obj["kind"] == "Schedule" and is_expired(obj, WALL + wall):
                    obj["status"]["time"] = format_timestamp(WALL + wall)
            self.timers.observe(self.objects, start)
            self.timers.restart(WALL + wall)
        return self.renewed


def test_schedule_starts_once_per_virtual_period() -> None:
    manager = Manager(schedule("@every 60s"))
    starts = [start for start in range(0, 301, 15) if manager.tick(float(start), wall=start / 50)]
    assert starts == [60, 120, 180, 240, 300]


def test_due_objects_get_an_earlier_timestamp() -> None:
    manager = Manager(schedule("@every 60s"), experiment("e", "Injected"))
    assert [manager.tick(float(start), wall=5.0) for start in range(0, 226, 15)] == [
        *[[]] * 4, [("often", 5.0 - 62.0)], *[[]] * 3, [("often", 5.0 - 62.0)], *[[]] * 3, [("often", 5.0 - 62.0)],
        [("e", 5.0 - 202.0)], *[[]] * 2,
    ]  # fmt: skip


def test_start_between_ticks_happens_at_tick_begin() -> None:
    manager = Manager(schedule("@every 50s"))
    assert [start for start in range(0, 200, 15) if manager.tick(float(start))] == [45, 90, 150, 195]


def test_resumed_schedule_makes_up_one_start() -> None:
    often = schedule("@every 60s")
    manager = Manager(often)
    manager.tick(0.0)
    often["metadata"] |= PAUSED
    assert not any(manager.tick(float(start)) for start in range(15, 200, 15))
    del often["metadata"]["annotations"]
    assert [start for start in range(210, 320, 15) if manager.tick(float(start))] == [210, 240, 300]


def test_forbidden_start_is_skipped() -> None:
    often = schedule("@every 60s")
    timers, offsets = ChaosTimers(lambda _, base: offsets.append(base - WALL)), []  # type: ignore[var-annotated]
    timers.observe([often], 0.0)
    assert timers.expire(75.0, WALL)
    often["status"]["time"] = format_timestamp(WALL - 62.0)  # an earlier experiment still runs
    timers.observe([often], 60.0)
    timers.restart(WALL)
    assert offsets == [-62.0, 0.0]


def test_pending_manager_action_is_requested_again() -> None:
    often = schedule("@every 60s")
    timers = ChaosTimers(lambda _, __: None)
    timers.observe([often], 0.0)
    assert not timers.expire(60.0, WALL)
    assert timers.expire(75.0, WALL)
    assert timers.expire(75.0, WALL), "the wait was interrupted"
    timers.restart(WALL)
    assert not timers.expire(75.0, WALL)


def test_deleted_object_is_forgotten() -> None:
    often = schedule("@every 60s")
    manager = Manager(often)
    manager.tick(0.0)
    often["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert not any(manager.tick(float(start)) for start in range(15, 200, 15))


@pytest.mark.parametrize(
    ("wall", "renewed"), [(29, []), (31, [("often", 31.0)]), (99, [("often", 99.0)]), (101, [("often", 101.0)])]
)
def test_wall_time_expires_nothing(wall: float, renewed: list[tuple[str, float]]) -> None:
    manager = Manager(schedule("@every 60s"))
    manager.timers.observe(manager.objects, 0.0)
    manager.timers.renew(WALL + wall)
    assert manager.renewed == renewed
    manager.renewed = []
    manager.timers.renew(WALL + wall)
    assert manager.renewed == []
    assert not is_expired(manager.objects[0], WALL + wall)


def test_ended_experiment_is_not_renewed() -> None:
    manager = Manager(experiment("e", "Injected"))
    manager.timers.observe(manager.objects, 0.0)
    manager.timers.expire(215.0, WALL)
    assert manager.renewed == [("e", -202.0)]
    manager.timers.renew(WALL + 1000.0)
    assert manager.renewed == [("e", -202.0)]


OFTEN = schedule(active=["e"])
DUE = schedule(last=WALL - 600, active=["e"])


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([schedule()], ""),
        ([schedule("*/5 * * * *")], "can only play '@every'"),
        ([schedule(deletionTimestamp="2026-01-01T00:00:00Z")], "is being deleted"),
        ([schedule(last=WALL - 600)], "has not started its experiment yet"),
        ([schedule(last=WALL - 600, **PAUSED)], ""),
        ([OFTEN, experiment("e", "Injected", owner=OFTEN)], ""),
        ([schedule(), experiment("e", "Injected", owner=OFTEN)], "does not list its experiments yet"),
        ([OFTEN], "does not list its experiments yet"),
        ([experiment("e", "Injected", owner=OFTEN)], "not collected yet"),
        ([DUE, experiment("e", "Injected", owner=DUE)], ""),  # forbidden: the earlier one runs
        ([DUE, experiment("e", "Not Injected", created=WALL - 200, owner=DUE)], "has not started"),
        ([experiment("e", "Not Injected")], "expected 'Injected'"),
        ([experiment("e", "Injected", created=WALL - 200)], "expected 'Not Injected'"),
        ([experiment("e", "Not Injected", created=WALL - 200)], ""),
    ],
)
def test_pending_manager_work_is_unsettled(objects: list[Any], reason: str) -> None:
    found = list_unsettled(facts(world(), experiments=objects, wall=WALL))
    assert [r.code for r in found] == (["Chaos"] if reason else [])
    assert all(reason in r.text for r in found)


@pytest.mark.parametrize("obj", [schedule(last=WALL - 600), OFTEN], ids=["not started", "not listed"])
def test_idle_schedule_settles_after_a_timeout(obj: Any) -> None:
    for quiet, settled in ((29.0, False), (31.0, True)):
        found = facts(world(), experiments=[obj], wall=WALL, quiet=lambda _, q=quiet: q)  # type: ignore[misc]
        assert (list_unsettled(found) == []) is settled


def test_concurrent_experiment_starts_if_allowed() -> None:
    allowed = schedule(last=WALL - 600, active=["e"], policy="Allow")
    found = facts(world(), experiments=[allowed, experiment("e", "Injected", owner=allowed)], wall=WALL)
    assert [r.text for r in list_unsettled(found)] == ["has not started its experiment yet"]


@pytest.mark.parametrize("policy", ["Forbid", "Allow"])
def test_start_is_unrecorded_until_the_manager_writes_its_time(policy: str) -> None:
    """Written later, it would replace the time from which the next start counts."""
    often = schedule("@every 60s", policy=policy)
    manager = Manager(often, experiment("before", "Not Injected", owner=often))
    timers = manager.timers
    timers.observe(manager.objects, 0.0)
    assert timers.expire(75.0, WALL + 1)
    assert not timers.has_unrecorded_start(WALL + 1), "nothing has started"

    manager.objects.append(experiment("now", owner=often))
    timers.observe(manager.objects, 60.0)
    assert timers.has_unrecorded_start(WALL + 1)

    often["status"]["time"] = format_timestamp(WALL + 1)
    timers.observe(manager.objects, 60.0)
    assert not timers.has_unrecorded_start(WALL + 1)
    timers.restart(WALL + 1)
    assert manager.renewed[-1] == ("often", -61.0), "the manager's own time stands"


def test_start_that_is_forbidden_is_not_waited_for() -> None:
    often = schedule("@every 60s", active=["before"])
    manager = Manager(often, experiment("before", "Injected", owner=often, duration="600s"))
    manager.timers.observe(manager.objects, 0.0)
    assert manager.timers.expire(75.0, WALL)
    manager.timers.observe(manager.objects, 60.0)
    assert not manager.timers.has_unrecorded_start(WALL)

"""Resync: rewriting the app's objects keeps their desired state and hides the order of writes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from scenario_kit.errors import Rejected, Unreachable
from scenario_kit.judge.order import check_order
from scenario_kit.model import Object, Reference
from scenario_kit.trial.injection.resync import plan_bumps, resync, shuffle_references
from tests.trial.test_inject import TrialHarness, fault

BROKEN = Reference("Service", "s2", "shop"), Reference("Deployment", "d1", "shop")


def workload(name: str, **spec: Any) -> Object:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"replicas": 1, **spec}}


def service(name: str) -> Object:
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": {"app": name}}}


def build_stage() -> TrialHarness:
    """A trial in which a fault wrote a Service and restarted a caller by way of zero replicas."""
    stage = TrialHarness(fault("a"))
    objects = [o for i in range(6) for o in (workload(f"d{i}"), service(f"s{i}"))]
    for obj in objects:
        stage.cluster.create(obj)
    stage.runbook = msgspec.structs.replace(stage.runbook, objects=tuple(objects))
    return stage


def break_objects(stage: TrialHarness) -> None:
    stage.cluster.patch(BROKEN[0], {"spec": {"selector": {"app": "other"}}})
    for replicas in (0, 1):
        stage.cluster.patch(BROKEN[1], {"spec": {"replicas": replicas}})
    progress = stage.context().progress()
    stage.context().save_progress(msgspec.structs.replace(progress, proofs=progress.proofs + 1))


def list_app_objects(stage: TrialHarness) -> list[Object]:
    return [o for kind in ("Deployment", "Service") for o in stage.cluster.list(kind, "shop")]


def read_desired_specs(stage: TrialHarness) -> dict[str, Any]:
    """Read the specs of the app's objects, without their history limits."""
    found = {}
    for obj in list_app_objects(stage):
        spec = {k: v for k, v in obj["spec"].items() if k != "revisionHistoryLimit"}
        marks = obj["metadata"].get("annotations") or {}
        found[f"{obj['kind']}/{obj['metadata']['name']}"] = (spec, marks)
    return found


def list_order_leaks(stage: TrialHarness) -> list[str]:
    return [f.message for f in check_order(list_app_objects(stage), {"what is broken": BROKEN})]


def test_writes_are_found_by_versions_and_generations() -> None:
    stage = build_stage()
    for number in range(9):  # what else a cluster writes meanwhile
        stage.cluster.patch(Reference("ConfigMap", "a", "shop"), {"data": {"k": str(number)}})
    break_objects(stage)

    assert any("generation" in message for message in list_order_leaks(stage))
    assert any("resourceVersion" in message for message in list_order_leaks(stage))


@pytest.mark.parametrize("seed", range(8))
def test_resync_hides_write_order_and_keeps_desired_state(seed: int) -> None:
    stage = build_stage()
    context = stage.context()
    context.spec = msgspec.structs.replace(context.spec, seed=seed)
    resync(context)
    break_objects(stage)
    before = read_desired_specs(stage)
    resync(context)

    assert list_order_leaks(stage) == []
    assert read_desired_specs(stage) == before
    deployments = stage.cluster.list("Deployment", "shop")
    assert len({o["metadata"]["generation"] for o in deployments}) == 1
    assert len({o["spec"]["revisionHistoryLimit"] for o in deployments}) == 1


def test_resync_runs_each_round_once() -> None:
    stage = build_stage()
    resync(stage.context())
    requests = len(stage.cluster.requests)
    resync(stage.context())

    assert [verb for verb, _ in stage.cluster.requests[requests:]] == ["get"]
    break_objects(stage)
    resync(stage.context())
    assert stage.context().progress().resyncs == 2


@pytest.mark.parametrize("number", range(0, 28, 3))
def test_resync_repeats_an_interrupted_round(number: int) -> None:
    stage = build_stage()
    resync(stage.context())
    break_objects(stage)
    left = [number]

    def fail(verb: str, what: str) -> None:
        left[0] -= verb == "patch"
        if left[0] < 0:
            raise Unreachable("gone")

    before, stage.cluster.before = read_desired_specs(stage), fail
    with pytest.raises(Unreachable):
        resync(stage.context())
    stage.cluster.before = lambda *_: None
    resync(stage.context())

    assert list_order_leaks(stage) == []
    assert read_desired_specs(stage) == before


def test_resync_writes_each_kind_consecutively() -> None:
    stage = build_stage()
    break_objects(stage)
    resync(stage.context())

    for kind in ("Deployment", "Service"):
        versions = sorted(int(o["metadata"]["resourceVersion"]) for o in stage.cluster.list(kind, "shop"))
        assert versions == list(range(versions[0], versions[0] + 6))


def test_resync_continues_after_refusal_or_deletion() -> None:
    stage = build_stage()
    stage.cluster.delete(Reference("Service", "s4", "shop"))

    def refuse(verb: str, what: str) -> None:
        if verb == "patch" and what.endswith("/d3"):
            raise Rejected("forbidden field", status=422)

    stage.cluster.before = refuse
    resync(stage.context())

    assert stage.context().progress().resyncs == 1


def test_resync_order_depends_on_seed_and_round() -> None:
    refs = [Reference("Service", f"s{i}") for i in range(20)]

    assert shuffle_references(refs, 1, 1) == shuffle_references(list(reversed(refs)), 1, 1)
    assert len({tuple(shuffle_references(refs, seed, number)) for seed in range(5) for number in range(3)}) == 15


@pytest.mark.parametrize(
    "workloads",
    [
        [],
        [(1, None)] * 3,
        [(1, None), (3, None), (4, None)],
        [(2, 11), (2, 11), (5, 11)],
        [(2, 11), (3, 10), (3, 10)],
        [(7, 2), (1, None), (2, 12), (2, 13)],
    ],
)
def test_workloads_end_with_equal_generation_and_history_limit(workloads: list[tuple[int, int | None]]) -> None:
    objects = [
        workload(f"d{i}", **({} if kept is None else {"revisionHistoryLimit": kept}))
        for i, (_, kept) in enumerate(workloads)
    ]
    for obj, (generation, _) in zip(objects, workloads, strict=True):
        obj["metadata"]["generation"] = generation

    made = plan_bumps(objects, "shop")

    ends = set()
    for obj, bump in zip(objects, made, strict=True):
        path = [obj["spec"].get("revisionHistoryLimit", 10), *bump.kept]
        assert all(one != other for one, other in pairwise(path))
        ends.add((obj["metadata"]["generation"] + len(bump.kept), bump.kept[-1]))
    assert len(ends) == bool(workloads)


def test_inject_resyncs_before_and_after() -> None:
    stage = build_stage()
    assert stage.run()[0] == []
    assert stage.context().progress().resyncs == 2


def test_resync_is_skipped_without_faults() -> None:
    stage = build_stage()
    stage.runbook = msgspec.structs.replace(stage.runbook, faults=())
    stage.run()
    assert stage.context().progress().resyncs == 0

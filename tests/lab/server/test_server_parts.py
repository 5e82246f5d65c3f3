"""Smaller parts: progress deadlines, nudges, running containers, threads, informers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from scenario_kit.errors import LabError, NotFound
from scenario_kit.lab.chaos_daemon.ledger import EffectKey, EffectStore
from scenario_kit.lab.informers import reflector as informers_module
from scenario_kit.lab.informers.reflector import Informers
from scenario_kit.lab.informers.store import ObjectStore
from scenario_kit.lab.informers.watched_kinds import CLUSTER, NAMESPACED, PASSED_BY, Watched
from scenario_kit.lab.kubelet.image.processes import PlainProcesses
from scenario_kit.lab.server.container_inspection import RunningPrograms
from scenario_kit.lab.server.containers import RunningContainers
from scenario_kit.lab.server.threads import Threads
from scenario_kit.lab.settle.checks import Reason
from scenario_kit.lab.settle.deadlines import ProgressDeadlines
from scenario_kit.lab.settle.requeue import ANNOTATION, Requeuer
from scenario_kit.model import ContainerEffect, Object, Reference
from scenario_kit.testing import FakeCluster
from tests.lab.server.cluster_objects import deployment, meta
from tests.lab.server.test_store import obj


def rollout(reason: str = "ReplicaSetUpdated", updated: int = 1, status: str = "True") -> Object:
    made = deployment()
    made["spec"]["progressDeadlineSeconds"] = 120
    made["status"] |= {
        "updatedReplicas": updated,
        "conditions": [{"type": "Progressing", "status": status, "reason": reason}],
    }
    return made


@pytest.mark.parametrize(
    ("history", "overdue"),
    [
        ([(0, rollout()), (120, rollout())], False),
        ([(0, rollout()), (121, rollout())], True),
        ([(0, rollout()), (100, rollout(updated=2)), (200, rollout(updated=2))], False),
        ([(0, rollout()), (100, rollout(updated=2)), (221, rollout(updated=2))], True),
        ([(0, rollout("NewReplicaSetAvailable")), (999, rollout("NewReplicaSetAvailable"))], False),
        ([(0, rollout()), (999, rollout("ProgressDeadlineExceeded", status="False"))], False),
        ([(0, rollout()), (50, rollout("NewReplicaSetAvailable")), (999, rollout())], False),
    ],
)
def test_rollout_is_overdue_without_progress(history: list[tuple[float, Object]], overdue: bool) -> None:
    deadlines = ProgressDeadlines()
    found: list[Object] = []
    for at, made in history:
        found = deadlines.list_overdue([made], at)
    assert bool(found) is overdue


def replica_set() -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "cart-r1", "namespace": "shop"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "cart"}}},
    }


def test_requeue_leaves_no_trace_and_is_throttled() -> None:
    cluster = FakeCluster()
    ref = Reference("ReplicaSet", "cart-r1", "shop", "apps")
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    cluster.create(replica_set())

    def revision() -> str:
        found = cluster.get(ref)
        assert found is not None
        assert ANNOTATION not in (found["metadata"].get("annotations") or {})
        return str(found["metadata"]["resourceVersion"])

    before = revision()
    requeuer = Requeuer(cluster)
    reasons = [Reason("StaleRefusal", "ReplicaSet", "cart-r1", ""), Reason("Counts", "ReplicaSet", "other", "")]
    requeuer.requeue("shop", reasons)
    after = revision()
    requeuer.requeue("shop", reasons)
    assert before != after == revision()


def test_requeue_of_missing_object_is_ignored() -> None:
    reasons = [Reason("StaleRefusal", "ReplicaSet", "gone", ""), Reason("Due", "Pod", "gone", "")]
    Requeuer(FakeCluster()).requeue("shop", reasons)


def test_claims_of_schedulable_pod_wake_the_scheduler() -> None:
    cluster = FakeCluster()
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for name in ("data", "other"):
        meta = {"name": name, "namespace": "shop"}
        cluster.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": {}})
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "e", "emptyDir": {}}]
    spec = {"containers": [{"name": "c", "image": "web:1"}], "volumes": volumes}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db", "namespace": "shop"}, "spec": spec})

    def revisions() -> list[str]:
        claims = [cluster.get(Reference("PersistentVolumeClaim", name, "shop")) for name in ("data", "other")]
        return [str(c["metadata"]["resourceVersion"]) for c in claims if c and not c["metadata"].get("annotations")]

    data, other = revisions()
    Requeuer(cluster).requeue("shop", [Reason("Due", "Pod", "db", "there is room on node worker-1")])
    after = revisions()
    assert after[0] != data
    assert after[1] == other


def test_refusals_are_recorded_from_events() -> None:
    requeuer = Requeuer(FakeCluster())
    for number, reason in ((5, "FailedCreate"), (9, "FailedCreate"), (7, "FailedCreate"), (11, "SuccessfulCreate")):
        requeuer.on_event("PASSED", "Event", obj("e", number, reason=reason, involvedObject={"uid": "rs"}))
    assert requeuer.list_refusals() == {"rs": 9}
    requeuer.on_event("DELETED", "ReplicaSet", obj("rs", 12, uid="rs"))
    assert requeuer.list_refusals() == {}


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        ("Failed to select targets: no pod is selected", True),
        ("(combined from similar events): Failed to select targets: no target has been selected", True),
        ("Failed to apply chaos: no daemon", False),
    ],
)
def test_experiment_without_targets_is_recorded_from_its_event(message: str, refusal: bool) -> None:
    requeuer = Requeuer(FakeCluster())
    requeuer.on_event("PASSED", "Event", obj("e", 5, reason="Failed", message=message, involvedObject={"uid": "k1"}))
    assert requeuer.list_refusals() == ({"k1": 5} if refusal else {})
    requeuer.on_event("DELETED", "NetworkChaos", obj("k1", 6, uid="k1"))
    assert requeuer.list_refusals() == {}


@pytest.mark.parametrize(
    ("hard", "message", "counts"),
    [
        ({"pods": "5"}, "forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", False),
        ({"pods": "1"}, "forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1", True),
        ({"pods": "5"}, "forbidden: exceeded quota: other, requested: pods=1, limited: pods=1", True),
        ({"memory": "0.5Gi"}, "exceeded quota: q, requested: memory=1Gi, used: memory=0, limited: memory=512Mi", True),
        ({"pods": "5"}, "error looking up service account shop/x: serviceaccount not found", True),
    ],
)  # fmt: skip
def test_refusal_by_former_quota_limits_is_ignored(hard, message, counts):
    requeuer = Requeuer(FakeCluster())
    requeuer.on_event("ADDED", "ResourceQuota", obj("q", 5, spec={"hard": hard}))
    requeuer.on_event(
        "PASSED", "Event", obj("e", 9, reason="FailedCreate", involvedObject={"uid": "rs"}, message=message)
    )
    assert requeuer.list_refusals() == ({"rs": 9} if counts else {})


def build_running_pod(*ids: str, ended: tuple[str, ...] = ()) -> Object:
    entries = [{"name": i, "containerID": i, "state": {"running": {}}} for i in ids]
    entries += [{"name": i, "containerID": i, "state": {"terminated": {}}} for i in ended]
    specs = [{"name": e["name"], "image": f"image-of-{e['name']}"} for e in entries]
    return {"metadata": meta("p", "pod"), "spec": {"containers": specs}, "status": {"containerStatuses": entries}}


def test_effects_end_with_container_and_pod() -> None:
    effect_store = EffectStore()
    containers = RunningContainers(effect_store)
    containers.on_event("ADDED", "Pod", build_running_pod("containerd://a", "containerd://b"))
    assert containers.pod_of("containerd://a") == "pod"
    assert containers.namespace_of("containerd://a") == "shop"
    for name in ("a", "b"):
        effect = ContainerEffect(pod_uid="pod", container_id=f"containerd://{name}", kind="Stress")
        effect_store.put(EffectKey("Stress", name), effect)
    containers.on_event("MODIFIED", "Pod", build_running_pod("containerd://b", ended=("containerd://a",)))
    assert containers.pod_of("containerd://a") is None
    assert [e.container_id for e in effect_store.snapshot(["pod"]).containers] == ["containerd://b"]
    containers.on_event("DELETED", "Pod", build_running_pod("containerd://b"))
    assert effect_store.snapshot(["pod"]).containers == ()
    assert containers.pod_of("containerd://b") is None


class _Java:
    """A world in which one image holds a Java program."""

    def explain_attach_failure(self, spec: Object) -> str:
        return "" if spec["image"] == "image-of-containerd://a" else "NoShell"

    def unknown(self, spec: Object, rules: Sequence[Mapping[str, Any]]) -> str:
        return f"{len(rules)} in {spec['image']}"

    def volumes(self, spec: Object) -> Sequence[str]:
        return (f"/of/{spec['image']}",)


@pytest.mark.parametrize(
    ("container", "world", "mounts"),
    [
        ("containerd://a", _Java(), ["/own", "/of/image-of-containerd://a"]),
        ("containerd://a", PlainProcesses(), ["/own"]),
        ("containerd://gone", _Java(), []),
    ],
)
def test_mounts_come_from_pod_and_image(container: str, world: object, mounts: list[str]) -> None:
    containers = RunningContainers(EffectStore())
    pod = build_running_pod("containerd://a")
    parts = [{"name": "x", "mountPath": "/own"}, {"name": "x", "mountPath": "/own/file", "subPath": "file"}]
    pod["spec"]["containers"][0]["volumeMounts"] = parts
    containers.on_event("ADDED", "Pod", pod)
    programs = RunningPrograms(containers, SimpleNamespace(get_processes={"shop": world}.get))  # type: ignore[arg-type]
    assert programs.mounts(container) == mounts


@pytest.mark.parametrize(
    ("container", "world", "barred"),
    [
        ("containerd://a", _Java(), ""),
        ("containerd://b", _Java(), "NoShell"),
        ("containerd://gone", _Java(), "Unknown"),
        ("containerd://a", PlainProcesses(), "Unknown"),
    ],
)
def test_attach_failure_depends_on_java(container: str, world: object, barred: str) -> None:
    containers = RunningContainers(EffectStore())
    containers.on_event("ADDED", "Pod", build_running_pod("containerd://a", "containerd://b"))
    worlds = SimpleNamespace(get_processes={"shop": world}.get)
    programs = RunningPrograms(containers, worlds)  # type: ignore[arg-type]
    assert programs.explain_attach_failure(container) == barred
    if not barred:
        assert programs.unknown(container, [{}]) == "1 in image-of-containerd://a"
        assert containers.spec_of(container) == {"name": "containerd://a", "image": "image-of-containerd://a"}


def test_failed_thread_stops_the_process() -> None:
    threads = Threads()
    reported = threading.Event()
    threads.on_stop = reported.set

    def fail() -> None:
        raise ValueError("the reason")

    threads.spawn("worker", fail)
    assert reported.wait(5.0)
    assert threads.stop.is_set()
    assert threads.failure == "thread worker: ValueError: the reason"


def test_stopped_thread_is_no_failure() -> None:
    threads = Threads()
    done = threading.Event()

    def work() -> None:
        threads.stop.wait()
        done.set()
        raise ValueError("on the way out")

    threads.spawn("worker", work)
    threads.stop.set()
    assert done.wait(5.0)
    assert threads.failure == ""


class Watching:
    """Yields the given events of a kind, then waits for the end."""

    def __init__(self, events: dict[str, list[tuple[str, Object]]], unserved: int = 0) -> None:
        self._events = events
        self._unserved = unserved

    def watch(
        self, kind: str, *, group: str = "", namespace: str = "", stop: threading.Event
    ) -> Iterator[tuple[str, Object]]:
        if self._unserved:
            self._unserved -= 1
            raise NotFound(f"no kind {kind}", status=404)
        return self._run(kind, stop)

    def _run(self, kind: str, stop: threading.Event) -> Iterator[tuple[str, Object]]:
        yield from self._events.get(kind, ())
        stop.wait(30)


def follow(watching: Watching, store: ObjectStore, threads: Threads, **options: Any) -> None:
    Informers(watching, store, threads.stop, threads.spawn).follow([Watched("Pod")], **options)


def test_informers_bring_the_store_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informers_module, "_POLL_SECONDS", 0.0)
    store, threads = ObjectStore(), Threads()
    events = [("ADDED", obj("a", 1)), ("ADDED", obj("b", 2)), ("DELETED", obj("a", 3)), ("SYNCED", {})]
    follow(Watching({"Pod": events}, unserved=2), store, threads)
    threads.stop.set()
    assert list(store.names("shop", "Pod")) == ["b"]
    assert threads.failure == ""


def test_untracked_kinds_are_not_stored() -> None:
    store, threads = ObjectStore(), Threads()
    follow(Watching({"Pod": [("ADDED", obj("a", 1)), ("SYNCED", {})]}), store, threads, keep=False)
    threads.stop.set()
    assert store.names("shop", "Pod") == {}
    assert store.saw_all(0, 1)


def test_unlisted_kind_is_an_error() -> None:
    threads = Threads()
    with pytest.raises(LabError, match="not listed Pod"):
        follow(Watching({}), ObjectStore(), threads, seconds=0.01)
    threads.stop.set()


def test_own_custom_resources_are_not_watched() -> None:
    assert not [w for w in (*CLUSTER, *NAMESPACED, *PASSED_BY) if "scenariokit" in w.group]

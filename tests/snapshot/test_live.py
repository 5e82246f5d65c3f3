"""Recording an app over the API of its cluster: what each look reports, and what if the cluster does not answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import Forbidden, InfrastructureError, Unreachable
from scenario_kit.model import Object, Reference
from scenario_kit.model.runtime.recording import RecordedTick
from scenario_kit.model.runtime.trace import Span, Trace
from scenario_kit.snapshot.live.observer import ClusterObserver
from scenario_kit.snapshot.live.recorder import PATIENCE, LiveRecorder
from scenario_kit.testing import FakeClock, FakeCluster

NS = "shop"


def make(kind: str, name: str, *, version: str = "v1", namespace: str = NS, **more: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def pod(name: str) -> Object:
    return make("Pod", name, spec={"containers": [{"name": "main"}]}, status={"phase": "Running"})


def volume(name: str, namespace: str) -> Object:
    return make("PersistentVolume", name, namespace="", spec={"claimRef": {"namespace": namespace, "name": "data"}})


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster([
        pod("web-1"), make("Service", "web", spec={}), make("Secret", "keys"), make("Deployment", "web",
        version="apps/v1", spec={"replicas": 1}), make("Node", "n1", namespace=""), volume("mine", NS),
        volume("theirs", "other"), make("ConfigMap", "else", namespace="other"),
        make("HTTPChaos", "bad", version="chaos-mesh.org/v1alpha1", spec={}),
    ])  # fmt: skip


def list_names(tick: RecordedTick) -> list[str]:
    return sorted(f"{o['kind']}/{o['metadata']['name']}" for o in tick.objects)


def test_first_look_shows_the_app_and_where_it_runs(cluster: FakeCluster) -> None:
    tick = ClusterObserver(cluster, [NS], None).observe(100.0)
    assert tick.at == 100.0
    assert list_names(tick) == ["Deployment/web", "Node/n1", "PersistentVolume/mine", "Pod/web-1", "Service/web"]
    assert not any("managedFields" in o["metadata"] for o in tick.objects)


def test_further_looks_show_differences(cluster: FakeCluster) -> None:
    observer = ClusterObserver(cluster, [NS], None)
    observer.observe(100.0)
    assert observer.observe(115.0) == RecordedTick(at=115.0)
    cluster.patch(Reference("Deployment", "web", NS, "apps"), {"spec": {"replicas": 0}})
    cluster.delete(Reference("Pod", "web-1", NS))
    tick = observer.observe(130.0)
    assert [(o["kind"], o["spec"]["replicas"]) for o in tick.objects] == [("Deployment", 0)]
    assert tick.removed == (("Pod", NS, "web-1"),)
    cluster.put(pod("web-1"))
    assert list_names(observer.observe(145.0)) == ["Pod/web-1"]


def test_every_write_of_an_event_that_a_look_finds(cluster: FakeCluster) -> None:
    observer = ClusterObserver(cluster, [NS], None)
    cluster.put(make("Event", "e1", reason="Killing", count=1))
    assert [e["count"] for e in observer.observe(100.0).events] == [1]
    assert observer.observe(115.0).events == ()
    cluster.put(make("Event", "e1", reason="Killing", count=2))
    assert [e["count"] for e in observer.observe(130.0).events] == [2]


def test_each_line_once_although_reads_overlap(cluster: FakeCluster) -> None:
    observer = ClusterObserver(cluster, [NS], None)
    for at, text in ((90.0, "a"), (98.0, "b"), (98.0, "b")):
        cluster.log(NS, "web-1", "main", at, text)
    assert [n.text for n in observer.observe(100.0).lines] == ["a", "b", "b"]
    cluster.log(NS, "web-1", "main", 98.0, "b")
    cluster.log(NS, "web-1", "side", 97.0, "late")
    cluster.log(NS, "web-1", "main", 110.0, "c")
    assert [(n.container, n.text) for n in observer.observe(115.0).lines] == [
        ("side", "late"), ("main", "b"), ("main", "c"),
    ]  # fmt: skip
    assert observer.observe(130.0).lines == ()


def test_a_node_that_is_down_does_not_end_the_recording(cluster: FakeCluster) -> None:
    """The API server answers 5xx for logs of pods whose kubelet does not answer."""
    cluster.put(pod("web-2"))
    observer = ClusterObserver(cluster, [NS], None)
    cluster.log(NS, "web-1", "main", 90.0, "a")
    observer.observe(100.0)

    def refuse(verb: str, target: str) -> None:
        if (verb, target) == ("logs", "shop/Pod/web-1"):
            raise Unreachable("dial tcp 10.0.0.7:10250: connect: no route to host", status=500)

    cluster.before = refuse
    cluster.log(NS, "web-1", "main", 110.0, "b")
    cluster.log(NS, "web-2", "main", 111.0, "c")
    assert [n.text for n in observer.observe(115.0).lines] == ["c"]
    silence(cluster, None)
    assert [n.text for n in observer.observe(130.0).lines] == ["b"]


def test_a_pod_of_the_same_name_has_its_own_log(cluster: FakeCluster) -> None:
    observer = ClusterObserver(cluster, [NS], None)
    cluster.log(NS, "web-1", "main", 99.0, "before")
    observer.observe(100.0)
    cluster.delete(Reference("Pod", "web-1", NS))
    observer.observe(115.0)
    cluster.put(pod("web-1"))
    assert [n.text for n in observer.observe(130.0).lines] == ["before"]  # the fake keeps lines by name


def trace_at(at: float) -> Trace:
    span = Span("a" * 32, "b" * 16, "", "web", "GET", "SERVER", at, 0.1, False, "", {}, {})
    return Trace(span.trace_id, (span,))


def test_traces_are_read_once_their_requests_have_ended(cluster: FakeCluster) -> None:
    asked: list[tuple[float, float]] = []

    def read(start: float, end: float) -> list[Trace]:
        asked.append((start, end))
        return [trace_at(start)]

    observer = ClusterObserver(cluster, [NS], read)
    observer.begin(1000.0)
    ticks = [observer.observe(1000.0 + 15 * n) for n in range(20)]
    last = observer.finish(1300.0)
    assert asked == [(1000.0, 1060.0), (1060.0, 1120.0), (1120.0, 1300.0)]
    assert [t.traces[0].start for t in ticks if t.traces] == [1000.0, 1060.0]
    assert last.traces[0].start == 1120.0


def record(cluster: FakeCluster, folder: Path, clock: FakeClock, read: Any = None) -> LiveRecorder:
    recorder = LiveRecorder(lambda: ClusterObserver(cluster, [NS], read), folder / "ticks.jsonl", clock.now)
    (folder / "ticks.jsonl").write_bytes(b"")
    return recorder


def look(recorder: LiveRecorder, clock: FakeClock, times: int) -> None:
    for _ in range(times):
        recorder.look()
        clock.wait(clock.now() + 15)


def test_ticks_are_read_as_often_as_one_likes(cluster: FakeCluster, tmp_path: Path) -> None:
    clock = FakeClock(1000.0)
    recorder = record(cluster, tmp_path, clock, lambda start, _: [trace_at(start)])
    look(recorder, clock, 2)
    recorder.finish()
    assert [t.at for t in recorder.read_ticks()] == [1000.0, 1015.0, 1030.0]
    assert [len(t.traces) for t in recorder.read_ticks()] == [0, 0, 1]
    assert (recorder.missed, recorder.list_problems()) == (0, [])


def silence(cluster: FakeCluster, error: Exception | None) -> None:
    def refuse(_verb: str, _target: str) -> None:
        if error is not None:
            raise error

    cluster.before = refuse


def test_a_look_without_an_answer_is_made_up_for_by_the_next(cluster: FakeCluster, tmp_path: Path) -> None:
    clock = FakeClock(1000.0)
    recorder = record(cluster, tmp_path, clock)
    look(recorder, clock, 1)
    silence(cluster, Unreachable("no answer"))
    look(recorder, clock, PATIENCE)
    silence(cluster, None)
    cluster.log(NS, "web-1", "main", 1020.0, "meanwhile")
    look(recorder, clock, 1)
    recorder.finish()
    assert recorder.missed == PATIENCE
    assert [(t.at, [n.text for n in t.lines]) for t in recorder.read_ticks()][1] == (1135.0, ["meanwhile"])


@pytest.mark.parametrize(
    ("error", "looks", "part"),
    [(Unreachable("no answer"), PATIENCE + 1, "no answer"), (Forbidden("pods is forbidden"), 1, "pods is forbidden")],
)
def test_a_cluster_that_does_not_answer_any_more(
    cluster: FakeCluster, tmp_path: Path, error: Exception, looks: int, part: str
) -> None:
    clock = FakeClock(1000.0)
    recorder = record(cluster, tmp_path, clock)
    look(recorder, clock, 1)
    silence(cluster, error)
    look(recorder, clock, looks)
    assert part in recorder.list_problems()[0]
    with pytest.raises(InfrastructureError, match=part):
        recorder.finish()


def test_a_trace_store_may_be_silent_for_a_moment(cluster: FakeCluster, tmp_path: Path) -> None:
    clock, answers = FakeClock(1000.0), [InfrastructureError("no response from Jaeger")]

    def read(start: float, _end: float) -> list[Trace]:
        if answers:
            raise answers.pop()
        return [trace_at(start)]

    recorder = record(cluster, tmp_path, clock, read)
    look(recorder, clock, 14)
    assert (recorder.missed, recorder.list_problems()) == (1, [])
    assert [t.traces[0].start for t in recorder.read_ticks() if t.traces] == [1000.0]


def test_a_recorder_that_breaks_says_so(tmp_path: Path) -> None:
    def find() -> ClusterObserver:
        raise ZeroDivisionError("a mistake of ours")

    recorder = LiveRecorder(find, tmp_path / "ticks.jsonl", FakeClock(1000.0).now)
    recorder.start()
    recorder.stop()
    assert recorder.list_problems() == ["the recording failed: ZeroDivisionError: a mistake of ours"]


def test_nothing_to_observe(tmp_path: Path) -> None:
    recorder = LiveRecorder(lambda: None, tmp_path / "ticks.jsonl", FakeClock(1000.0).now)
    recorder.look()
    with pytest.raises(InfrastructureError, match="nothing to observe"):
        recorder.finish()


def test_a_trial_that_cannot_be_found(tmp_path: Path) -> None:
    def find() -> ClusterObserver:
        raise Forbidden("trials is forbidden")

    recorder = LiveRecorder(find, tmp_path / "ticks.jsonl", FakeClock(1000.0).now)
    recorder.look()
    assert recorder.list_problems() == ["the recording failed: trials is forbidden"]


def test_missing_permission_is_known_before_anything_is_broken(cluster: FakeCluster) -> None:
    def refuse(verb: str, target: str) -> None:
        if (verb, target) == ("list", "shop/Event"):
            raise Forbidden("events is forbidden")

    ClusterObserver(cluster, [NS], None).require_access()
    cluster.before = refuse
    with pytest.raises(Forbidden, match="events"):
        ClusterObserver(cluster, [NS], None).require_access()


def test_a_thread_records_until_it_is_stopped(cluster: FakeCluster, tmp_path: Path) -> None:
    clock = FakeClock(1000.0)
    recorder = LiveRecorder(lambda: ClusterObserver(cluster, [NS], None), tmp_path / "ticks.jsonl", clock.now)
    recorder.start()
    recorder.stop()
    recorder.stop()
    recorder.finish()
    assert [t.at for t in recorder.read_ticks()][-1] == 1000.0

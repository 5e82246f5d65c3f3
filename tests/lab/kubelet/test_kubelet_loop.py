from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import NotFound, Unreachable
from scenario_kit.lab.kubelet import Kubelet, KubeletSources, LogFolder
from scenario_kit.model.base import Object
from scenario_kit.model.runtime.process import Exit, LogRecord, ProcessStart

T0 = 1_767_225_600.0


class Api:
    """An API server that remembers pods and answers with watch events."""

    def __init__(self) -> None:
        self.pods: dict[str, Object] = {}
        self.events: dict[str, Object] = {}
        self.patches: list[Object] = []
        self.watch: list[tuple[str, Object]] = []
        self.broken: set[str] = set()
        self.version = 0
        self._lock = threading.Lock()

    def write_status(self, pod: Object, status: Object) -> Object:
        with self._lock:
            uid = pod["metadata"]["uid"]
            if uid in self.broken:
                raise Unreachable("no answer")
            if uid not in self.pods:
                raise NotFound("gone", status=404)
            self.patches.append(status)
            return self.store(uid, status)

    def store(self, uid: str, status: Object) -> Object:
        merged = {**self.pods[uid].get("status", {}), **copy.deepcopy(status)}
        merged = {key: value for key, value in merged.items() if value is not None}
        self.version += 1
        metadata = {**self.pods[uid]["metadata"], "resourceVersion": str(self.version)}
        self.pods[uid] = {**self.pods[uid], "metadata": metadata, "status": merged}
        self.watch.append(("MODIFIED", self.pods[uid]))
        return self.pods[uid]

    def emit_event(self, event: Object) -> None:
        self.events[event["metadata"]["name"]] = event

    def delete_pod(self, pod: Object) -> None:
        with self._lock:
            gone = self.pods.pop(pod["metadata"]["uid"], None)
            if gone is not None:
                self.watch.append(("DELETED", gone))


class Lab:
    def __init__(self, processes: Any, folder: Path) -> None:
        self.api = Api()
        self.now = {"app": T0, "other": T0 + 500}
        self.processes = processes
        self.folder = folder
        self.kubelet = Kubelet(
            self.api,
            KubeletSources(
                read_clock=lambda namespace: self.now[namespace],
                processes_of=lambda _: self.processes,
                lookup_of=lambda _: self,  # type: ignore[arg-type, return-value]
                node_of=lambda name: {"metadata": {"name": name}, "status": {}} if name.startswith("node") else None,
            ),
            logs=LogFolder(folder),
        )

    def find(self, kind: str, name: str) -> Object | None:
        return None

    def create(self, name: str, namespace: str = "app", node: str = "node-0", **spec: Any) -> str:
        uid = f"uid-{name}"
        main = {"name": "main", "image": "app:1", "imagePullPolicy": "IfNotPresent"}
        self.api.pods[uid] = {
            "metadata": {"name": name, "namespace": namespace, "uid": uid, "generation": 1},
            "spec": {"nodeName": node, "restartPolicy": "Always", "containers": [main], **spec},
            "status": {"phase": "Pending"},
        }
        self.kubelet.observe("ADDED", self.api.pods[uid])
        return uid

    def sync(self, namespace: str | None = None) -> int:
        total = 0
        while writes := self.kubelet.run_once(namespace):
            total += writes
            queued, self.api.watch = self.api.watch, []
            for kind, pod in queued:
                self.kubelet.observe(kind, pod)  # type: ignore[arg-type]
        return total

    def running(self, name: str) -> bool:
        return bool(self.api.pods[f"uid-{name}"]["status"]["phase"] == "Running")


class Processes:
    def __init__(self) -> None:
        self.exit: Exit | None = None

    def has_program(self, image: str, program: str) -> bool:
        return False

    def image_exists(self, image: str) -> bool:
        return True

    def start(self, pod: Object, container: str, now: float) -> ProcessStart:
        return ProcessStart(1.0, self.exit) if self.exit else ProcessStart(0.0)

    def init(self, pod: Object, container: str, now: float) -> Any:
        raise AssertionError("no init containers here")

    def answers(self, pod: Object, container: str, port: int, path: str | None, now: float) -> bool:
        return True


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(Processes(), tmp_path)
    yield made
    made.kubelet.close()


@pytest.fixture
def started(lab: Lab) -> Callable[..., str]:
    def start(name: str = "p", **more: Any) -> str:
        uid = lab.create(name, **more)
        lab.sync()
        lab.now["app"] += 2
        lab.sync()
        return uid

    return start


def test_running_pods_cause_no_further_writes(lab: Lab) -> None:
    for number in range(27):
        lab.create(f"p{number}")
    assert lab.sync() == 27  # pulling
    lab.now["app"] += 2
    assert lab.sync() == 27
    assert all(lab.running(f"p{number}") for number in range(27))
    assert len({pod["status"]["podIP"] for pod in lab.api.pods.values()}) == 27
    assert lab.sync() == 0
    lab.kubelet.flush()
    assert {e["reason"] for e in lab.api.events.values()} == {"Pulling", "Pulled", "Created", "Started"}


def test_each_namespace_uses_its_own_clock(lab: Lab) -> None:
    lab.create("a")
    lab.create("b", namespace="other")
    lab.sync("app")
    assert "startTime" not in lab.api.pods["uid-b"]["status"]
    lab.sync()
    assert lab.api.pods["uid-a"]["status"]["startTime"] == "2026-01-01T00:00:00Z"
    assert lab.api.pods["uid-b"]["status"]["startTime"] == "2026-01-01T00:08:20Z"


def test_wakeups(lab: Lab, started: Callable[..., str]) -> None:
    assert lab.kubelet.next_wakeup("app") is None
    uid = lab.create("q")
    assert lab.kubelet.next_wakeup("app") == lab.now["app"]
    lab.sync()
    assert lab.kubelet.next_wakeup("app") > lab.now["app"]
    lab.now["app"] += 2
    lab.sync()
    assert lab.kubelet.next_wakeup("app") is None
    assert lab.running("q")
    assert uid in lab.api.pods


def test_pods_on_foreign_nodes_are_ignored(lab: Lab) -> None:
    lab.create("p", node="real-1")
    assert lab.sync() == 0


def test_pod_waits_until_its_node_is_known(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.kubelet, "_node_of", lambda _: None)
    lab.create("p")
    assert lab.sync() == 0
    assert lab.kubelet.next_wakeup("app") is None
    monkeypatch.setattr(lab.kubelet, "_node_of", lambda name: {"metadata": {"name": name}})
    assert lab.sync() == 1


def test_logs_of_unobserved_deleted_pods_are_removed(lab: Lab, started: Callable[..., str]) -> None:
    started()
    (lab.folder / "app_old_uid-old" / "main").mkdir(parents=True)
    lab.kubelet.listed()
    lab.kubelet.flush()
    assert [f.name for f in lab.folder.iterdir()] == ["app_p_uid-p"]


def test_failed_decision_is_retried(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_image: str) -> bool:
        raise ValueError("a bug")

    lab.create("p")
    lab.create("q")
    with monkeypatch.context() as patch:
        patch.setattr(lab.processes, "image_exists", fail)
        with pytest.raises(ValueError, match="a bug"):
            lab.kubelet.run_once("app")
    assert lab.sync() == 2


def test_deletion(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    pod = lab.api.pods[uid]
    pod = {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "x", "deletionGracePeriodSeconds": 30}}
    lab.api.pods[uid] = pod
    lab.kubelet.observe("MODIFIED", pod)
    assert lab.sync() == 2  # final status, deletion
    assert lab.api.pods == {}
    lab.kubelet.flush()
    assert list(lab.folder.iterdir()) == []
    assert lab.kubelet.next_wakeup("app") is None


def test_killed_container_restarts(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    first = lab.api.pods[uid]["status"]["containerStatuses"][0]["containerID"]
    assert not lab.kubelet.container_killed(uid, "containerd://unknown", lab.now["app"])
    assert lab.kubelet.container_killed(uid, first, lab.now["app"])
    lab.sync()
    entry = lab.api.pods[uid]["status"]["containerStatuses"][0]
    assert entry["restartCount"] == 1
    assert entry["containerID"] != first
    assert entry["lastState"]["terminated"]["exitCode"] == 137
    assert "running" in entry["state"]


def test_reported_exit_restarts_the_container(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    lab.kubelet.handle_exits([Exit(uid, "main", 137, "OOMKilled"), Exit("gone", "main", 1, "Error")], lab.now["app"])
    lab.sync()
    ended = lab.api.pods[uid]["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "OOMKilled")


def test_crash_loop_is_driven_by_the_clock(lab: Lab, started: Callable[..., str]) -> None:
    lab.processes.exit = Exit("", "main", 1, "Error")
    uid = started()
    for _ in range(8):
        lab.now["app"] += 15
        lab.sync()
    assert lab.api.pods[uid]["status"]["containerStatuses"][0]["restartCount"] == 4


def test_own_and_stale_status_events_are_ignored(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    stale = {**lab.api.pods[uid], "status": {"phase": "Pending"}}
    lab.kubelet.observe("MODIFIED", stale)
    assert lab.sync() == 0


def test_failed_status_write_is_raised_and_retried(lab: Lab) -> None:
    uid = lab.create("p")
    lab.create("q")
    lab.api.broken.add(uid)
    with pytest.raises(Unreachable):
        lab.kubelet.run_once("app")
    assert "containerStatuses" in lab.api.pods["uid-q"]["status"]
    lab.api.broken.clear()
    assert lab.kubelet.run_once("app") == 1


def test_deleted_pod_is_no_error(lab: Lab) -> None:
    uid = lab.create("p")
    gone = lab.api.pods.pop(uid)
    assert lab.kubelet.run_once("app") == 0
    lab.kubelet.observe("DELETED", gone)
    assert lab.kubelet.next_wakeup("app") is None


def test_restarted_kubelet_takes_over(lab: Lab, started: Callable[..., str], tmp_path: Path) -> None:
    uid = started()
    before = copy.deepcopy(lab.api.pods[uid])
    successor = Lab(Processes(), tmp_path / "next")
    successor.now = lab.now
    successor.api.pods[uid] = before
    successor.kubelet.observe("ADDED", before)
    assert successor.sync() == 0
    successor.create("q")
    successor.sync()
    assert successor.running("q")  # the image is known to be there
    assert successor.api.pods["uid-q"]["status"]["podIP"] != before["status"]["podIP"]
    successor.kubelet.close()


def test_failed_event_write_is_raised(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_event: Object) -> None:
        raise Unreachable("no answer")

    monkeypatch.setattr(lab.api, "emit_event", refuse)
    lab.create("p")
    lab.kubelet.run_once("app")
    with pytest.raises(Unreachable):
        lab.kubelet.flush()


def test_logs(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    lab.kubelet.append("app", [LogRecord("p", "main", T0, "hello"), LogRecord("unknown", "main", T0, "lost")])
    lab.kubelet.flush()
    file = LogFolder(lab.folder).locate(lab.api.pods[uid], "main")
    assert file.read_text() == "2026-01-01T00:00:00.000000000Z stdout F hello\n"


def unready(status: Object) -> Object:
    others = [c for c in status["conditions"] if c["type"] != "Ready"]
    return {"conditions": [*others, {"type": "Ready", "status": "False", "reason": "NodeNotReady"}]}


ALTERED: dict[str, Callable[[Object], Object]] = {
    "ready": unready,
    "no conditions": lambda _: {"conditions": None},
    "phase": lambda _: {"phase": "Failed"},
    "reason": lambda _: {"reason": "NodeLost", "message": "the node is lost"},
    "addresses": lambda _: {"podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]},
    "no address": lambda _: {"podIP": None, "podIPs": None},
    "host": lambda _: {"hostIP": "10.9.9.9"},
    "container": lambda s: {"containerStatuses": [{**s["containerStatuses"][0], "ready": False, "restartCount": 9}]},
    "no containers": lambda _: {"containerStatuses": None},
    "start": lambda _: {"startTime": "2020-01-01T00:00:00Z"},
    "class": lambda _: {"qosClass": "Guaranteed"},
}


@pytest.mark.parametrize("what", ALTERED)
def test_kubelet_reverts_status_changes_of_others(lab: Lab, started: Callable[..., str], what: str) -> None:
    uid = started()
    before = copy.deepcopy(lab.api.pods[uid]["status"])
    lab.api.store(uid, ALTERED[what](before))
    assert lab.api.pods[uid]["status"] != before
    lab.kubelet.observe("MODIFIED", lab.api.pods[uid])
    lab.now["app"] += 5
    lab.sync()
    assert lab.api.pods[uid]["status"] == before, "times of transition included: nothing has happened to the pod"
    assert lab.sync() == 0


def test_status_fields_of_other_owners_are_kept(lab: Lab, started: Callable[..., str]) -> None:
    uid = started()
    gate = {"type": "example.org/gate", "status": "True"}
    conditions = [*lab.api.pods[uid]["status"]["conditions"], gate]
    lab.api.store(uid, {"conditions": conditions, "nominatedNodeName": "node-9", "phase": "Failed"})
    lab.kubelet.observe("MODIFIED", lab.api.pods[uid])
    lab.sync()
    status = lab.api.pods[uid]["status"]
    assert (status["phase"], status["nominatedNodeName"]) == ("Running", "node-9")
    assert gate in status["conditions"]

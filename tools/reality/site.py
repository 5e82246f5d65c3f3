"""A dedicated control plane with a real and a simulated node, and recordings of pods on both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from scenario_kit.clients import KubeCluster
from scenario_kit.errors import LabError, NotFound
from scenario_kit.lab import process_specs
from scenario_kit.lab.host import supervisor
from scenario_kit.lab.host.addresses import find_free_ports, find_host_address
from scenario_kit.lab.host.state import LabState, find_lab_folder
from scenario_kit.lab.kubelet import ClusterWriter, Kubelet, KubeletSources
from scenario_kit.lab.lifecycle import take_down
from scenario_kit.model import Object, Reference
from tools.reality.cases import ABSENT, HAS, IMAGE, Case
from tools.reality.node import NAME, RealNode, put_back
from tools.reality.program import Programs
from tools.reality.recording import Recording, drop_repeats, has_begun, read_event, read_view
from tools.realnode.node.cluster import is_ready, start_control_plane

LAB = "reality"
SIMULATED = "simulated-1"
REAL_SPACE, SIMULATED_SPACE = "on-real", "on-simulated"
NODES = {REAL_SPACE: NAME, SIMULATED_SPACE: SIMULATED}
_READY_SECONDS = 120.0
_HEARTBEAT = 10.0
#: Runs on both nodes first, so that both have the image.
_FIRST = Case(name="first", seconds=0, spec={"containers": [{"name": "main", "image": IMAGE}]})


class Site:
    """Starts everything; ``close`` stops it and removes its files. Raises ``LabError`` if starting fails."""

    def __init__(self, binaries: Mapping[str, Path], cases: tuple[Case, ...], say: Callable[[str], None]) -> None:
        self._stop = threading.Event()
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._views: dict[str, list[tuple[float, Object]]] = {}
        self._gone: dict[str, float] = {}
        self._threads: list[threading.Thread] = []
        self._real: RealNode | None = None
        self._kubelet: Kubelet | None = None
        self._clusters: list[KubeCluster] = []
        self.failures: list[BaseException] = []
        try:
            say("starting the control plane")
            state = start_control_plane(process_specs.plan(LAB, (), find_host_address()), binaries)
            self._user = self._build_client(state, "reality")
            self._join(state, binaries["kubelet"], cases, say)
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """Abort waiting cases."""
        self._stop.set()
        self._news.set()

    def close(self) -> None:
        """Stop everything that was started."""
        self.stop()
        for thread in self._threads:
            thread.join(10)
        if self._kubelet is not None:
            self._kubelet.close()
        for client in self._clusters:
            client.close()
        if self._real is not None:
            self._real.close()
        take_down(LAB)

    def run(self, case: Case, namespace: str) -> tuple[Recording, Object]:
        """Create the pod of a case and watch it; returns its recording, and the pod as stored by the API server."""
        pod = self._user.create(build_pod(case, namespace))
        uid, ref = pod["metadata"]["uid"], Reference("Pod", case.name, namespace)
        began = self._await_begin(uid) if case.begins else time.time()

        def create_later() -> None:
            for obj in case.later:
                self._user.create(_set_namespace(obj, namespace))

        def delete() -> None:
            self._user.delete(ref, grace_seconds=case.grace)

        plan: list[tuple[float, Callable[[], None]]] = [(case.later_at, create_later)]
        if case.delete_at is not None:
            plan.append((case.delete_at, delete))
        for at, act in sorted(plan, key=lambda entry: entry[0]):
            self._wait(began + at)
            act()
        self._wait(began + case.seconds)
        with self._lock:
            seen, gone = list(self._views.get(uid, ())), self._gone.get(uid)
        events = [e for e in self._user.list("Event", namespace) if e["involvedObject"].get("uid") == uid]
        reported = [read_event(e, began) for e in events if (e.get("source") or {}).get("component") == "kubelet"]
        recording = Recording(
            case=case.name,
            seconds=case.seconds,
            views=drop_repeats([read_view(obj, at - began) for at, obj in seen if at >= began or not case.begins]),
            events=tuple(sorted(reported, key=lambda e: (e.first, e.reason, e.message))),
            gone=None if gone is None else round(gone - began, 1),
        )
        self._user.delete(ref, grace_seconds=0 if namespace == SIMULATED_SPACE else 1)
        return recording, pod

    def _await_begin(self, uid: str) -> float:
        """Wait until the pod has begun; returns the time."""
        end = time.time() + _READY_SECONDS
        while time.time() < end:
            with self._lock:
                first = next((at for at, obj in self._views.get(uid, ()) if has_begun(obj)), None)
            if first is not None:
                return first
            self._wait(time.time() + 0.2)
        raise LabError(f"pod {uid} has not begun after {_READY_SECONDS:g} s")

    def _wait(self, until: float) -> None:
        while (left := until - time.time()) > 0:
            self._stop.wait(min(left, 1.0))
            if self.failures:
                raise self.failures[0]
            if self._stop.is_set():
                raise LabError("the recording was interrupted")
            if self._real is not None:
                self._real.check()

    def _build_client(self, state: LabState, manager: str) -> KubeCluster:
        client = KubeCluster(Path(state.kubeconfig), field_manager=manager)
        self._clusters.append(client)
        return client

    def _join(self, state: LabState, kubelet: Path, cases: tuple[Case, ...], say: Callable[[str], None]) -> None:
        say("joining the simulated node")
        own = self._build_client(state, "kubelet")
        node = _read_simulated_node(self._user)
        programs = Programs({c.name: dict(c.programs) for c in cases}, frozenset({ABSENT}), HAS)
        self._kubelet = Kubelet(
            ClusterWriter(own),
            KubeletSources(
                read_clock=lambda _: time.time(),
                processes_of=lambda _: programs,
                lookup_of=lambda namespace: _Lookup(own, namespace),
                node_of=lambda name: node if name == SIMULATED else None,
            ),
        )
        for work in (self._watch, self._drive, self._renew_lease):
            thread = threading.Thread(target=self._run_guarded, args=(work,), name=work.__name__, daemon=True)
            thread.start()
            self._threads.append(thread)
        say("joining the real node")
        folder, port = Path(state.folder) / "real", find_free_ports(1, set(state.ports.values()))[0]
        self._real = RealNode(folder, Path(state.kubeconfig), kubelet, port)
        self._wait_until(lambda: is_ready(self._user.get(Reference("Node", NAME, ""))), "the real node is not ready")
        for space in NODES:
            self._user.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
            account = Reference("ServiceAccount", "default", space)
            self._wait_until(partial(self._user.get, account), "no service account")
            for obj in {(o["kind"], o["metadata"]["name"]): o for c in cases for o in c.objects}.values():
                self._user.create(_set_namespace(obj, space))
            self._user.create(build_pod(_FIRST, space))
        for space in NODES:
            self._wait_until(lambda s=space: self._has_run(s), f"no container starts in {space}")  # type: ignore[misc]

    def _has_run(self, space: str) -> bool:
        pod = self._user.get(Reference("Pod", _FIRST.name, space)) or {}
        entries = (pod.get("status") or {}).get("containerStatuses") or ()
        return any(e.get("containerID") for e in entries)

    def _wait_until(self, seen: Callable[[], object], problem: str) -> None:
        end = time.monotonic() + _READY_SECONDS
        while not seen():
            self._wait(time.time() + 0.3)
            if time.monotonic() > end:
                raise LabError(f"{problem} after {_READY_SECONDS:g} s; see {find_lab_folder(LAB)}")

    def _run_guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - re-raised by the next wait
            self.failures.append(error)

    def _watch(self) -> None:
        assert self._kubelet is not None
        for kind, pod in self._user.watch("Pod", stop=self._stop):
            if kind == "SYNCED":
                continue
            now, uid = time.time(), pod["metadata"]["uid"]
            with self._lock:
                self._views.setdefault(uid, []).append((now, pod))
                if kind == "DELETED":
                    self._gone[uid] = now
            self._kubelet.observe(kind, pod)  # type: ignore[arg-type]
            self._news.set()

    def _drive(self) -> None:
        assert self._kubelet is not None
        while not self._stop.is_set():
            self._news.wait(0.1)
            self._news.clear()
            self._kubelet.run_once()

    def _renew_lease(self) -> None:
        """Renew the simulated node's lease, as its kubelet would."""
        name = {"name": SIMULATED, "namespace": "kube-node-lease"}
        while not self._stop.wait(_HEARTBEAT):
            spec = {
                "holderIdentity": SIMULATED,
                "leaseDurationSeconds": 40,
                "renewTime": _format_micro_time(time.time()),
            }
            self._user.apply({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": name, "spec": spec})


def clear() -> None:
    """Remove leftovers of a killed run."""
    folder = find_lab_folder(LAB)
    supervisor.kill(str(folder))
    put_back(folder / "real")
    take_down(LAB)


class _Lookup:
    def __init__(self, cluster: KubeCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def find(self, kind: str, name: str) -> Object | None:
        """See ``Lookup``."""
        return self._cluster.get(Reference(kind, name, self._namespace))


def build_pod(case: Case, namespace: str) -> Object:
    """Return the Pod of a case, bound to the namespace's node."""
    spec = {"automountServiceAccountToken": False, "enableServiceLinks": False, **case.spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": case.name, "namespace": namespace},
        "spec": {**spec, "nodeName": NODES[namespace]},
    }


def _read_simulated_node(user: KubeCluster) -> Object:
    user.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": SIMULATED}})
    capacity = {"cpu": "2", "memory": "16Gi", "pods": "110"}
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "allocatable": capacity,
        "capacity": capacity,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
    }
    ref = Reference("Node", SIMULATED, "")
    user.patch(ref, {"status": status}, subresource="status")
    found = user.get(ref)
    if found is None:
        raise NotFound(f"Node {SIMULATED} is gone", status=404)
    return found


def _set_namespace(obj: Object, namespace: str) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


def _format_micro_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(seconds))

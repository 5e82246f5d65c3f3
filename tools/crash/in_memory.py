"""Runs the same cells without a lab, with an operator on an in-memory API server.

This is fast enough to run every cell. A kill is an exception that nothing catches: in-memory state is lost, written
state is kept. Runs in a lab show that a real kill behaves the same.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Final, TypeVar, cast

from operators.access.trial_objects import read_trial
from operators.monitoring.measurements import Measurements
from operators.scenario.environment import Environment, Settings
from operators.scenario.trial_runner import TrialRun
from scenario_kit.catalog import Catalog
from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.errors import Conflict, ScenarioKitError, Unreachable
from scenario_kit.model import Object, Reference, TrialSpec
from scenario_kit.model.authored.scenario import API_VERSION
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE, make_object_reference
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.model.results.trial import make_trial_reference
from scenario_kit.ports import PatchType
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial import TrialStatus
from tools.crash.cells import DISTURBANCES, Cell, Disturbance, Outcome, Recording, Write, compute_digest, is_disturbed
from tools.crash.subjects import build_runbook, plan_trial

#: An in-memory API server has no watches.
DISTURBANCES_IN_MEMORY: Final[tuple[Disturbance, ...]] = tuple(d for d in DISTURBANCES if d != "watches-closed")
_NAMESPACE: Final = "otel-demo-abcd"
_TRIAL: Final = "t"
#: Starts of the operator after which a trial is considered stuck.
_LIVES: Final = 300


_Answer = TypeVar("_Answer")
_REVISION: Final = "deployment.kubernetes.io/revision"


class Killed(BaseException):
    """Ends the simulated process."""


class DisturbedCluster(FakeCluster):
    """An in-memory API server that disturbs the writes of a cell; ``tick`` runs its controllers."""

    def __init__(self, cell: Cell | None, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self._cell = cell
        self._lock = threading.RLock()
        self._writes: list[Write] = []
        self._accepted: list[Write] = []
        self._disturbed: list[Write] = []
        self._inside = False

    @property
    def recording(self) -> Recording:
        """The writes so far."""
        return Recording(writes=tuple(self._writes), accepted=tuple(self._accepted), disturbed=tuple(self._disturbed))

    def create(self, obj: Object) -> Object:
        """See ``ports.Cluster``."""
        ref = make_object_reference(obj, _NAMESPACE)
        name = obj["metadata"]["name"]
        return self._write("POST", str(ref), name, obj, lambda: super(DisturbedCluster, self).create(obj))

    def apply(self, obj: Object) -> Object:
        """See ``ports.Cluster``."""
        ref = make_object_reference(obj, _NAMESPACE)
        return self._write("PATCH", str(ref), "", obj, lambda: super(DisturbedCluster, self).apply(obj))

    def patch(self, ref: Reference, patch: Any, type: PatchType = "Merge", *, subresource: str = "") -> Object:
        """See ``ports.Cluster``."""
        return self._write(
            "PATCH", f"{ref}/{subresource}", "", patch,
            lambda: super(DisturbedCluster, self).patch(ref, patch, type, subresource=subresource),
        )  # fmt: skip

    def delete(self, ref: Reference, *, uid: str = "", grace_seconds: int | None = None) -> None:
        """See ``ports.Cluster``."""
        self._write(
            "DELETE", str(ref), "", None,
            lambda: super(DisturbedCluster, self).delete(ref, uid=uid, grace_seconds=grace_seconds),
        )  # fmt: skip

    def evict(self, pod: Reference) -> None:
        """See ``ports.Cluster``."""
        self._write("POST", f"{pod}/eviction", pod.name, None, lambda: super(DisturbedCluster, self).evict(pod))

    def get(self, ref: Reference) -> Object | None:
        """See ``ports.Cluster``."""
        with self._lock:
            return super().get(ref)

    def list(
        self, kind: str, namespace: str = "", *, group: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        """See ``ports.Cluster``."""
        with self._lock:
            return super().list(kind, namespace, group=group, labels=labels)

    def _write(self, method: str, path: str, name: str, body: Any, send: Callable[[], _Answer]) -> _Answer:
        with self._lock:
            if self._inside:  # cascading deletion
                return send()
            write = Write(method=method, path=path, name=name, digest=compute_digest(repr(body).encode()))
            self._writes.append(write)
            disturbance = ""
            if self._cell is not None and is_disturbed(self._cell, self._writes):
                self._disturbed.append(write)
                disturbance = self._cell.disturbance
            _raise_before(disturbance, write)
            self._inside = True
            try:
                answer = send()
            finally:
                self._inside = False
            self._accepted.append(write)
            _raise_after(disturbance, write)
            return answer

    def tick(self, _now: float) -> None:
        """Run the controllers: pods and status of Deployments, completion of Jobs, injection of chaos."""
        with self._lock:
            self._inside = True
            try:
                for pod in self.list("Pod"):
                    if is_terminating(pod):
                        super().delete(make_object_reference(pod, _NAMESPACE), grace_seconds=0)
                for deployment in self.list("Deployment"):
                    _roll_out(self, deployment)
                for job in self.list("Job", group="batch"):
                    self.put(
                        {**job, "status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}}
                    )
                for chaos in self.list("PodChaos", group="chaos-mesh.org"):
                    self.put({**chaos, "status": _INJECTED})
            finally:
                self._inside = False


def _raise_before(disturbance: str, write: Write) -> None:
    match disturbance:
        case "killed-before":
            raise Killed
        case "conflict":
            raise Conflict(f"{write}: the object has been modified", status=409)
        case "unavailable":
            raise Unreachable(f"{write}: the server is currently unable to handle the request")


def _raise_after(disturbance: str, write: Write) -> None:
    match disturbance:
        case "killed-after":
            raise Killed
        case "unanswered":
            raise Unreachable(f"{write}: no response")


_INJECTED: Final = {
    "experiment": {"desiredPhase": "Run"},
    "conditions": [{"type": t, "status": "True"} for t in ("Selected", "AllInjected")],
}


def _roll_out(cluster: FakeCluster, deployment: Object) -> None:
    """Create the pods and the status of a completed rollout."""
    metadata, spec = deployment["metadata"], deployment["spec"]
    replicas, template = spec.get("replicas", 1), spec["template"]
    names = {f"{metadata['name']}-{n}" for n in range(replicas)}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"], "uid": metadata["uid"]}
    for pod in cluster.list("Pod", metadata["namespace"]):
        owners = [o["uid"] for o in pod["metadata"].get("ownerReferences") or ()]
        name = pod["metadata"]["name"]
        if metadata["uid"] in owners and name not in names:
            cluster.delete(Reference("Pod", name, metadata["namespace"]), grace_seconds=0)
    for name in names:
        if cluster.get(Reference("Pod", name, metadata["namespace"])) is None:
            containers = [{"name": c["name"], "containerID": f"c://{name}", "ready": True} for c in _list(template)]
            status = {
                "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "podIP": "10.0.0.1",
                "containerStatuses": containers,
            }  # fmt: skip
            labels = template["metadata"].get("labels") or {}
            of = {"name": name, "namespace": metadata["namespace"], "labels": labels, "ownerReferences": [owner]}
            pod_spec = {**template["spec"], "nodeName": "worker-1"}
            cluster.put({"apiVersion": "v1", "kind": "Pod", "metadata": of, "spec": pod_spec, "status": status})
    _keep_revision(cluster, deployment, owner)
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    status = {"observedGeneration": metadata.get("generation", 1), **dict.fromkeys(counts, replicas)}
    if deployment.get("status") != status:
        cluster.put({**deployment, "status": status})


def _keep_revision(cluster: FakeCluster, deployment: Object, owner: Object) -> None:
    """Ensure that the template's ReplicaSet has the highest revision, as the Deployment controller does."""
    namespace, template = deployment["metadata"]["namespace"], deployment["spec"]["template"]
    sets = [
        each
        for each in cluster.list("ReplicaSet", namespace)
        if owner["uid"] in [o["uid"] for o in each["metadata"].get("ownerReferences") or ()]
    ]
    revisions = {each["metadata"]["name"]: int(each["metadata"]["annotations"][_REVISION]) for each in sets}
    name = f"{deployment['metadata']['name']}-{compute_digest(repr(template).encode())}"
    if revisions.get(name, 0) == max(revisions.values(), default=0) > 0:
        return
    metadata = {
        "name": name, "namespace": namespace, "ownerReferences": [owner],
        "annotations": {_REVISION: str(max(revisions.values(), default=0) + 1)},
    }  # fmt: skip
    cluster.put({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": {"template": template}})


def _list(template: Object) -> list[Object]:
    return list(template["spec"]["containers"])


class _Platform:
    """Trial worlds with nothing but a clock."""

    name = "memory"
    campaign_clock = "Virtual"

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def open_clock(self, _trial: str, _spec: TrialSpec) -> FakeClock:
        return self._clock

    def has_clock(self, _trial: str) -> bool:
        return True

    def close_clock(self, _trial: str) -> None:
        """Keep the clock: there is only one trial."""

    def health(self, _needs: object) -> tuple[str, ...]:
        return ()

    diagnose = health


class _HastyRun(TrialRun):
    """A run without pauses between attempts."""

    def _pause(self, seconds: float) -> None:
        del seconds


def record_simulated(operation: str, catalog: Catalog) -> tuple[Write, ...]:
    """Record the writes of the undisturbed trial of an operation.

    Raises:
        AssertionError: that trial did not hold.
    """
    outcome, recording = _play(operation, None, catalog)
    assert outcome.outcome == "Held", outcome
    assert not outcome.left, outcome
    return recording.writes


def play_simulated_cell(cell: Cell, catalog: Catalog) -> Outcome:
    """Run and disturb the trial of a cell, then delete it."""
    return _play(cell.operation, cell, catalog)[0]


def _play(operation: str, cell: Cell | None, catalog: Catalog) -> tuple[Outcome, Recording]:
    clock = FakeClock(1_000_000.0, on_advance=lambda now: cluster.tick(now))
    cluster = DisturbedCluster(cell, clock.now)
    _create_objects(cluster, operation, catalog)
    ref = make_trial_reference(_TRIAL)
    nodes = _read_node_specs(cluster)
    environment = cast(
        "Environment",
        SimpleNamespace(
            cluster=cluster, solver=cluster, metrics=FakeMetrics(lambda _expr, _at: []), settings=Settings(),
            platform=_Platform(clock), measurements=Measurements(), catalog=catalog,
        ),
    )  # fmt: skip

    def has_ended() -> bool:
        _HastyRun(environment, _TRIAL, lambda: False).execute()
        return bool(read_trial(cast("Object", cluster.get(ref)))[1].outcome)

    def is_clean() -> bool:
        return not _HastyRun(environment, _TRIAL, lambda: False).clean()

    ended = _run_operators(has_ended)
    status = read_trial(cast("Object", cluster.get(ref)))[1]
    cleaned = _run_operators(is_clean)
    recording = cluster.recording
    outcome = Outcome(
        cell=cell or Cell(operation=operation, disturbance="conflict", number=0),
        write=next(iter(recording.disturbed), None), times=len(recording.disturbed),
        outcome=status.outcome if ended else "", message=_describe_failures(status),
        jobs=sum(w.method == "POST" and "/Job" in w.path for w in recording.accepted),
        left=(*(() if cleaned else ("Trial/t",)), *_list_leftovers(cluster, nodes)),
    )  # fmt: skip
    return outcome, recording


def _create_objects(cluster: FakeCluster, operation: str, catalog: Catalog) -> None:
    """Create the management namespace, three nodes, and the Trial of an operation."""
    cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MANAGEMENT_NAMESPACE}})
    for number in (1, 2, 3):
        cluster.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"worker-{number}"}, "spec": {}})
    runbook = build_runbook(operation, catalog, _NAMESPACE)
    planned = plan_trial(operation, runbook, 1)
    spec = TrialSpec(
        scenario=runbook.scenario, digest=runbook.digest, plan="crash", clock="Virtual", namespace=_NAMESPACE,
        steps=planned.steps, seed=1, resolved=runbook.pack(),
    )  # fmt: skip
    metadata = {"name": _TRIAL, "namespace": MANAGEMENT_NAMESPACE}
    cluster.put({"apiVersion": API_VERSION, "kind": "Trial", "metadata": metadata, "spec": spec.to_json()})


def _read_node_specs(cluster: FakeCluster) -> dict[str, Object]:
    """Read the fields of each node's spec that have a value."""
    return {n["metadata"]["name"]: {k: v for k, v in n["spec"].items() if v} for n in cluster.list("Node")}


def _describe_failures(status: TrialStatus) -> str:
    """Describe the steps that neither held nor were skipped, in at most 300 characters."""
    failed = [s for s in status.steps if s.outcome not in ("Held", "Skipped")]
    return "; ".join(f"{s.step}: {s.outcome} {s.message} {[f.observed for f in s.findings]}" for s in failed)[:300]


def _list_leftovers(cluster: FakeCluster, nodes: Mapping[str, Object]) -> Iterator[str]:
    """Yield what a deleted trial left: records, its namespace, and nodes with another spec than before."""
    for kind in ("ConfigMap", "Secret"):
        for record in cluster.list(kind, MANAGEMENT_NAMESPACE):
            if TRIAL_LABEL in (record["metadata"].get("labels") or {}):
                yield record["metadata"]["name"]
    if cluster.get(Reference("Namespace", _NAMESPACE)) is not None:
        yield f"Namespace/{_NAMESPACE}"
    for name, spec in _read_node_specs(cluster).items():
        if spec != nodes[name]:
            yield f"Node/{name}"


def _run_operators(is_done: Callable[[], bool]) -> bool:
    """Run operators one after the other until a condition holds; returns False if it never does."""
    for _ in range(_LIVES):
        try:
            if is_done():
                return True
        except (Killed, ScenarioKitError):
            continue
    return False

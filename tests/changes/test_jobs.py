"""The ``run`` operation: one Job per command despite crashes, on the fake and a real API server."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.errors import AuthoringError, Conflict, InfrastructureError, Unreachable
from scenario_kit.model import App, Change, Client, Component, Reference
from scenario_kit.testing import FakeClock, FakeCluster

COMMAND = ["cli", "-h", "store", "CONFIG", "SET", "requirepass", "k7"]
UNDO = ["cli", "-h", "store", "CONFIG", "SET", "requirepass", ""]
APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(Component(name="store", workload=Reference("Deployment", "store"), role="Store"),),
    clients=(
        Client.from_json(
            {
                "name": "cli",
                "store": "store",
                "image": "store:1",
                "address": "redis://store:6379",
                "env": [{"name": "AUTH", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                "commands": [{"command": COMMAND}],
            }
        ),
    ),
)
RUN = Change.from_json({"run": {"client": "cli", "command": COMMAND}})
BACK = Change.from_json({"run": {"client": "cli", "command": UNDO}})
TRUE = {"status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "lastProbeTime": "2026-01-01T00:00:00Z"}


class Kubelet:
    """Plays the controller of Jobs and the kubelet by hand; ``store`` is what commands have done, in order.

    ``fate`` is how the next commands end: an exit code, ``never``, or ``unpulled``.
    """

    def __init__(self, cluster, namespace):
        self.cluster, self.namespace = cluster, namespace
        self.store = []
        self.fate = {}
        self.output = "ERR unknown subcommand"

    def live(self, now):
        for pod in self.cluster.list("Pod", self.namespace):
            owner = pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]
            if self.cluster.get(Reference("Job", owner, self.namespace, "batch")) is None:
                self.cluster.delete(Reference("Pod", pod["metadata"]["name"], self.namespace), grace_seconds=0)
        for job in self.cluster.list("Job", self.namespace):
            conditions = (job.get("status") or {}).get("conditions") or ()
            if not conditions and not job["metadata"].get("deletionTimestamp"):
                self._advance(job)

    def _advance(self, job):
        name = job["metadata"]["name"]
        container = job["spec"]["template"]["spec"]["containers"][0]
        fate = self.fate.get(tuple(container["command"]), 0)
        ref = Reference("Pod", f"{name}-x", self.namespace)
        if self.cluster.get(ref) is None:
            labels = {"batch.kubernetes.io/job-name": name}
            spec = {"restartPolicy": "Never", "containers": [{"name": "cli", "image": "store:1"}]}
            metadata = {"name": ref.name, "namespace": self.namespace, "labels": labels}
            self.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
            return
        if fate == "never":
            return
        entry = {"name": "cli", "image": "store:1", "imageID": "", "ready": False, "restartCount": 0}
        if fate == "unpulled":
            waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image store:1"}
            self._write(ref, {"phase": "Pending", "containerStatuses": [{**entry, "state": {"waiting": waiting}}]})
            return
        ended = {"exitCode": fate, "reason": "Error" if fate else "Completed"}
        if fate:
            ended["message"] = self.output
        else:
            self.store.append(container["command"][-1])
        phase = "Failed" if fate else "Succeeded"
        self._write(ref, {"phase": phase, "containerStatuses": [{**entry, "state": {"terminated": ended}}]})
        kinds = ("FailureTarget", "Failed") if fate else ("SuccessCriteriaMet", "Complete")
        status = {"conditions": [{"type": kind, "reason": "Test", **TRUE} for kind in kinds]}
        status |= {"startTime": "2026-01-01T00:00:00Z"} | (
            {"failed": 1} if fate else {"succeeded": 1, "completionTime": "2026-01-01T00:00:01Z"}
        )
        self._write(Reference("Job", name, self.namespace, "batch"), status)

    def _write(self, ref, status):
        try:
            self.cluster.patch(ref, {"status": status}, subresource="status")
        except Conflict:
            raise AssertionError("nobody else writes here") from None

    @property
    def left(self):
        kinds = ("Job", "Pod")
        return [o["metadata"]["name"] for kind in kinds for o in self.cluster.list(kind, self.namespace)]


class Lab:
    def __init__(self, cluster):
        self.cluster, self.namespace = cluster, f"j-{uuid.uuid4().hex[:8]}"
        self.trial = f"t-{uuid.uuid4().hex[:8]}"
        for name in (self.namespace, "scenario-kit"):
            if cluster.get(Reference("Namespace", name)) is None:
                cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        account = {"name": "default", "namespace": self.namespace}  # a pod is refused without one
        cluster.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        labels = {"app": "store"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "store", "image": "store:1"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        metadata = {"name": "store", "namespace": self.namespace}
        cluster.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
        self.kubelet = Kubelet(cluster, self.namespace)
        self.clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC).timestamp(), on_advance=self.kubelet.live)

    def engine(self, cluster=None):
        """A new process, with the state of the cluster only."""
        cluster = cluster or self.cluster
        context = ChangeContext(cluster=cluster, namespace=self.namespace, app=APP, now=self.clock.now)
        return Engine(context, self.clock, ClusterStore(cluster, "scenario-kit", self.trial), self.trial)

    def do(self, cluster=None):
        return self.engine(cluster).do(RUN, ordinal=7, group="Fault/f", undo=[BACK])

    @property
    def job(self):
        return self.cluster.list("Job", self.namespace)[0]


class Dying:
    """A cluster that stops answering one process after some writes: it is killed there."""

    def __init__(self, cluster, writes, after=False):
        self._cluster, self._left, self._after = cluster, writes, after

    def __getattr__(self, name):
        method = getattr(self._cluster, name)
        if name not in ("create", "apply", "patch", "delete"):
            return method

        def write(*args, **kwargs):
            self._left -= 1
            if self._left == -1 and self._after:
                method(*args, **kwargs)
            if self._left < 0:
                raise Unreachable("killed")
            return method(*args, **kwargs)

        return write


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.lab)])
def lab(request):
    return Lab(FakeCluster() if request.param == "fake" else request.getfixturevalue("kube"))


@pytest.fixture
def fake():
    return Lab(FakeCluster())


def test_command_runs_once_and_is_cleaned_up(lab):
    receipt = lab.do()
    assert receipt.state == "Done"
    assert lab.do().state == "Done"
    assert lab.kubelet.store == ["k7"]
    assert lab.kubelet.left == []
    assert lab.engine().undo_group("Fault/f") == []
    assert lab.engine().undo_all() == []
    assert lab.kubelet.store == ["k7", ""]
    assert lab.kubelet.left == []


def test_build_manifest_of_job(lab):
    lab.kubelet.fate[tuple(COMMAND)] = "never"
    with pytest.raises(InfrastructureError, match="has not ended by its deadline"):
        lab.do()
    spec, metadata = lab.job["spec"], lab.job["metadata"]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    assert (spec["backoffLimit"], pod["restartPolicy"], spec.get("activeDeadlineSeconds")) == (0, "Never", None)
    assert container["command"] == COMMAND
    assert container["image"] == "store:1"
    assert container["env"][0]["valueFrom"]["secretKeyRef"]["key"] == "k"
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert not pod["automountServiceAccountToken"]
    assert "ownerReferences" not in metadata
    assert not {"labels", "annotations"} & {k for k, v in metadata.items() if v and "scenario" in str(v)}
    assert lab.trial not in str(lab.job)
    assert metadata["name"].startswith("task-")
    assert lab.engine().undo_all() == []
    assert lab.kubelet.left == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("survive", range(7))
def test_crash_around_any_write_runs_and_undoes_command_once(fake, survive, after):
    try:
        fake.do(Dying(fake.cluster, survive, after))
    except Unreachable:
        assert fake.do().state == "Done"
    assert fake.kubelet.store == ["k7"]
    assert fake.kubelet.left == []
    assert fake.engine().undo_all() == []
    assert fake.kubelet.store == ["k7", ""]
    assert fake.kubelet.left == []


def test_events_of_job_are_deleted(lab):
    def event(name, kind, about):
        metadata = {"name": name, "namespace": lab.namespace}
        involved = {"kind": kind, "name": about, "namespace": lab.namespace}
        return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": involved}

    lab.kubelet.fate[tuple(COMMAND)] = "never"
    with pytest.raises(InfrastructureError):
        lab.do()
    name = lab.job["metadata"]["name"]
    for number, (kind, about) in enumerate((("Job", name), ("Pod", f"{name}-x"), ("Pod", "store-1"))):
        lab.cluster.create(event(f"e{number}", kind, about))
    lab.engine().undo_all()
    assert [e["metadata"]["name"] for e in lab.cluster.list("Event", lab.namespace)] == ["e2"]


def test_crash_after_creation_finds_existing_job(lab):
    with pytest.raises(Unreachable):
        lab.do(Dying(lab.cluster, 1, after=True))
    uid = lab.job["metadata"]["uid"]
    assert lab.do().entries[0].uid == uid
    assert lab.kubelet.store == ["k7"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("survive", range(6))
def test_crash_around_any_write_is_undone_by_next_process(fake, survive, after):
    try:
        fake.do(Dying(fake.cluster, survive, after))
    except Unreachable:
        assert fake.engine().undo_all() == []
    else:
        assert fake.engine().undo_all() == []
    assert fake.kubelet.left == []
    first = [] if survive == 0 and not after else [""]
    assert fake.kubelet.store[-1:] == first, "whatever the command did, its inverse came after it"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("survive", range(6))
def test_crash_around_any_write_of_undo_resumes(fake, survive, after):
    fake.do()
    try:
        blocked = fake.engine(Dying(fake.cluster, survive, after)).undo_all()
    except Unreachable:
        blocked = ["killed"]
    assert fake.engine().undo_all() == [], blocked
    assert fake.kubelet.left == []
    assert fake.kubelet.store in (["k7", ""], ["k7", "", ""])
    assert [r.state for r in fake.engine().list_receipts()] == ["Undone"]


def test_failed_command_reports_reason_every_time(lab):
    lab.kubelet.fate[tuple(COMMAND)] = 1
    for _ in range(2):
        with pytest.raises(AuthoringError, match="exit code 1: ERR unknown subcommand"):
            lab.do()
    assert lab.kubelet.left == []
    assert lab.engine().undo_all() == [], "it may have done half of its work"
    assert lab.kubelet.store == [""]


@pytest.mark.parametrize("survive", range(6))
def test_failure_survives_the_process(fake, survive):
    fake.kubelet.fate[tuple(COMMAND)] = 1
    with pytest.raises((AuthoringError, Unreachable)):
        fake.do(Dying(fake.cluster, survive))
    with pytest.raises(AuthoringError, match="ERR unknown subcommand"):
        fake.do()
    assert fake.kubelet.left == []


def test_image_pull_failure_is_reported_at_deadline(lab):
    lab.kubelet.fate[tuple(COMMAND)] = "unpulled"
    for _ in range(2):
        with pytest.raises(InfrastructureError, match="ImagePullBackOff: Back-off pulling image store:1"):
            lab.do()
    assert lab.engine().undo_all() == []
    assert lab.kubelet.left == []


def test_deleted_job_is_not_run_again(lab):
    lab.kubelet.fate[tuple(COMMAND)] = "never"
    with pytest.raises(InfrastructureError):
        lab.do()
    lab.cluster.delete(Reference("Job", lab.job["metadata"]["name"], lab.namespace, "batch"))
    with pytest.raises(InfrastructureError, match="deleted by another client"):
        lab.do()
    assert lab.engine().undo_all() == []
    assert lab.kubelet.store == [""]


def test_failed_undo_is_blocked_and_retried(lab):
    lab.do()
    lab.kubelet.fate[tuple(UNDO)] = 1
    lab.kubelet.output = "Could not connect to store:6379: Connection refused"
    for _ in range(2):
        (blocked,) = lab.engine().undo_group("Fault/f")
        assert (blocked.group, blocked.target) == ("Fault/f", "Deployment/store")
        assert "Connection refused" in blocked.reason
        assert lab.kubelet.left == []
    del lab.kubelet.fate[tuple(UNDO)]
    assert lab.engine().undo_group("Fault/f") == []
    assert lab.kubelet.store == ["k7", ""]


def test_inverse_changes_run_in_reverse_once_each(lab):
    last = Change.from_json({"run": {"client": "cli", "command": ["cli", "ACL", "SAVE"]}})
    lab.engine().do(RUN, ordinal=7, group="Fault/f", undo=[BACK, last])
    lab.kubelet.fate[tuple(UNDO)] = 1
    assert len(lab.engine().undo_all()) == 1
    del lab.kubelet.fate[tuple(UNDO)]
    assert lab.engine().undo_all() == []
    assert lab.kubelet.store == ["k7", "SAVE", ""]


def test_undo_is_skipped_if_store_is_gone(lab):
    lab.do()
    lab.cluster.delete(Reference("Deployment", "store", lab.namespace))
    assert lab.engine().undo_all() == []
    assert lab.kubelet.store == ["k7"]


def test_undo_waits_for_store_with_persistent_data(lab):
    lab.do()
    ref = Reference("Deployment", "store", lab.namespace)
    lab.kubelet.fate[tuple(UNDO)] = 1
    claim = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    lab.cluster.patch(ref, {"spec": {"replicas": 0, "template": {"spec": {"volumes": claim}}}})
    assert len(lab.engine().undo_all()) == 1
    lab.cluster.patch(ref, {"spec": {"template": {"spec": {"volumes": None}}}})
    assert lab.engine().undo_all() == []


def test_unknown_client_is_refused(lab):
    change = Change.from_json({"run": {"client": "mongosh", "command": ["mongosh"]}})
    with pytest.raises(AuthoringError, match="no client 'mongosh'; it has cli"):
        lab.engine().do(change, ordinal=1, group="Fault/f")
    assert lab.engine().list_receipts() == []

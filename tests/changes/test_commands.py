"""Jobs of commands: manifest, result, removal, and compensation."""

import hashlib

import pytest

from scenario_kit.changes import compensation, jobs
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.jobs import JobResult
from scenario_kit.changes.receipts import ClusterStore, Receipt
from scenario_kit.changes.undo import Blocked
from scenario_kit.errors import AlreadyExists, AuthoringError, Conflict, InfrastructureError, Unreachable
from scenario_kit.model import App, Change, Client, Component, Reference
from scenario_kit.testing import FakeClock, FakeCluster

NS, STORES = "shop", "shop-stores"
ENV = {"name": "AUTH", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}


def client(name="cli", store="store", **more):
    return Client.from_json({"name": name, "store": store, "image": "store:1", "address": "redis://store:6379",
                             "commands": [{"command": ["cli"]}], **more})  # fmt: skip


APP = App(
    name="shop", version="1", namespace="shop", entry="web",
    components=(
        Component(name="store", workload=Reference("Deployment", "store"), role="Store"),
        Component(name="db", workload=Reference.parse("stores/StatefulSet/db"), role="Store"),
    ),
    clients=(client(), client("psql", "db"), client("lost", "nothing")),
)  # fmt: skip


def run(name="cli", *command):
    return Change.from_json({"run": {"client": name, "command": list(command or ("cli", "SET"))}})


def thing(kind, name, api="v1", namespace=NS, labels=None, **fields):
    metadata = {"name": name, "namespace": namespace} | ({"labels": labels} if labels else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


class World:
    """A cluster and its time; ``at`` maps seconds to events in the cluster."""

    def __init__(self, *objects, at=()):
        self.cluster = FakeCluster([
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (NS, STORES, "kit")
        ] + list(objects))  # fmt: skip
        self.due = sorted(at, key=lambda each: each[0])
        self.clock = FakeClock(1000.0, on_advance=self.pass_)
        self.context = ChangeContext(
            cluster=self.cluster, namespace=NS, app=APP, now=self.clock.now, others={"stores": STORES}
        )

    def pass_(self, now):
        while self.due and now >= 1000.0 + self.due[0][0]:
            self.due.pop(0)[1](self.cluster)


JOB = Reference("Job", "task-1", NS, "batch")


def job(*conditions, uid="u", **meta):
    found = thing("Job", "task-1", "batch/v1", spec={}, status={"conditions": list(conditions)})
    found["metadata"] |= {"uid": uid, **meta}
    return found


def pod(status=None, name="task-1-x", owner="task-1"):
    return thing("Pod", name, labels={"batch.kubernetes.io/job-name": owner}, spec={}, status=status or {})


def condition(type_, status="True", **more):
    return {"type": type_, "status": status, **more}


# --- what it is


def test_job_name_is_derived_and_neutral():
    digest = hashlib.sha256(b"t/7/").hexdigest()[:10]
    assert jobs.make_job_reference("t", 7, "ns") == Reference("Job", f"task-{digest}", "ns", "batch")
    digest = hashlib.sha256(b"t/7/undo/0").hexdigest()[:10]
    assert jobs.make_job_reference("t", 7, "ns", "undo/0").name == f"task-{digest}"


@pytest.mark.parametrize(("name", "namespace"), [("cli", NS), ("psql", STORES), ("lost", NS)])
def test_command_runs_in_namespace_of_its_store(name, namespace):
    context = World().context
    assert jobs.find_client(context, name).name == name
    assert jobs.find_home(context, name) == namespace


def test_unknown_client_is_refused_with_choices():
    with pytest.raises(AuthoringError, match="shop 1 has no client 'no'; it has cli, psql, lost"):
        jobs.find_client(World().context, "no")


def test_job_runs_once_and_has_no_marks():
    expected = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "task-1", "namespace": NS},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "podReplacementPolicy": "Failed",
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "enableServiceLinks": False,
                    "automountServiceAccountToken": False,
                    "containers": [
                        {
                            "name": "main",
                            "image": "store:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["cli", "SET"],
                            "terminationMessagePolicy": "FallbackToLogsOnError",
                            "resources": {
                                "requests": {"cpu": "10m", "memory": "32Mi"},
                                "limits": {"cpu": "500m", "memory": "128Mi"},
                            },
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "capabilities": {"drop": ["ALL"]},
                            },
                        }
                    ],
                }
            },
        },
    }
    assert jobs.build_manifest(client(), ["cli", "SET"], JOB) == expected
    pod = expected["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [ENV]
    pod |= {"automountServiceAccountToken": True, "serviceAccountName": "runner"}
    assert jobs.build_manifest(client(env=[ENV], serviceAccount="runner"), ["cli", "SET"], JOB) == expected


def test_start_twice_returns_same_job():
    world = World()
    uid = jobs.start(world.context, "cli", ["cli", "SET"], JOB)
    assert uid == world.cluster.get(JOB)["metadata"]["uid"] == jobs.start(world.context, "cli", ["cli", "SET"], JOB)
    assert len(world.cluster.list("Job", NS)) == 1

    def exists(obj):
        world.cluster.delete(JOB)
        raise AlreadyExists("there is one", status=409)

    world.cluster.create = exists  # and is gone when it is looked for
    with pytest.raises(AlreadyExists):
        jobs.start(world.context, "cli", ["cli", "SET"], JOB)


# --- how it ends


SILENT, FAILED = condition("Failed"), condition("Failed", message="x")


def terminate(code, **more):
    return {"containerStatuses": [{"state": {"terminated": {"exitCode": code, **more}}}]}


@pytest.mark.parametrize(
    ("conditions", "pods", "ended"),
    [
        ([condition("Complete")], [], JobResult(True)),
        ([condition("SuccessCriteriaMet"), condition("Complete")], [pod(terminate(0))], JobResult(True)),
        ([condition("Failed", message="too often")], [], JobResult(False, "too often")),
        ([SILENT], [], JobResult(False, "")),
        ([FAILED], [pod(terminate(3, message=" no \n"))], JobResult(False, "exit code 3: no")),
        ([FAILED], [pod(terminate(1, reason="Error"))], JobResult(False, "exit code 1: Error")),
        ([SILENT], [pod(terminate(1, message="", reason="OOMKilled"))], JobResult(False, "exit code 1: OOMKilled")),
        ([SILENT], [pod(terminate(1))], JobResult(False, "exit code 1: ")),
        ([FAILED], [pod(terminate(1, message="y"), "other", "task-2")], JobResult(False, "x")),
        ([FAILED], [pod({"containerStatuses": [{"state": {"waiting": {}}}]})], JobResult(False, "x")),
        ([SILENT], [pod(terminate(1, message="a" * 700 + "end"))],
         JobResult(False, "exit code 1: " + "a" * 597 + "end")),
        ([FAILED], [pod(), pod(terminate(2, message="y"), "task-1-y")],
         JobResult(False, "exit code 2: y")),
    ],
)  # fmt: skip
def test_job_result_comes_from_job_and_output_from_pod(conditions, pods, ended):
    world = World(job(*conditions), *pods)
    assert jobs.await_end(world.context, world.clock, JOB, "u", 1180.0) == ended
    assert world.clock.now() == 1000.0


@pytest.mark.parametrize(
    ("after", "deadline", "at"), [(0, 180, 0), (20, 180, 30), (180, 180, 180), (170, 170, 170), (181, 180, None)]
)
def test_await_end_polls_every_tick_until_deadline(after, deadline, at):
    end = lambda cluster: cluster.patch(JOB, {"status": job(condition("Complete"))["status"]}, subresource="status")  # noqa: E731
    world = World(job(condition("Complete", "False")), at=[(after, end)])
    if at is None:
        with pytest.raises(InfrastructureError, match="has not ended by its deadline of 180 s: it has no pod"):
            jobs.await_end(world.context, world.clock, JOB, "u", 1000.0 + deadline)
        assert world.clock.now() == 1180.0
    else:
        assert jobs.await_end(world.context, world.clock, JOB, "u", 1000.0 + deadline) == JobResult(True)
        assert world.clock.now() == 1000.0 + at


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({}, "pod task-1-x is Pending"),
        ({"phase": "Running"}, "pod task-1-x is Running"),
        ({"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}, "pod task-1-x is Running"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "Pull", "message": "no image"}}}]},
         "pod task-1-x waits: Pull: no image"),
        ({"containerStatuses": [{"state": {"waiting": {"reason": "Pull"}}}]}, "pod task-1-x waits: Pull"),
        ({"containerStatuses": [{"state": {"waiting": {"message": "x"}}}]}, "pod task-1-x waits: : x"),
        ({"conditions": [condition("PodScheduled", "False", message="no room")]},
         "pod task-1-x is unschedulable: no room"),
        ({"conditions": [condition("PodScheduled", "False")]}, "pod task-1-x is unschedulable: "),
        ({"conditions": [condition("PodScheduled")]}, "pod task-1-x is Pending"),
        ({"conditions": [condition("Ready", "False")], "phase": "Pending"}, "pod task-1-x is Pending"),
    ],
)  # fmt: skip
def test_await_end_timeout_reports_waiting_reason(status, message):
    world = World(job(), pod(status))
    with pytest.raises(InfrastructureError) as reported:
        jobs.await_end(world.context, world.clock, JOB, "u", 1000.0)
    assert reported.value.message.endswith(f"180 s: {message}")


@pytest.mark.parametrize(
    "found",
    [None, job(condition("Complete"), uid="v"), job(condition("Complete"), deletionTimestamp="2026-01-01T00:00:00Z")],
)
def test_await_end_of_deleted_job_fails(found):
    world = World(*([found] if found else []))
    with pytest.raises(InfrastructureError, match="was deleted by another client before it ended"):
        jobs.await_end(world.context, world.clock, JOB, "u", 1180.0)


# --- how it goes


def delete_object(kind, name):
    return lambda cluster: cluster.delete(Reference(kind, name, NS, "batch" if kind == "Job" else ""), grace_seconds=0)


def release_finalizers(cluster):
    cluster.patch(JOB, {"metadata": {"finalizers": None}})


@pytest.mark.parametrize(
    ("objects", "at", "uid", "left", "seconds"),
    [
        ([job()], [], "u", False, 0),
        ([job()], [], "", False, 0),
        ([job(uid="v")], [], "u", True, 0),  # another one by that name
        ([job(), pod()], [(20, delete_object("Pod", "task-1-x"))], "u", False, 30),
        ([job(finalizers=["f"])], [(50, release_finalizers)], "u", False, 60),
        ([pod()], [(1, delete_object("Pod", "task-1-x"))], "", False, 15),
        ([], [], "", False, 0),
        ([pod(name="task-2-x", owner="task-2")], [], "", False, 0),
    ],
)
def test_remove_waits_for_pod(objects, at, uid, left, seconds):
    world = World(*objects, at=at)
    jobs.remove(world.context, world.clock, JOB, uid)
    assert (world.cluster.get(JOB) is not None) is left
    assert world.clock.now() == 1000.0 + seconds


@pytest.mark.parametrize(
    ("objects", "what"),
    [([job(finalizers=["f"])], "shop/Job.batch/task-1"), ([pod()], "shop/Pod/task-1-x")],
)
def test_remove_timeout_names_remaining_object(objects, what):
    world = World(*objects)
    with pytest.raises(TimeoutError) as reported:
        jobs.remove(world.context, world.clock, JOB)
    assert "is still there 60 s after its deletion" in str(reported.value)
    assert what.rpartition("/")[2] in str(reported.value)
    assert world.clock.now() == 1060.0


def test_remove_deletes_only_events_of_job_and_pod():
    def event(name, about, key="involvedObject", namespace=NS):
        return thing("Event", name, namespace=namespace, **({key: {"name": about}} if about else {}))

    world = World(
        event("a", "task-1"), event("b", "task-1-x"), event("c", "task-1", "regarding"), event("d", "task-10"),
        event("e", "web"), event("f", None), event("g", "task-1", namespace=STORES),
    )  # fmt: skip
    jobs.remove(world.context, world.clock, JOB)
    assert [e["metadata"]["name"] for e in world.cluster.list("Event")] == ["d", "e", "f", "g"]


CLAIM = [{"name": "d", "persistentVolumeClaim": {"claimName": "c"}}]


def store(replicas=1, volumes=None, claims=None, kind="Deployment", name="store", namespace=NS):
    template = {"metadata": {"labels": {"app": name}}, "spec": {} if volumes is None else {"volumes": volumes}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    spec |= ({} if replicas is None else {"replicas": replicas}) | ({"volumeClaimTemplates": claims} if claims else {})
    return thing(kind, name, "apps/v1", namespace, spec=spec)


STOREPOD = thing("Pod", "store-1", labels={"app": "store"}, spec={})


@pytest.mark.parametrize(
    ("objects", "lost"),
    [
        ([], True),
        ([store()], False),
        ([store(None)], False),
        ([store(0)], True),
        ([store(0), STOREPOD], False),  # still on its way out
        ([store(0, volumes=CLAIM)], False),
        ([store(0, volumes=[{"name": "d", "emptyDir": {}}])], True),
        ([store(0, volumes=[{"name": "d", "emptyDir": {}}, *CLAIM])], False),
        ([store(0, claims=[{"metadata": {"name": "d"}}])], False),
    ],
)
def test_store_without_pods_is_gone_unless_it_has_a_claim(objects, lost):
    assert jobs.is_store_gone(World(*objects).context, "cli") is lost


def test_store_in_further_namespace_is_found():
    there = store(kind="StatefulSet", name="db", namespace=STORES)
    assert jobs.is_store_gone(World(there).context, "psql") is False
    assert jobs.is_store_gone(World(store(kind="StatefulSet", name="db")).context, "psql") is True
    assert jobs.is_store_gone(World(store()).context, "lost") is True


# --- what takes it back


def receipt(*changes, left=None):
    return Receipt(trial="t", ordinal=7, group="Fault/f", change=run(), inverse=changes, inverse_left=left)


def undo_receipt(world, given):
    store = ClusterStore(world.cluster, "kit", "t")
    after, problem = compensation.compensate(world.context, world.clock, store, given)
    return after, problem, store.all()


def scale(name, replicas):
    return Change.from_json({"scale": {"target": f"Deployment/{name}", "replicas": replicas}})


def patches(world):
    return [t.rpartition("/")[2] for verb, t in world.cluster.requests if verb == "patch"]


@pytest.mark.parametrize(
    ("left", "order"), [(None, ["c", "b", "a"]), (3, ["c", "b", "a"]), (2, ["b", "a"]), (1, ["a"]), (0, [])]
)
def test_compensate_runs_in_reverse_and_saves_progress(left, order):
    world = World(*(store(name=name) for name in "abc"))
    given = receipt(*(scale(name, 3) for name in "abc"), left=left)
    after, problem, kept = undo_receipt(world, given)
    assert (patches(world), problem) == (order, None)
    assert after.inverse_left == (0 if order else left)
    assert kept == ([after] if order else [])


def test_compensate_stops_at_blocked_change_and_names_target():
    world = World(*(store(name=name) for name in "abc"))

    def before(verb, target):
        if verb == "patch" and target.endswith("/b"):
            raise Unreachable("no")

    world.cluster.before = before
    after, problem, kept = undo_receipt(world, receipt(*(scale(name, 3) for name in "abc")))
    assert problem == Blocked("Fault/f", "Deployment/b", "no")
    assert (patches(world), after.inverse_left, kept) == (["c"], 2, [after])


def test_compensate_skips_missing_target_and_existing_object():
    extra = thing("ConfigMap", "extra", data={"k": "other"})
    world = World(extra)
    create = Change.from_json({"create": thing("ConfigMap", "extra", data={"k": "v"})})
    after, problem, _ = undo_receipt(world, receipt(scale("absent", 3), create))
    assert (problem, after.inverse_left) == (None, 0)
    assert world.cluster.get(Reference("ConfigMap", "extra", NS))["data"] == {"k": "other"}


def finish_job(type_, position=0):
    """The Job of the first inverse change ends so."""
    ref = jobs.make_job_reference("t", 7, NS, f"undo/{position}")
    status = {"conditions": [condition(type_, message="said")]}
    return lambda cluster: cluster.patch(ref, {"status": status}, subresource="status")


def task(**meta):
    found = thing("Job", jobs.make_job_reference("t", 7, NS, "undo/0").name, "batch/v1", spec={})
    found["metadata"] |= {"uid": "old", **meta}
    return found


@pytest.mark.parametrize(
    ("objects", "at", "reason", "seconds"),
    [
        ([], [(10, finish_job("Complete"))], None, 15),
        ([task()], [(10, finish_job("Complete"))], None, 15),  # started by a process that was killed
        ([task(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["f"])],
         [(10, lambda c: c.patch(jobs.make_job_reference("t", 7, NS, "undo/0"), {"metadata": {"finalizers": None}})),
          (20, finish_job("Complete"))], None, 30),
        ([], [(10, finish_job("Failed"))], "the command of client 'cli' failed with said", 15),
        ([], [], "has not ended by its deadline of 180 s", 180),
    ],
)  # fmt: skip
def test_compensating_command_completes_and_removes_its_job(objects, at, reason, seconds):
    world = World(store(), *objects, at=at)
    after, problem, _ = undo_receipt(world, receipt(run("cli", "cli", "BACK")))
    assert world.cluster.list("Job") == []
    assert world.clock.now() == 1000.0 + seconds
    if reason is None:
        assert (problem, after.inverse_left) == (None, 0)
    else:
        assert (problem.group, problem.target, after.inverse_left) == ("Fault/f", "Deployment/store", None)
        assert reason in problem.reason


def test_failure_without_output_says_no_message():
    world = World(store(), at=[(0, lambda c: None)])
    silent = {"conditions": [SILENT]}
    ref = jobs.make_job_reference("t", 7, NS, "undo/0")
    world.due = [(0, lambda c: c.patch(ref, {"status": silent}, subresource="status"))]
    _, problem, _ = undo_receipt(world, receipt(run()))
    assert problem.reason.endswith("failed with no message")


def test_compensating_command_is_skipped_if_store_is_gone():
    world = World(store(0), task())
    after, problem, _ = undo_receipt(world, receipt(run()))
    assert (problem, after.inverse_left, world.cluster.list("Job")) == (None, 0, [])
    assert not [r for r in world.cluster.requests if r[0] == "create"]


@pytest.mark.parametrize(
    ("change", "about"),
    [
        (run("cli"), "Deployment/store"),
        (run("psql"), "stores/StatefulSet/db"),
        (run("no"), "no"),
        (scale("a", 1), "Deployment/a"),
        (Change.from_json({"setFlag": {"flag": "f", "variant": "v"}}), "setFlag"),
    ],
)
def test_blocked_compensation_describes_its_target(change, about):
    world = World(store(kind="StatefulSet", name="db", namespace=STORES), store(), store(name="a"))

    def before(verb, target):
        if verb in ("create", "patch") and "/t-" not in target:
            raise Conflict("no", status=409)

    world.cluster.before = before
    _, problem, _ = undo_receipt(world, receipt(change))
    assert (problem.group, problem.target) == ("Fault/f", about)

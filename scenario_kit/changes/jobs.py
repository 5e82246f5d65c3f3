"""One-shot Jobs for the operation ``run`` and for compensation.

A Job's name is derived from trial and ordinal, so creation is idempotent. It has one pod without restarts; the
result is read from the Job, the reason from the pod's last output.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.workloads import list_pods
from scenario_kit.errors import AlreadyExists, AuthoringError, InfrastructureError
from scenario_kit.model import Client, Object, Reference
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.ports import Clock

#: Seconds of trial time within which a Job must finish, including the image pull.
RUN_DEADLINE: Final = 180
#: Seconds of trial time within which a deleted Job and its pod must be gone.
_REMOVAL: Final = 60
_LONGEST: Final = 600
_JOB_LABEL: Final = "batch.kubernetes.io/job-name"


class JobResult(NamedTuple):
    """The result of a Job. ``output`` is the last output of its program, or why there is none."""

    succeeded: bool
    output: str = ""


def make_job_reference(trial: str, ordinal: int, namespace: str, position: str = "") -> Reference:
    """Return the reference of the Job of a change or of its compensation; the name reveals nothing."""
    digest = hashlib.sha256(f"{trial}/{ordinal}/{position}".encode()).hexdigest()
    return Reference("Job", f"task-{digest[:10]}", namespace, "batch")


def find_client(context: ChangeContext, name: str) -> Client:
    """Find the client that a change names.

    Raises:
        AuthoringError: the app has none by this name.
    """
    client = context.app.client(name)
    if client is None:
        known = ", ".join(c.name for c in context.app.clients) or "none"
        raise AuthoringError(
            f"run: {context.app.name} {context.app.version} has no client '{name}'; it has {known}",
            fix="name a client of the app's definition",
        )
    return client


def find_home(context: ChangeContext, client: str) -> str:
    """Find the real namespace in which a command runs: that of its store."""
    component = context.app.component(find_client(context, client).store)
    return context.namespace if component is None else context.resolve(component.workload).namespace


def build_manifest(client: Client, command: Sequence[str], ref: Reference) -> Object:
    """Build the Job, without any mark of scenario-kit, and with explicit fields so that it never runs twice."""
    container: dict[str, Any] = {
        "name": "main",
        "image": client.image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    if client.env:
        container["env"] = [dict(entry) for entry in client.env]
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "enableServiceLinks": False,
        "automountServiceAccountToken": bool(client.service_account),
        "containers": [container],
    }
    if client.service_account:
        spec["serviceAccountName"] = client.service_account
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": ref.name, "namespace": ref.namespace},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            # A terminating pod still runs, so wait until it has ended.
            "podReplacementPolicy": "Failed",
            "template": {"spec": spec},
        },
    }


def start(context: ChangeContext, client: str, command: Sequence[str], ref: Reference) -> str:
    """Create the Job unless it exists; return its UID."""
    try:
        job = context.cluster.create(build_manifest(find_client(context, client), command, ref))
    except AlreadyExists:
        found = context.cluster.get(ref)
        if found is None:
            raise
        job = found
    return str(job["metadata"]["uid"])


def await_end(context: ChangeContext, clock: Clock, ref: Reference, uid: str, deadline: float) -> JobResult:
    """Wait until the Job has ended.

    Raises:
        InfrastructureError: it was deleted by others, or not ended at the deadline; the message says what it waits for.
    """
    clock.wait(clock.now())
    while True:
        job = context.cluster.get(ref)
        if job is None or job["metadata"]["uid"] != uid or is_terminating(job):
            raise InfrastructureError(
                f"{ref} was deleted by another client before it ended; whether its command took effect is unknown",
                fix="do not delete Jobs of the app's namespace while a trial runs",
            )
        if (ended := _read_result(context, job, ref)) is not None:
            return ended
        if clock.now() >= deadline:
            raise InfrastructureError(
                f"{ref} has not ended by its deadline of {RUN_DEADLINE} s: {_describe_wait(context, ref)}"
            )
        clock.wait(min(clock.now() + GRID_SECONDS, max(deadline, clock.now())))


def remove(context: ChangeContext, clock: Clock, ref: Reference, uid: str = "") -> None:
    """Delete the Job, its pod and their events, which would reveal it, and wait until Job and pod are gone.

    Raises:
        TimeoutError: a finalizer holds them.
    """
    job = context.cluster.get(ref)
    if job is not None and (not uid or job["metadata"]["uid"] == uid):
        context.cluster.delete(ref)
        clock.wait(clock.now())
    deadline = clock.now() + _REMOVAL
    while left := _find_remaining(context, ref, uid):
        if clock.now() >= deadline:
            raise TimeoutError(f"{left} is still there {_REMOVAL} s after its deletion")
        clock.wait(clock.now() + GRID_SECONDS)
    for event in context.cluster.list("Event", ref.namespace):
        about = str((event.get("involvedObject") or event.get("regarding") or {}).get("name", ""))
        if about == ref.name or about.startswith(f"{ref.name}-"):
            context.cluster.delete(Reference("Event", event["metadata"]["name"], ref.namespace))


def is_store_gone(context: ChangeContext, client: str) -> bool:
    """Return whether the store is gone, and the effect of a command with it.

    A store without pods that keeps nothing in claims holds nothing.
    """
    component = context.app.component(find_client(context, client).store)
    if component is None:
        return True
    ref = context.resolve(component.workload)
    workload = context.cluster.get(ref)
    if workload is None:
        return True
    spec = workload["spec"]
    volumes = read_pod_spec(workload).get("volumes") or ()
    if spec.get("volumeClaimTemplates") or any("persistentVolumeClaim" in v for v in volumes):
        return False
    return spec.get("replicas", 1) == 0 and not list_pods(context.cluster, ref)


def _find_remaining(context: ChangeContext, ref: Reference, uid: str) -> Reference | None:
    job = context.cluster.get(ref)
    if job is not None and (not uid or job["metadata"]["uid"] == uid):
        return ref
    own = _list_pods(context, ref) if job is None else []
    return Reference("Pod", own[0]["metadata"]["name"], ref.namespace) if own else None


def _list_pods(context: ChangeContext, ref: Reference) -> list[Object]:
    return context.cluster.list("Pod", ref.namespace, labels={_JOB_LABEL: ref.name})


def _read_result(context: ChangeContext, job: Object, ref: Reference) -> JobResult | None:
    status = {c["type"]: c for c in (job.get("status") or {}).get("conditions") or () if c.get("status") == "True"}
    if "Complete" in status:
        return JobResult(True)
    if "Failed" in status:
        return JobResult(False, _read_last_output(context, ref) or str(status["Failed"].get("message", "")))
    return None


def _read_last_output(context: ChangeContext, ref: Reference) -> str:
    for pod in _list_pods(context, ref):
        for entry in (pod.get("status") or {}).get("containerStatuses") or ():
            if ended := entry["state"].get("terminated"):
                words = str(ended.get("message") or ended.get("reason") or "").strip()
                return f"exit code {ended['exitCode']}: {words[-_LONGEST:]}"
    return ""


def _describe_wait(context: ChangeContext, ref: Reference) -> str:
    """Return what the Job's pod waits for."""
    found = _list_pods(context, ref)
    if not found:
        return "it has no pod"
    name, status = found[0]["metadata"]["name"], found[0].get("status") or {}
    for entry in status.get("containerStatuses") or ():
        if waiting := entry["state"].get("waiting"):
            words = f"{waiting.get('reason', '')}: {waiting.get('message', '')}".rstrip(": ")
            return f"pod {name} waits: {words}"[:_LONGEST]
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"pod {name} is unschedulable: {condition.get('message', '')}"[:_LONGEST]
    return f"pod {name} is {status.get('phase', 'Pending')}"

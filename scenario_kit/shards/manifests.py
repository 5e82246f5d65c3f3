"""Objects that validate a work list in a cluster: an Indexed Job, its permissions and its input.

Sources: https://kubernetes.io/docs/concepts/workloads/controllers/job/ (completion modes, backoff limit per index, pod
failure policy) and https://kueue.sigs.k8s.io/docs/tasks/run/jobs/ (the label of the queue, ``suspend``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import scenario_kit
from scenario_kit.errors import UsageError
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.schema.deployment import CONTAINER_SECURITY, POD_SECURITY
from scenario_kit.schema.rbac import Grant, build_binding, build_role, make_account_subject
from scenario_kit.shards.payload import MAX_BYTES
from scenario_kit.shards.results import WORK_LABEL
from scenario_kit.shards.work_list import WorkList

NAME: Final = "scenario-kit-shards"
#: The default namespace.
NAMESPACE: Final = "scenario-kit-shards"
#: Mount paths of the input and of a volume for results.
INPUT: Final = "/input"
RESULTS: Final = "/results"
WORK_FILE: Final = "work.json"
#: The folder with documents of files beside the work list.
FILES_FOLDER: Final = "files"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
#: The permissions of a pod: to store results. It cannot list or delete, and its input is immutable.
GRANTS: Final = (Grant("", "configmaps", ("get", "create", "patch"), "a result of each scenario"),)
#: The exit code of ``shards run`` for an error that a retry does not end.
PERMANENT_CODE: Final = UsageError.exit_code
#: Names of namespaces and of most other objects (RFC 1123 labels and subdomains).
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL.pattern}(\.{_LABEL.pattern})*")
#: Digits of the work list's digest in the names of the Job and its immutable objects.
_DIGITS: Final = 8


class ShardJob(NamedTuple):
    """The parameters of a Job.

    ``queue`` is a LocalQueue of Kueue; without one, the Job starts at once. ``parallelism`` is the number of pods at a
    time; 0 for all. ``retries`` counts for each shard. ``results_claim`` is a PersistentVolumeClaim for results, which
    are ConfigMaps otherwise. ``cpu`` and ``memory`` are what one lab needs.
    """

    image: str = f"scenario-kit-lab:{scenario_kit.__version__}"
    namespace: str = NAMESPACE
    queue: str = ""
    parallelism: int = 0
    retries: int = 3
    results_claim: str = ""
    cpu: str = "2"
    memory: str = "4Gi"


def build_manifests(work: WorkList, job: ShardJob, documents: Sequence[str]) -> list[Object]:
    """Build all objects, in the order of their application.

    Args:
        work: the work list.
        job: the parameters.
        documents: the packed files of the work (``payload.pack_files``).

    Raises:
        UsageError: the work list does not fit into a ConfigMap, or a parameter is invalid.
    """
    _check(job)
    name = derive_job_name(work)
    text = work.to_bytes().decode()
    if (size := len(text.encode())) > MAX_BYTES:
        raise UsageError(
            f"{len(work.items)} scenarios make a work list of {size} bytes; a ConfigMap has room for {MAX_BYTES}",
            fix="plan several work lists with different names, for parts of the catalogue",
        )
    files = {f"{name}-files-{number}": document for number, document in enumerate(documents)}
    labels = _label(work)
    inputs = [
        _build_input(f"{name}-work", job.namespace, labels, {WORK_FILE: text}),
        *(_build_input(each, job.namespace, labels, {"files.json": document}) for each, document in files.items()),
    ]
    return [*_build_access(job), *inputs, _build_job(work, job, name, list(files))]


def derive_job_name(work: WorkList) -> str:
    """Derive the name of the Job; another work list gives another Job, which reuses valid results."""
    return f"{work.name}-{work.digest[:_DIGITS]}"


def _check(job: ShardJob) -> None:
    for option, value, valid in (
        ("--namespace", job.namespace, _LABEL),
        ("--queue", job.queue, _LABEL),  # the value of a label, too
        ("--results-claim", job.results_claim, _NAME),
    ):
        if value and not valid.fullmatch(value):
            raise UsageError(f"{option} {value}: this is not a valid object name", fix=f"{option} validation")
    for option, value in (("--cpu", job.cpu), ("--memory", job.memory)):
        try:
            positive = parse_quantity(value) > 0
        except ValueError:
            positive = False
        if not positive:
            raise UsageError(
                f"{option} {value}: this is not a quantity", fix=f"{option} {'2' if 'cpu' in option else '4Gi'}"
            )


def _label(work: WorkList) -> dict[str, str]:
    return {"app.kubernetes.io/name": NAME, WORK_LABEL: work.name}


def _build_input(name: str, namespace: str, labels: dict[str, str], data: dict[str, str]) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True, "data": data}


def _build_access(job: ShardJob) -> list[Object]:
    """Build the namespace, the account with its role, and a policy that denies all ingress."""
    metadata = {"name": NAME, "namespace": job.namespace, "labels": {"app.kubernetes.io/name": NAME}}
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    pods = {"matchLabels": {"app.kubernetes.io/name": NAME}}
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata}
    rights = [
        build_role("Role", metadata, GRANTS),
        build_binding("RoleBinding", "Role", NAME, metadata, make_account_subject(NAME, job.namespace)),
    ]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": job.namespace, "labels": restricted}},
        {**account, "automountServiceAccountToken": False},
        *([] if job.results_claim else rights),
        {**policy, "spec": {"podSelector": pods, "policyTypes": ["Ingress"]}},
    ]


def _build_job(work: WorkList, job: ShardJob, name: str, files: Sequence[str]) -> Object:
    labels = _label(work)
    queue = {QUEUE_LABEL: job.queue} if job.queue else {}
    template = {"metadata": {"labels": labels}, "spec": _build_pod(job, name, files)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": job.namespace, "labels": labels | queue},
        "spec": {
            "completionMode": "Indexed",
            "completions": work.shards,
            "parallelism": min(job.parallelism, work.shards) if job.parallelism else work.shards,
            "backoffLimitPerIndex": job.retries,
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": {"rules": _build_failure_rules()},
            **({"suspend": True} if job.queue else {}),
            "template": template,
        },
    }


def _build_failure_rules() -> list[dict[str, Any]]:
    """Build the policy: replace preempted pods, end the Job after a permanent error, retry other failures.

    A failed validation is a result, so its pod succeeds.
    """
    codes = {"containerName": "lab", "operator": "In", "values": [PERMANENT_CODE]}
    return [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": codes},
    ]


def _build_pod(job: ShardJob, name: str, files: Sequence[str]) -> dict[str, Any]:
    sources = [
        {"configMap": {"name": f"{name}-work", "items": [{"key": WORK_FILE, "path": WORK_FILE}]}},
        *(
            {"configMap": {"name": each, "items": [{"key": "files.json", "path": f"{FILES_FOLDER}/{number}.json"}]}}
            for number, each in enumerate(files)
        ),
    ]
    claim = {"claimName": job.results_claim}
    return {
        "restartPolicy": "Never",
        "serviceAccountName": NAME,
        "automountServiceAccountToken": not job.results_claim,
        "securityContext": POD_SECURITY,
        "terminationGracePeriodSeconds": 30,
        "containers": [_build_container(job, shipped=bool(files))],
        "volumes": [
            {"name": "tmp", "emptyDir": {"medium": "Memory"}},
            {"name": "input", "projected": {"sources": sources}},
            *([{"name": "results", "persistentVolumeClaim": claim}] if job.results_claim else []),
        ],
    }


def _build_container(job: ShardJob, *, shipped: bool) -> dict[str, Any]:
    files = ["--files", f"{INPUT}/{FILES_FOLDER}"] if shipped else []
    place = ["--results", RESULTS] if job.results_claim else ["--namespace", job.namespace]
    results = [{"name": "results", "mountPath": RESULTS}] if job.results_claim else []
    return {
        "name": "lab",
        "image": job.image,
        "args": ["shards", "run", f"{INPUT}/{WORK_FILE}", *files, *place],
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "workingDir": "/tmp",  # noqa: S108 - the pod's own, in memory
        "resources": {"requests": {"cpu": job.cpu, "memory": job.memory}, "limits": {"memory": job.memory}},
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - the pod's own, in memory
            {"name": "input", "mountPath": INPUT, "readOnly": True},
            *results,
        ],
        "securityContext": CONTAINER_SECURITY,
    }

"""A real Kueue admits the Job of a work list, preempts it and admits it again."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.model import Object, Reference
from scenario_kit.schema.deployment import CONTAINER_SECURITY, POD_SECURITY
from scenario_kit.shards.manifests import ShardJob, build_manifests
from tests.kueue.controller import find_workload
from tests.shards.conftest import make_work
from tools.crash.play import await_true

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

GROUP: Final = "kueue.x-k8s.io"
VERSION: Final = f"{GROUP}/v1beta2"
SECONDS: Final = 90.0
#: Two labs at a time.
QUOTA: Final = {"cpu": "4", "memory": "8Gi"}


def build_queue(name: str, quota: dict[str, str]) -> Iterator[Object]:
    """Build a ClusterQueue of that quota, the LocalQueue in the namespace ``name``, and the priority of urgent work."""
    resources = [{"name": name, "nominalQuota": amount} for name, amount in quota.items()]
    group = {"coveredResources": list(quota), "flavors": [{"name": "any", "resources": resources}]}
    spec = {
        "namespaceSelector": {},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [group],
    }
    yield {"apiVersion": VERSION, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}
    queue = {"name": name, "namespace": name}
    yield {"apiVersion": VERSION, "kind": "LocalQueue", "metadata": queue, "spec": {"clusterQueue": name}}
    yield {"apiVersion": VERSION, "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 1000}


def build_urgent_job(queue: str) -> Object:
    """Build a Job of higher priority that needs more than the labs leave."""
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    container = {"name": "work", "image": "busybox:1.37", "resources": resources, "securityContext": CONTAINER_SECURITY}
    pod = {"restartPolicy": "Never", "securityContext": POD_SECURITY, "containers": [container]}
    labels = {f"{GROUP}/queue-name": queue, f"{GROUP}/priority-class": "urgent"}
    metadata = {"name": "urgent", "namespace": queue, "labels": labels}
    spec = {"suspend": True, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


@pytest.fixture
def job(cluster: KubeCluster, request: pytest.FixtureRequest) -> Reference:
    """The Job of three shards, two at a time, in a namespace and for a queue of its own. The lab is thrown away."""
    name = f"queue-{zlib.crc32(request.node.name.encode()):x}"
    work = make_work("a", "b", "c", shards=3)
    objects = build_manifests(work, ShardJob(namespace=name, queue=name, parallelism=2), ["{}"])
    for each in objects:
        cluster.apply(each)
    return Reference("Job", objects[-1]["metadata"]["name"], name, "batch")


def has_pods(cluster: KubeCluster, job: Reference, count: int) -> bool:
    """Return whether the Job has so many pods."""
    pods = cluster.list("Pod", job.namespace)
    own = [each for each in pods if each["metadata"]["labels"].get("job-name") == job.name]
    return len(own) == count


def read_conditions(cluster: KubeCluster, job: Reference) -> dict[str, Any]:
    """Read the conditions of the Job's Workload by type."""
    conditions: Sequence[Any] = find_workload(cluster, job).get("status", {}).get("conditions", ())
    return {each["type"]: each for each in conditions}


def test_it_runs_within_the_quota_and_gives_way_to_urgent_work(cluster: KubeCluster, job: Reference) -> None:
    assert has_pods(cluster, job, 0)
    for each in build_queue(job.namespace, QUOTA):
        cluster.apply(each)
    assert await_true(lambda: has_pods(cluster, job, 2), SECONDS)
    assert read_conditions(cluster, job)["Admitted"]["status"] == "True"

    urgent = Reference("Job", "urgent", job.namespace, "batch")
    cluster.apply(build_urgent_job(job.namespace))
    assert await_true(lambda: has_pods(cluster, job, 0), SECONDS)
    assert await_true(lambda: has_pods(cluster, urgent, 1), SECONDS)
    assert read_conditions(cluster, job)["Preempted"]["reason"] == "InClusterQueue"

    cluster.delete(urgent)
    assert await_true(lambda: has_pods(cluster, job, 2), SECONDS)
    status = (cluster.get(job) or {})["status"]
    assert status.get("failed", 0) == 0, "a preemption is no failure of a shard"
    assert not status.get("failedIndexes")


def test_it_waits_for_a_quota_of_its_size(cluster: KubeCluster, job: Reference) -> None:
    for each in build_queue(job.namespace, {**QUOTA, "cpu": "3"}):
        cluster.apply(each)

    def is_refused() -> bool:  # before that, the queue itself is not ready yet
        reserved = read_conditions(cluster, job).get("QuotaReserved", {})
        return "insufficient quota for cpu" in reserved.get("message", "")

    assert await_true(is_refused, SECONDS)
    assert has_pods(cluster, job, 0)

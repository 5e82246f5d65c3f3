"""The Job of a work list in a lab: its controller creates one pod per index, and starts nothing that Kueue has not."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from scenario_kit.model import Object, Reference
from scenario_kit.shards.manifests import ShardJob, build_manifests
from tests.e2e.conftest import Lab
from tests.shards.conftest import make_work

INDEX = "batch.kubernetes.io/job-completion-index"


@pytest.fixture
def namespace(lab: Lab) -> Iterator[str]:
    name = "e2e-shards"
    yield name
    lab.cluster.delete(Reference("Namespace", name))


def list_pods(lab: Lab, namespace: str, count: int) -> list[Object]:
    """The pods of the namespace, once there are that many."""
    end = time.monotonic() + 60
    while len(pods := lab.cluster.list("Pod", namespace)) < count and time.monotonic() < end:
        time.sleep(0.1)
    return pods


def test_each_shard_has_a_pod_that_knows_its_index(lab: Lab, namespace: str) -> None:
    work = make_work("a", "b", "c", shards=3)
    *others, job = build_manifests(work, ShardJob(namespace=namespace, queue="local", parallelism=2), ["{}"])
    for obj in others:
        lab.cluster.apply(obj)
    stored = lab.cluster.apply(job)
    ref = Reference("Job", stored["metadata"]["name"], namespace, "batch")

    def suspended() -> bool:
        conditions = ((lab.cluster.get(ref) or {}).get("status") or {}).get("conditions") or ()
        return any(c["type"] == "Suspended" and c["status"] == "True" for c in conditions)

    end = time.monotonic() + 60
    while not suspended() and time.monotonic() < end:
        time.sleep(0.1)
    assert suspended()
    assert lab.cluster.list("Pod", namespace) == []

    lab.cluster.patch(ref, {"spec": {"suspend": False}})  # as Kueue admits it
    pods = list_pods(lab, namespace, 2)
    assert sorted(pod["metadata"]["annotations"][INDEX] for pod in pods) == ["0", "1"]
    for pod in pods:
        (container,) = pod["spec"]["containers"]
        assert "JOB_COMPLETION_INDEX" in {each["name"] for each in container["env"]}

    lab.cluster.patch(ref, {"spec": {"suspend": True}})  # as Kueue preempts it
    end = time.monotonic() + 60
    while lab.cluster.list("Pod", namespace) and time.monotonic() < end:
        time.sleep(0.1)
    assert lab.cluster.list("Pod", namespace) == []
    assert (lab.cluster.get(ref) or {})["status"].get("failed", 0) == 0

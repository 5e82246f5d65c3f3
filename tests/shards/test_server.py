"""The printed objects on a real API server: accepted as they stand, and enough, and no more, for the pod's account."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from scenario_kit.cli import run
from scenario_kit.clients import KubeCluster
from scenario_kit.errors import ClusterError, Forbidden
from scenario_kit.model import Object, Reference
from scenario_kit.shards.execution import ShardRun, ShardTally
from scenario_kit.shards.manifests import NAME, ShardJob, build_manifests
from scenario_kit.shards.result_store import ConfigMapStore
from tests.shards.conftest import make_report, make_work

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def installed(kube: KubeCluster) -> list[Object]:
    """A Job for two shards, as printed, in a namespace of its own."""
    namespace = f"s-{uuid.uuid4().hex[:8]}"
    objects = build_manifests(make_work("a", "b", shards=2), ShardJob(namespace=namespace), ["{}"])
    for obj in objects:
        kube.apply(obj)
    return objects


@pytest.fixture(scope="module")
def namespace(installed: list[Object]) -> str:
    return str(installed[-1]["metadata"]["namespace"])


@pytest.fixture(scope="module")
def account(api_server: Path, namespace: str) -> Iterator[KubeCluster]:
    """A client with the rights of the pods."""
    cluster = KubeCluster(api_server, as_user=f"system:serviceaccount:{namespace}:{NAME}")
    yield cluster
    cluster.close()


def test_applied_objects_are_accepted_again(kube: KubeCluster, installed: list[Object]) -> None:
    before = [kube.apply(obj)["metadata"]["resourceVersion"] for obj in installed]
    assert [kube.apply(obj)["metadata"]["resourceVersion"] for obj in installed] == before


def test_kueue_gets_a_suspended_job_and_a_volume_needs_no_rights(kube: KubeCluster, kube_namespace: str) -> None:
    job = ShardJob(namespace=kube_namespace, queue="local", results_claim="bucket", parallelism=1, retries=0)
    stored = [kube.apply(obj) for obj in build_manifests(make_work("a", "b", shards=2), job, [])]
    assert stored[-1]["spec"]["suspend"] is True
    assert {each["kind"] for each in stored} == {"Namespace", "ServiceAccount", "NetworkPolicy", "ConfigMap", "Job"}


def test_pod_meets_the_restricted_standard(kube: KubeCluster, installed: list[Object]) -> None:
    """As the Job controller creates it; the namespace enforces the standard."""
    job = installed[-1]
    account = Reference("ServiceAccount", NAME, job["metadata"]["namespace"])
    assert kube.get(account) is not None
    metadata = {"name": "shard-0", "namespace": job["metadata"]["namespace"]}
    pod: Object = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": job["spec"]["template"]["spec"]}
    assert kube.create(pod)["spec"]["serviceAccountName"] == NAME

    privileged = {**pod["spec"]["containers"][0], "securityContext": {"privileged": True}}
    with pytest.raises(ClusterError, match="restricted"):
        kube.create(
            {**pod, "metadata": metadata | {"name": "shard-1"}, "spec": {**pod["spec"], "containers": [privileged]}}
        )


def test_account_can_run_and_resume_a_shard(account: KubeCluster, namespace: str) -> None:
    work, asked = make_work("a", "b", shards=2), list[str]()

    def run_shard() -> ShardTally:
        store = ConfigMapStore(account, namespace)
        return ShardRun(work, store, lambda item: asked.append(item.scenario) or make_report(item), print).run(1)

    assert run_shard() == ShardTally(1, 0, ())
    assert run_shard() == ShardTally(1, 1, ())
    assert asked == ["b"]


ELSEWHERE: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}


@pytest.mark.parametrize(
    "attempt",
    [
        lambda c, ns: c.list("ConfigMap", ns),
        lambda c, ns: c.delete(Reference("ConfigMap", "nightly-work", ns)),
        lambda c, ns: c.list("Secret", ns),
        lambda c, ns: c.get(Reference("Secret", "any", ns)),
        lambda c, ns: c.list("Pod", ns),
        lambda c, ns: c.get(Reference("ConfigMap", "coredns", "kube-system")),
        lambda c, ns: c.create(ELSEWHERE),
        lambda c, ns: c.patch(Reference("Job", "any", ns, "batch"), {"spec": {"parallelism": 9}}),
        lambda c, ns: c.request_token(Reference("ServiceAccount", NAME, ns), 600),
    ],
)  # fmt: skip
def test_account_can_do_nothing_else(attempt, account: KubeCluster, namespace: str) -> None:
    with pytest.raises(Forbidden):
        attempt(account, namespace)


def test_account_cannot_change_its_input(account: KubeCluster, installed: list[Object], namespace: str) -> None:
    names = [each["metadata"]["name"] for each in installed if each["kind"] == "ConfigMap"]
    assert len(names) == 2
    for name in names:
        with pytest.raises(ClusterError, match="immutable"):
            account.patch(Reference("ConfigMap", name, namespace), {"data": {"work.json": "{}"}})


def test_printed_stream_equals_applied_objects(
    kube: KubeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command, from a scenario to objects that the server takes."""
    monkeypatch.chdir(tmp_path)

    def kit(*arguments: str) -> str:
        capsys.readouterr()
        assert run(["shards", *arguments]) == 0
        return capsys.readouterr().out

    source = Path(__file__).parents[2] / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
    alone = tmp_path / "mine" / "cart-scaled-to-zero" / "scenario.yaml"
    alone.parent.mkdir(parents=True)
    alone.write_text(source.read_text())
    kit("plan", "mine", "--shards", "1", "--name", "printed")
    namespace = f"p-{uuid.uuid4().hex[:8]}"
    objects = list(yaml.safe_load_all(kit("manifests", "work.json", "--namespace", namespace)))
    for obj in objects:
        kube.apply(obj)
    (files,) = [each for each in objects if "files.json" in each.get("data", {})]
    assert list(json.loads(files["data"]["files.json"])) == ["alone/cart-scaled-to-zero/scenario.yaml"]

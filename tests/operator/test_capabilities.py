"""Scenarios with unmet capabilities are not accepted, with the reason in a condition."""

from __future__ import annotations

import pytest
import yaml

from operators.scenario.admission import AcceptedScenario, accept
from operators.scenario.environment import MANAGEMENT_NAMESPACE, Environment, Settings
from operators.scenario.plan import Refusal
from operators.scenario.platforms import RealCluster
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.model import Object
from scenario_kit.testing import FakeCluster, FakeMetrics

CATALOG = Catalog()
DAEMON: Object = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "chaos-daemon", "namespace": "chaos-mesh"},
    "spec": {"selector": {}, "template": {}},
    "status": {"numberAvailable": 3},
}
MANAGER: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "chaos-controller-manager", "namespace": "chaos-mesh"},
    "spec": {"selector": {}, "template": {}},
    "status": {"availableReplicas": 1},
}


def scenario(name: str = "payment-pod-failure") -> Object:
    path = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    document: Object = yaml.safe_load(path.read_text())
    document["metadata"] |= {"namespace": MANAGEMENT_NAMESPACE, "generation": 1}
    return document


#: Scrapes of most targets in five minutes, at the interval that alerts expect.
SCRAPES = 20.0


def environment(*objects: Object, scrapes: float = SCRAPES, kube_state: bool = True, down: bool = False) -> Environment:
    def answer(expr: str, at: float) -> list[tuple[dict[str, str], float]]:
        if "kube_pod_info" in expr and not kube_state:
            return []
        return [({}, scrapes if "count_over_time(up[" in expr else 1.0)]

    cluster, metrics = FakeCluster(objects), FakeMetrics(answer)
    metrics.down = down
    return Environment(
        cluster=cluster,
        solver=cluster,
        metrics=metrics,
        catalog=CATALOG,
        settings=Settings(),
        platform=RealCluster(cluster, metrics),
    )


def test_missing_capability_is_the_reason() -> None:
    refusal = accept(environment(), scenario())

    assert isinstance(refusal, Refusal)
    assert refusal.reason == "CapabilityMissing"
    assert "needs chaos-mesh, which the cluster does not have" in refusal.message
    assert "run it in the lab, or a cluster with Chaos Mesh" in refusal.message


def test_scenario_with_all_capabilities_is_accepted() -> None:
    assert isinstance(accept(environment(MANAGER), scenario()), AcceptedScenario)


def test_canary_result_is_cached() -> None:
    now = [0.0]
    cluster = FakeCluster()
    platform = RealCluster(cluster, FakeMetrics(lambda expr, at: []), clock=lambda: now[0])
    netem = next(c for c in list_capabilities(CATALOG) if c.name == "netem")

    assert not platform.offers(netem, "", "Wall")
    cluster.put(DAEMON)
    assert not platform.offers(netem, "", "Wall")
    now[0] = 61.0
    assert platform.offers(netem, "", "Wall")


@pytest.mark.parametrize(("declared", "there"), [((), False), (("node-access",), True)])
def test_unprobeable_capability_must_be_declared(declared: tuple[str, ...], there: bool) -> None:
    platform = RealCluster(FakeCluster(), FakeMetrics(lambda expr, at: []), declared)
    access = next(c for c in list_capabilities(CATALOG) if c.name == "node-access")

    assert platform.offers(access, "", "Wall") is there


def install(workload: Object, **container: object) -> Object:
    """The workload with a container."""
    template = {"metadata": {}, "spec": {"containers": [{"name": "c", **container}]}}
    return {**workload, "spec": {"selector": {}, "template": template}}


INSTALLED_MANAGER = install(MANAGER, image="ghcr.io/chaos-mesh/chaos-mesh:v2.8.0@sha256:0")
DAEMON_OF_CONTAINERD = install(DAEMON, command=["chaos-daemon", "--runtime", "containerd"])


@pytest.mark.parametrize(
    ("objects", "options", "text"),
    [
        ((INSTALLED_MANAGER,), {"scrapes": 10.0}, "most targets are scraped every 30 s; alerts expect 15"),
        ((INSTALLED_MANAGER,), {"kube_state": False}, "no series kube_pod_info"),
        ((INSTALLED_MANAGER, "cri-o"), {}, "its daemon expects containerd, nodes run cri-o"),
    ],
)
def test_incompatible_platform_is_the_reason(objects, options, text) -> None:
    given = [each if isinstance(each, dict) else build_node(each) for each in objects]
    name = "payment-pod-failure" if options.get("kube_state", True) else "ads-tuned-to-death"
    refusal = accept(environment(*given, DAEMON_OF_CONTAINERD, **options), scenario(name))

    assert isinstance(refusal, Refusal)
    assert refusal.reason == "CapabilityMissing"
    assert text in refusal.message


def build_node(runtime: str, **spec: str) -> Object:
    info = {"kubeletVersion": "v1.33.1", "containerRuntimeVersion": f"{runtime}://1.7"}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": runtime}, "spec": spec, "status": {"nodeInfo": info},
    }  # fmt: skip


def test_unreachable_prometheus_does_not_refuse_scenario() -> None:
    assert isinstance(accept(environment(MANAGER, DAEMON, down=True), scenario()), AcceptedScenario)


def test_starting_prometheus_does_not_refuse_scenario() -> None:
    assert isinstance(accept(environment(MANAGER, DAEMON, scrapes=0.0), scenario()), AcceptedScenario)


def test_platform_checks_are_cached_for_a_minute() -> None:
    requests, now = [], [0.0]
    metrics = FakeMetrics(lambda expr, at: requests.append(expr) or [({}, SCRAPES)])
    platform = RealCluster(FakeCluster(), metrics, clock=lambda: now[0])
    first = platform.check_platform()
    count = len(requests)
    now[0] = 59.0
    assert platform.check_platform() == first
    assert len(requests) == count
    now[0] = 61.0
    platform.check_platform()
    assert len(requests) == 2 * count


@pytest.mark.parametrize(
    ("spec", "data_plane"),
    [
        ({"providerID": "kind://docker/demo/demo-worker"}, "Kind"),
        ({"providerID": "gce://p/z/n"}, "RealNode"),
        ({}, "RealNode"),
    ],
)
def test_evidence_names_the_data_plane_and_the_versions(spec, data_plane) -> None:
    metrics = FakeMetrics(lambda expr, at: [])
    platform = RealCluster(FakeCluster([build_node("containerd", **spec), INSTALLED_MANAGER]), metrics)

    assert platform.data_plane == data_plane
    assert platform.versions == ("v1.33.1", "chaos-mesh v2.8.0")


def test_cluster_without_chaos_mesh_has_no_engine() -> None:
    assert RealCluster(FakeCluster(), FakeMetrics(lambda expr, at: [])).versions == ("", "")

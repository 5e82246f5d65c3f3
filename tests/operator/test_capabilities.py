"""A Scenario whose needs its environment does not meet is not accepted, and the reason tells why."""

from __future__ import annotations

import pytest
import yaml

from operators.scenario.admission import accept
from operators.scenario.environment import MANAGEMENT_NAMESPACE, Environment, Settings
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


def scenario() -> Object:
    path = find_data_root() / "catalog" / "scenarios" / "payment-pod-failure" / "scenario.yaml"
    document: Object = yaml.safe_load(path.read_text())
    document["metadata"] |= {"namespace": MANAGEMENT_NAMESPACE, "generation": 1}
    return document


def environment(*objects: Object) -> Environment:
    cluster, metrics = FakeCluster(objects), FakeMetrics(lambda expr, at: [({}, 1.0)])
    return Environment(
        cluster=cluster,
        solver=cluster,
        metrics=metrics,
        catalog=CATALOG,
        settings=Settings(),
        grounds=RealCluster(cluster, metrics),
    )


def test_a_missing_capability_is_the_reason() -> None:
    refusal, desired, _ = accept(environment(), scenario())

    assert desired is None
    assert refusal is not None
    assert refusal.reason == "CapabilityMissing"
    assert "needs chaos-mesh, which the cluster does not have" in refusal.message
    assert "run it in the lab, or a cluster with Chaos Mesh" in refusal.message


def test_where_everything_is_there_it_is_accepted() -> None:
    refusal, desired, runbook = accept(environment(MANAGER), scenario())

    assert refusal is None
    assert desired is not None
    assert runbook is not None


def test_a_canary_is_asked_again_only_after_a_while() -> None:
    now = [0.0]
    cluster = FakeCluster()
    grounds = RealCluster(cluster, FakeMetrics(lambda expr, at: []), clock=lambda: now[0])
    netem = next(c for c in list_capabilities(CATALOG) if c.name == "netem")

    assert not grounds.offers(netem, "", "Wall")
    cluster.put(DAEMON)
    assert not grounds.offers(netem, "", "Wall")
    now[0] = 61.0
    assert grounds.offers(netem, "", "Wall")


@pytest.mark.parametrize(("declared", "there"), [((), False), (("node-access",), True)])
def test_what_no_canary_can_see_is_declared(declared: tuple[str, ...], there: bool) -> None:
    grounds = RealCluster(FakeCluster(), FakeMetrics(lambda expr, at: []), declared)
    access = next(c for c in list_capabilities(CATALOG) if c.name == "node-access")

    assert grounds.offers(access, "", "Wall") is there

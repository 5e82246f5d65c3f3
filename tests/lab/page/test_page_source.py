"""Where the page has it from: worlds, trials, objects, samples and logs are put together."""

from typing import Any

import pytest

from scenario_kit.errors import InfrastructureError, NotFound
from scenario_kit.lab.page.data import PageSource
from scenario_kit.model import AlertRule, App, CallEdge, Component, Reference, Runbook, TrialSpec
from scenario_kit.model.authored.alert_rule import EntityLabel, Windows
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeCluster, FakeMetrics

START = 1_000_020.0
APP = App(
    name="little", version="1", namespace="shop", entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web")), Component(name="db",
    workload=Reference("StatefulSet", "db"))),
    calls=(CallEdge(caller="web", callee="db"),),
)  # fmt: skip
RULE = AlertRule(
    name="Errors", expr="error_ratio > 0.05", for_seconds=60, range_seconds=60,
    entity=EntityLabel(label="service_name", kind="Component"),
)  # fmt: skip
RUNBOOK = Runbook(
    scenario="db-gone", digest="d", app=APP, namespace="shop-x1y2", users=1, objects=(), rules=(RULE,),
    windows=Windows(quiet=0, hold=0, still_firing=0, clear=0, resolve=0), faults=(), expect=Expect(),
    ground_truth=GroundTruth(),
)  # fmt: skip


def build_trial(name: str = "t1") -> dict[str, Any]:
    spec = TrialSpec(scenario="db-gone", digest="d", namespace="shop-x1y2", steps=(), resolved=RUNBOOK.pack())
    steps = [
        {"index": 0, "step": "deploy", "outcome": "Held", "startedAt": START, "finishedAt": START + 15},
        {"index": 1, "step": "inject", "outcome": "Running", "startedAt": START + 60},
    ]
    return {
        "apiVersion": "scenariokit.io/v1alpha1", "kind": "Trial",
        "metadata": {"name": name, "namespace": "scenario-kit"},
        "spec": spec.to_json(), "status": {"startedAt": START, "steps": steps},
    }  # fmt: skip


def build_pod(name: str, ready: bool) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop-x1y2"},
        "spec": {"containers": [{"name": "c"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}]},
    }  # fmt: skip


def build_workload(kind: str, name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop-x1y2"}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": {"replicas": 1}}


class FakeServer:
    """A running world and its status."""

    def __init__(self) -> None:
        self.world = {
            "trial": "t1",
            "namespace": "shop-x1y2",
            "mode": "Virtual",
            "now": START + 600,
            "stored": START + 300,
        }
        self.management = FakeCluster([build_trial()])
        self.cluster = FakeCluster([build_workload("Deployment", "web"), build_workload("StatefulSet", "db")])
        self.cluster.put(build_pod("web-7d9c8b6f5-x2x4z", True))
        self.cluster.put(build_pod("db-0", False))
        self.metrics = FakeMetrics.matching(
            {
                "kube_deployment": lambda at: [({}, 1.0)],
                "error_ratio": lambda at: [({"service_name": "web"}, 1.0)] if at > START + 120 else [],
                "status_code": lambda at: [({"service_name": "web", "status_code": "STATUS_CODE_ERROR"}, 4.0)],
                "histogram_quantile": lambda at: [({"service_name": "web"}, 5.0)],
            }
        )
        self.worlds = [self.world]

    def source(self, **options: bool) -> PageSource:
        return PageSource(lambda: self.worlds, self.management, self.cluster, self.metrics, **options)


@pytest.fixture
def stage() -> FakeServer:
    return FakeServer()


def test_world_page_combines_objects_samples_and_logs(stage: FakeServer) -> None:
    stage.cluster.log("shop-x1y2", "db-0", "c", START + 550, "the disk is full")
    source = stage.source()
    (listed,) = source.worlds()
    assert (listed["trial"], listed["scenario"], listed["app"]) == ("t1", "db-gone", "little 1")
    found = source.world("shop-x1y2")
    assert {c["name"]: (c["tone"], c["word"]) for c in found["components"]} == {
        "web": ("bad", "100% fail"),
        "db": ("bad", "0/1 ready"),
    }
    assert (found["step"], found["injectedAt"]) == ("inject", START + 60)
    assert [(a["name"], a["entity"], a["state"]) for a in found["alerts"]] == [("Errors", "Deployment/web", "Firing")]
    assert [line["text"] for line in source.logs("shop-x1y2", "db")] == ["the disk is full"]


def test_alerts_cover_stored_samples_and_are_queried_once(stage: FakeServer) -> None:
    source = stage.source()
    (before,) = source.alerts()
    assert before["namespaces"] == ["shop-x1y2"]
    assert before["alerts"][0]["since"] == START + 135 + 60
    count = len(stage.metrics.queries)
    source.alerts()
    assert len(stage.metrics.queries) == count
    stage.world["stored"] = START + 315
    source.alerts()
    assert len(stage.metrics.queries) == count + 2


def test_page_without_spoilers_hides_the_trial(stage: FakeServer) -> None:
    source = stage.source(spoilers=False)
    found = source.world("shop-x1y2")
    reported = str({**found, "chart": None}) + str(source.worlds())
    assert "t1" not in reported
    assert "db-gone" not in reported
    assert "inject" not in str(found["chart"]["bands"])
    assert (found["step"], found["injectedAt"], found["chart"]["faulty"]) == ("", None, False)


def test_unknown_world_or_component_is_not_found(stage: FakeServer) -> None:
    source = stage.source()
    with pytest.raises(NotFound, match="elsewhere"):
        source.world("elsewhere")
    with pytest.raises(NotFound, match="no component 'cache'"):
        source.logs("shop-x1y2", "cache")
    stage.worlds = []
    with pytest.raises(NotFound):
        source.world("shop-x1y2")
    assert source.alerts() == []


def test_recreated_trial_is_a_new_one(stage: FakeServer) -> None:
    source = stage.source()
    source.world("shop-x1y2")
    stage.management.put({**build_trial(), "metadata": {"name": "t1", "namespace": "scenario-kit", "uid": "another"}})
    later = {**build_trial()["status"], "startedAt": START + 240, "steps": []}
    stage.management.put(
        {**build_trial(), "metadata": {"name": "t1", "namespace": "scenario-kit", "uid": "another"}, "status": later}
    )
    assert source.world("shop-x1y2")["startedAt"] == START + 240


def test_unreachable_prometheus_raises_infrastructure_error(stage: FakeServer) -> None:
    stage.metrics.down = True
    with pytest.raises(InfrastructureError, match="connection refused"):
        stage.source().world("shop-x1y2")

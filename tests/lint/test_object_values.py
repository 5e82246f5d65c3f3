"""Checks of objects, events, logs and probes that cannot fail or hold in the healthy app, and honest ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint.rules.alerts.constant_checks import explain_constant
from scenario_kit.lint.rules.alerts.healthy_checks import explain_healthy
from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.model import Check
from scenario_kit.model.base import convert
from tests.lint.test_claims import list_messages
from tests.lint.test_truth_rules import APP, objects, scenario

CART, CATALOG = "Deployment/cart", "Service/product-catalog"
AVAILABLE = 'status.conditions[?(@.type=="Available")]'


def of_object(ref: str, path: str, **comparison: Any) -> dict[str, Any]:
    return {"object": {"ref": ref, "path": path, **comparison}}


def parse(check: dict[str, Any]) -> Check:
    return convert(check, Check)


CONSTANT = [
    of_object(CART, "status.availableReplicas", atLeast=0),
    of_object(CART, "status['availableReplicas']", atLeast=-1),
    of_object(CART, "{$.status.unavailableReplicas}", atMost=1_000_000),
    of_object(CART, "status['redyReplicas']", atMost=0),
    of_object(CART, "{.status.redyReplicas}", exists=False),
    of_object(CART, "status.availableReplicas", notEquals="none"),
    of_object(CART, "status.availableReplicas", matches="[0-9]"),
    of_object(CART, f"{AVAILABLE}.status", matches="True|False|Unknown"),
    of_object(CART, "status.conditions[*].type", matches="[A-Z]"),
    of_object(CART, "status.conditions", notContains={"type": "Nope"}),
    of_object(CART, "status.conditions[0].reason", contains=""),
    of_object(CART, "status.observedGeneration", atLeast=1),
    of_object(CART, "status", exists=True),
    of_object(CART, "spec.replicas", atLeast=0),
    of_object(CART, "spec.selector", exists=True),
    of_object(CART, "spec.template.spec.containers[0].image", matches="."),
    of_object(CART, "metadata.uid", exists=True),
    of_object(CART, "metadata.name", equals="cart"),
    of_object(CART, "kind", equals="Deployment"),
    of_object(CART, "metadata.resourceVersion", matches="[0-9]+"),
    of_object(CATALOG, "spec.ports[0].targetPort", atMost=65535),
    of_object(CATALOG, "spec.ports[0].port", notEquals="8080"),
    of_object(CATALOG, "spec.type", notEquals="ClusterIp"),
    {"object": {"ref": "Namespace/kube-system", "exists": True}},
    {"endpoints": {"service": CATALOG, "atMost": 10_000}},
    {"endpoints": {"service": CATALOG, "atLeast": 5, "atMost": 2}},
    {"log": {"entity": CART, "pattern": "."}},
    {"log": {"entity": CART, "pattern": r"\S"}},
    {"log": {"entity": CART, "pattern": "[a-zA-Z]"}},
    {"log": {"entity": CART, "pattern": "(error|)"}},
    {"probe": {"target": CATALOG, "port": 8080, "path": "/", "statusAtLeast": 500, "statusAtMost": 200}},
]
HEALTHY = [
    of_object(CART, "status.availableReplicas", atMost=1000),
    of_object(CART, 'status.conditions[?(@.type=="Avail")]', exists=False),
    of_object(CART, "status.conditions[99]", exists=False),
    of_object(CART, f"{AVAILABLE}.status", equals="True"),
    of_object(CART, "status.collisionCount", atMost=0),
    of_object(CART, "spec.progressDeadlineSeconds", equals=600),
    of_object(CART, "spec.template.spec.restartPolicy", equals="Always"),
    of_object(CART, "spec.template.spec.terminationGracePeriodSeconds", equals=30),
    of_object(CATALOG, "status.loadBalancer.ingress", exists=False),
    of_object(CATALOG, "spec.sessionAffinity", equals="None"),
    of_object(CATALOG, "spec.ports[0].protocol", equals="TCP"),
    of_object(CATALOG, "spec.clusterIP", exists=True),
    {"event": {"entity": CART, "reason": "Scheduled"}},
    {"event": {"entity": CART, "reason": "ScalingReplicaSet"}},
    {"event": {"entity": CART, "reason": "Started", "messageMatches": ".*"}},
    {"probe": {"target": CATALOG, "port": 1, "succeeds": False}},
    {"probe": {"target": CATALOG, "port": 8080}},
    {"probe": {"target": "Deployment/product-catalog", "port": 8080}},
]
HONEST = [
    of_object(CATALOG, "spec.ports[0].targetPort", equals=9999),
    of_object(CATALOG, "spec.ports[0].targetPort", notEquals=8080),
    of_object(CART, "status.availableReplicas", atMost=0),
    of_object(CART, "status.availableReplicas", atLeast=2),
    of_object(CART, "status.unavailableReplicas", atLeast=1),
    of_object(CART, f"{AVAILABLE}.status", equals="False"),
    of_object(CART, f"{AVAILABLE}.status", notEquals="True"),
    of_object(CART, 'status.conditions[?(@.type=="Progressing")].reason', equals="ProgressDeadlineExceeded"),
    of_object(CART, 'status.conditions[?(@.type=="ReplicaFailure")]', exists=True),
    of_object(CART, "metadata.generation", atLeast=2),
    of_object(CART, "status.readyReplicas", exists=False),
    of_object(CART, "spec.replicas", equals=0),
    of_object(CART, "spec.template.spec.containers[0].image", contains="broken"),
    of_object("PersistentVolumeClaim/data", "status.phase", equals="Pending"),
    {"event": {"entity": CART, "reason": "Unhealthy"}},
    {"event": {"entity": CART, "reason": "Killing"}},
    {"event": {"entity": CART, "reason": "Scheduled", "messageMatches": "node-3"}},
    {"log": {"entity": "Deployment/frontend", "pattern": "ECONNREFUSED"}},
    {"log": {"entity": "Deployment/frontend", "pattern": "[Ee]rror"}},
    {"log": {"entity": "Deployment/frontend", "pattern": "level=(warn|error)"}},
    {"probe": {"target": CATALOG, "port": 8080, "succeeds": False}},
    {"probe": {"target": CATALOG, "port": 8080, "path": "/", "statusAtLeast": 500, "statusAtMost": 599}},
    {"probe": {"target": "Deployment/product-catalog", "port": 9999}},
    {"endpoints": {"service": CATALOG, "atMost": 0}},
    {"endpoints": {"service": CATALOG, "atLeast": 2}},
]


@pytest.mark.parametrize("check", CONSTANT, ids=str)
def test_check_that_cannot_fail_is_explained(check: dict[str, Any]) -> None:
    assert explain_constant(parse(check))


@pytest.mark.parametrize("check", HEALTHY, ids=str)
def test_check_that_holds_in_the_healthy_app_is_explained(check: dict[str, Any]) -> None:
    assert explain_healthy(parse(check), objects(), APP)


@pytest.mark.parametrize("check", HONEST, ids=str)
def test_honest_check_is_not_reported(check: dict[str, Any]) -> None:
    assert not explain_constant(parse(check))
    assert not explain_healthy(parse(check), objects(), APP)


@pytest.mark.parametrize(
    "check",
    [
        of_object(CART, "spec.template.spec.containers[0].image", notEquals="example.org/broken:1"),
        of_object(CATALOG, "spec.ports[0].targetPort", notEquals=9999),
        of_object(CART, f"{AVAILABLE}.status", notEquals="False"),
    ],
    ids=str,
)
def test_check_that_a_fault_is_gone_may_fail(check: dict[str, Any]) -> None:
    assert not explain_constant(parse(check))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("spec.replicas", ("spec", "replicas")),
        ("{$.status['readyReplicas']}", ("status", "readyReplicas")),
        ('status.conditions[?(@.type=="A")].status', ("status", "conditions", "status")),
        ("metadata.labels['a.b/c']", ("metadata", "labels", "a.b/c")),
        (r"metadata.labels.a\.b", ("metadata", "labels", "a.b")),
        ("spec.ports[0].port", ("spec", "ports", "port")),
        ("", ()),
    ],
)
def test_names_of_a_path(path: str, names: tuple[str, ...]) -> None:
    assert list_names(path) == names


@pytest.mark.parametrize(
    ("check", "reported"),
    [
        pytest.param(of_object(CART, "spec.replica", exists=False), 1, id="nothing changes it"),
        pytest.param(of_object("ConfigMap/product-catalog-products", "data", exists=True), 1, id="nor that"),
        pytest.param(of_object(CATALOG, "spec.ports[0].port", equals=8080), 0, id="the fault changes it"),
        pytest.param(of_object(CART, "status.availableReplicas", atLeast=1), 0, id="a consequence"),
        pytest.param({"endpoints": {"service": CATALOG, "atLeast": 1}}, 0, id="addresses"),
    ],
)
def test_check_that_stays_could_fail(check: dict[str, Any], reported: int, tmp_path: Path) -> None:
    path = scenario(lambda spec: spec["expect"].update(checks=[{**check, "stays": True}]), tmp_path)
    assert len(list_messages(path, "SK141")) == reported

"""The generated CRDs on a real API server: accepted, rejected and stored objects."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.operator import PLATFORM, find_platform
from scenario_kit.clients import KubeCluster
from scenario_kit.errors import Rejected
from scenario_kit.load import load_scenario, parse_scenario_object
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Reference
from scenario_kit.render.scenarios.bundle import bundle_scenario
from scenario_kit.schema.api_group import GROUP
from scenario_kit.schema.deployment import Installation, build_deployment
from scenario_kit.schema.install import build_access
from tools.pages.crd import KINDS, build_crd

pytestmark = pytest.mark.lab
SCENARIOS = Catalog().scenarios()
GOOD = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"
TRIAL = {
    "apiVersion": f"{GROUP}/v1alpha1",
    "kind": "Trial",
    "spec": {
        "scenario": "a",
        "digest": "d",
        "namespace": "otel-demo",
        "steps": [{"kind": "deploy"}],
        "resolved": "H4sIAAAA",
    },
}


@pytest.fixture(scope="module")
def server(kube: KubeCluster) -> KubeCluster:
    for kind in KINDS:
        kube.apply(build_crd(kind))
    for kind in KINDS:
        name = build_crd(kind)["metadata"]["name"]
        ref = Reference("CustomResourceDefinition", name, "", "apiextensions.k8s.io")
        assert any(_is_established(kube.get(ref)) for _ in range(1000)), f"{name} is not served"
    return kube


def _is_established(definition: dict[str, Any] | None) -> bool:
    conditions = ((definition or {}).get("status") or {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def place_object(document: dict[str, Any], namespace: str, name: str = "") -> dict[str, Any]:
    result = copy.deepcopy(document)
    result["metadata"] = {**result.get("metadata", {}), "namespace": namespace}
    if name:
        result["metadata"]["name"] = name
    return result


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.parent.name)
def test_catalogue_survives_the_server(path: Path, server: KubeCluster, kube_namespace: str) -> None:
    stored = server.create(place_object(read_document(path).data, kube_namespace))

    assert parse_scenario_object(stored) == load_scenario(path).scenario


@pytest.mark.parametrize("old", ["on", "true"])
def test_former_name_is_refused_and_not_pruned(old: str, server: KubeCluster, kube_namespace: str) -> None:
    sent = place_object(read_document(GOOD).data, kube_namespace)
    checks = [{"event": {old: "Deployment/cart", "reason": "BackOff"}}]
    for changed in ({"alerts": [{"name": "A", old: "Deployment/cart"}]}, {"checks": checks}):
        with pytest.raises(Rejected, match=r"`on`.* is now `entity`; run `scenario-kit lint --fix`"):
            server.create({**sent, "spec": {**sent["spec"], "expect": {**sent["spec"]["expect"], **changed}}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("title"), "title"),
        (lambda s: s.update(domain="finops"), "must be 'sre'"),
        (lambda s: s["faults"][0].update(target="service/cart"), "should match"),
        (lambda s: s["faults"].append(dict(s["faults"][0])), "Duplicate value"),
        (lambda s: s["expect"]["alerts"][0].update({"class": "mustFire"}), "MustFire"),
        (lambda s: s["decoys"][0].update(changes=[{}]), "changes"),
        (lambda s: s["faults"][0].update(start={"afterSeconds": 1, "afterFault": "x"}), "start"),
        (lambda s: s["app"].update(load={"users": 0}), "greater than or equal to 1"),
    ],
)
def test_refused_scenarios(change: Any, message: str, server: KubeCluster, kube_namespace: str) -> None:
    document = place_object(read_document(GOOD).data, kube_namespace)
    change(document["spec"])

    with pytest.raises(Rejected, match=message):
        server.create(document)


def test_scenario_name_length_is_limited(server: KubeCluster, kube_namespace: str) -> None:
    with pytest.raises(Rejected, match="at most 52 characters"):
        server.create(place_object(read_document(GOOD).data, kube_namespace, "x" * 53))


def test_trial_spec_is_immutable(server: KubeCluster, kube_namespace: str) -> None:
    stored = server.create(place_object(TRIAL, kube_namespace, "t"))
    ref = Reference("Trial", "t", kube_namespace, GROUP)

    assert stored["spec"]["resolved"] == "H4sIAAAA"
    for patch in ({"plan": "other"}, {"resolved": "H4sIAAAB"}):
        with pytest.raises(Rejected, match="must not change"):
            server.patch(ref, {"spec": patch})


def test_status_subresource_keeps_all_fields(server: KubeCluster, kube_namespace: str) -> None:
    server.create(place_object(TRIAL, kube_namespace, "s"))
    ref = Reference("Trial", "s", kube_namespace, GROUP)
    status = {
        "observedGeneration": 1,
        "namespace": "otel-demo",
        "startedAt": 1.5,
        "now": 16.5,
        "current": 0,
        "outcome": "Held",
        "evidence": "t-evidence",
        "steps": [{"index": 0, "step": "deploy", "outcome": "Held", "startedAt": 1.5, "finishedAt": 16.5}],
        "findings": [{"code": "SK321", "severity": "Error", "message": "m"}],
        "conditions": [
            {
                "type": "Succeeded",
                "status": "True",
                "reason": "Held",
                "message": "m",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
                "observedGeneration": 1,
            }
        ],
    }

    stored = server.patch(ref, {"status": status}, subresource="status")

    assert stored["status"] == status


def validation(namespace: str, **spec: Any) -> dict[str, Any]:
    return place_object({"apiVersion": f"{GROUP}/v1alpha1", "kind": "Validation", "spec": spec}, namespace, "v")


LOOK = {"repeats": 5, "accept": 0, "reject": 2}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "scenario|embedded"),
        ({"scenario": "a", "embedded": {"name": "a", "spec": read_document(GOOD).data["spec"]}}, "scenario|embedded"),
        ({"scenario": "a", "plan": "quick"}, "Quick"),
        ({"scenario": "a", "plan": "Quick", "custom": {"name": "m", "looks": [LOOK]}}, "only one of"),
        ({"scenario": "a", "custom": {"name": "m", "looks": []}}, "looks"),
        ({"scenario": "a", "custom": {"name": "m", "looks": [LOOK | {"accept": -1}]}}, "greater than or equal to 0"),
        ({"scenario": "a", "maxMinutes": 0}, "greater than or equal to 1"),
        ({"embedded": {"name": "a", "spec": {"title": "t"}}}, "app"),
    ],
)
def test_refused_validations(spec: Any, message: str, server: KubeCluster, kube_namespace: str) -> None:
    with pytest.raises(Rejected, match=message):
        server.create(validation(kube_namespace, **spec))


def test_validation_spec_is_immutable(server: KubeCluster, kube_namespace: str) -> None:
    embedded = {"name": "cart", "spec": read_document(GOOD).data["spec"]}
    stored = server.create(validation(kube_namespace, embedded=embedded, custom={"name": "m", "looks": [LOOK]}))

    assert stored["spec"]["embedded"] == embedded
    assert stored["spec"]["custom"]["looks"] == [LOOK]
    with pytest.raises(Rejected, match="must not change"):
        server.patch(Reference("Validation", "v", kube_namespace, GROUP), {"spec": {"seed": 2}})


def test_installed_manifests_are_valid(server: KubeCluster) -> None:
    for obj in (*build_access(), *build_deployment(Installation(catalog_claim="ours", replicas=2))):
        assert server.apply(obj)["metadata"]["uid"]


def test_platform_manifests_are_valid(server: KubeCluster) -> None:
    for name in PLATFORM:
        for obj in yaml.safe_load_all((find_platform() / name).read_text()):
            assert server.apply(obj)["metadata"]["uid"]


def test_validation_keeps_fault_types(server: KubeCluster, kube_namespace: str) -> None:
    bundle = bundle_scenario(GOOD, Catalog([find_data_root()]))
    stored = server.create(validation(kube_namespace, embedded={"name": "cart", "spec": bundle["spec"]}))

    assert bundle["spec"]["faultTypes"]
    assert stored["spec"]["embedded"]["spec"]["faultTypes"] == bundle["spec"]["faultTypes"]


def test_former_fault_types_field_is_refused_with_new_one(server: KubeCluster, kube_namespace: str) -> None:
    former = {"name": "cart", "spec": read_document(GOOD).data["spec"], "faults": [{"name": "own", "definition": "a"}]}
    with pytest.raises(Rejected, match=r"`embedded\.faults` is now `embedded\.spec\.faultTypes`"):
        server.create(validation(kube_namespace, embedded=former))

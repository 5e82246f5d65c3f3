"""A second CRD version on a real API server: stored objects are kept and readable as both."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from scenario_kit.catalog import find_data_root
from scenario_kit.clients import KubeCluster
from scenario_kit.errors import ClusterError
from scenario_kit.load.yaml.document import read_document
from scenario_kit.model import Reference
from tools.pages.crd import SERVED, CrdVersion, build_crd

#: A group of its own: other tests of the session use ours.
GROUP: Final = "versions.scenariokit.io"
OLD, NEW = "v1alpha1", "v1beta1"
SPEC: Final = read_document(find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml").data[
    "spec"
]
TRIAL: Final = {
    "scenario": "a", "digest": "d", "namespace": "otel-demo", "steps": [{"kind": "deploy"}], "resolved": "H4sIAAAA",
}  # fmt: skip
SPECS: Final[dict[str, Any]] = {
    "Scenario": SPEC,
    "Trial": TRIAL,
    "Validation": {"embedded": {"name": "a", "spec": SPEC}, "plan": "Try"},
}
STATUSES: Final[dict[str, Any]] = {
    "Scenario": {"observedGeneration": 1, "trial": "a-1"},
    "Trial": {"observedGeneration": 1, "outcome": "Held"},
    "Validation": {"observedGeneration": 1, "scenario": "a", "planned": 3},
}

Kubectl = Callable[..., str]


def define(kind: str, *versions: CrdVersion, group: str = GROUP) -> dict[str, Any]:
    """The definition of a kind in a group of this test."""
    made = build_crd(kind, versions)
    made["spec"]["group"] = group
    made["metadata"]["name"] = f"{kind.lower()}s.{group}"
    return made


def refer(kind: str, group: str = GROUP) -> Reference:
    return Reference("CustomResourceDefinition", f"{kind.lower()}s.{group}", "", "apiextensions.k8s.io")


@pytest.fixture
def kubectl(api_server: Path, binary: Callable[[str], Path]) -> Kubectl:
    def run(*arguments: str, text: str = "") -> str:
        command = [str(binary("kubectl")), "--kubeconfig", str(api_server), *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def read_served(kubectl: Kubectl, namespace: str, kind: str, version: str) -> dict[str, Any]:
    """An object as a version serves it; a version that was just added takes a moment."""
    path = f"/apis/{GROUP}/{version}/namespaces/{namespace}/{kind.lower()}s/kept"
    for _ in range(200):
        try:
            found: dict[str, Any] = json.loads(kubectl("get", "--raw", path))
        except AssertionError:
            continue
        if found["apiVersion"] == f"{GROUP}/{version}":
            return found
    raise AssertionError(f"{path} is not served")


def drop_version(obj: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in obj["metadata"].items() if k not in ("managedFields", "resourceVersion")}
    return {**obj, "apiVersion": "", "metadata": metadata}


@pytest.mark.lab
@pytest.mark.parametrize("kind", SERVED)
def test_stored_objects_survive_a_second_version(
    kind: str, kube: KubeCluster, kube_namespace: str, kubectl: Kubectl
) -> None:
    definition = define(kind, CrdVersion(OLD))
    kube.apply(definition)
    assert any("Established" in str(kube.get(refer(kind))) for _ in range(1000))
    obj = {
        "apiVersion": f"{GROUP}/{OLD}",
        "kind": kind,
        "metadata": {"name": "kept", "namespace": kube_namespace},
        "spec": SPECS[kind],
    }
    kubectl("create", "-f", "-", text=yaml.safe_dump(obj))
    status = json.dumps({"status": STATUSES[kind]})
    named = f"{kind.lower()}s.{OLD}.{GROUP}"
    kubectl("patch", named, "kept", "-n", kube_namespace, "--subresource=status", "--type=merge", "-p", status)
    before = read_served(kubectl, kube_namespace, kind, OLD)

    # Served beside the old one, and then stored.
    kube.apply(define(kind, CrdVersion(OLD), CrdVersion(NEW, stored=False)))
    assert drop_version(read_served(kubectl, kube_namespace, kind, NEW)) == drop_version(before)
    kube.apply(define(kind, CrdVersion(OLD, stored=False), CrdVersion(NEW)))
    for version in (OLD, NEW):
        assert drop_version(read_served(kubectl, kube_namespace, kind, version)) == drop_version(before)

    # Not written again, it is still stored under the old one, which cannot be dropped.
    stored = (kube.get(refer(kind)) or {})["status"]["storedVersions"]
    assert stored == [OLD, NEW]
    with pytest.raises(ClusterError, match="storedVersions"):
        kube.apply(define(kind, CrdVersion(NEW)))

    kubectl("replace", "-f", "-", text=json.dumps(read_served(kubectl, kube_namespace, kind, NEW)))
    kube.patch(refer(kind), {"status": {"storedVersions": [NEW]}}, subresource="status")
    kube.apply(define(kind, CrdVersion(NEW)))
    assert drop_version(read_served(kubectl, kube_namespace, kind, NEW)) == drop_version(before)


@pytest.mark.lab
def test_validation_with_former_fault_types_keeps_them_and_gets_status(
    kube: KubeCluster, kube_namespace: str, kubectl: Kubectl
) -> None:
    """A Validation stored with the former `embedded.faults` stays readable, and its status has the fix."""
    group = f"former.{GROUP}"
    before = define("Validation", CrdVersion(OLD), group=group)
    spec = before["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    del spec["embedded"]["properties"]["faults"]["x-kubernetes-validations"]
    kube.apply(before)
    assert any("Established" in str(kube.get(refer("Validation", group))) for _ in range(1000))
    former = [{"name": "own", "definition": "text"}]
    obj = {
        "apiVersion": f"{group}/{OLD}",
        "kind": "Validation",
        "metadata": {"name": "former", "namespace": kube_namespace},
        "spec": {"embedded": {"name": "a", "spec": SPEC, "faults": former}},
    }
    kubectl("create", "-f", "-", text=yaml.safe_dump(obj))

    kube.apply(define("Validation", CrdVersion(OLD), group=group))
    named = (f"validations.{OLD}.{group}", "former", "-n", kube_namespace)
    kubectl("patch", *named, "--subresource=status", "--type=merge", "-p", '{"status": {"observedGeneration": 1}}')
    kubectl("patch", *named, "--type=merge", "-p", '{"metadata": {"finalizers": ["scenariokit.io/undo"]}}')
    kubectl("patch", *named, "--type=merge", "-p", '{"metadata": {"finalizers": null}}')
    stored = json.loads(kubectl("get", *named, "-o", "json"))
    assert stored["spec"]["embedded"]["faults"] == former
    assert stored["status"] == {"observedGeneration": 1}


@pytest.mark.parametrize("kind", SERVED)
def test_versions_differ_in_name_only(kind: str) -> None:
    """With the None strategy, fields missing in another version's schema would be pruned."""
    first, second = define(kind, CrdVersion(OLD), CrdVersion(NEW, stored=False))["spec"]["versions"]

    assert (first.pop("name"), second.pop("name")) == (OLD, NEW)
    assert (first.pop("storage"), second.pop("storage")) == (True, False)
    assert first == second
    assert "conversion" not in define(kind, CrdVersion(OLD))["spec"]


@pytest.mark.parametrize("stored", [(), (True, True), (False,)])
def test_exactly_one_version_is_stored(stored: tuple[bool, ...]) -> None:
    with pytest.raises(ValueError, match="exactly one version is stored"):
        build_crd("Scenario", [CrdVersion(f"v{i}", each) for i, each in enumerate(stored)])

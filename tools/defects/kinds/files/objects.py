"""Objects and patches that an API server refuses: fields, values, versions and kinds that it does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.fault_type import with_own_fault
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject

#: What replaces the fields of a container, and how it is wrong.
_IN_CONTAINER: dict[str, Document] = {
    "enviroment for env": {"enviroment": [{"name": "MODE", "value": "safe"}]},
    "image_pull_policy for imagePullPolicy": {"image_pull_policy": "Always"},
    "resource for resources": {"resource": {"limits": {"memory": "64Mi"}}},
}
_OF_WRONG_TYPE: dict[str, Document] = {
    "the value of a variable is a number": {"env": [{"name": "MODE", "value": 1}]},
    "env is a mapping": {"env": {"name": "MODE", "value": "safe"}},
    "a limit has a unit that quantities do not have": {"resources": {"limits": {"memory": "64MB"}}},
    "an enumeration has another value": {"imagePullPolicy": "Sometimes"},
}
_FORMER: dict[str, tuple[str, Document]] = {
    "autoscaling/v2beta2": ("HorizontalPodAutoscaler", {"minReplicas": 1, "maxReplicas": 2}),
    "policy/v1beta1": ("PodDisruptionBudget", {"minAvailable": 1}),
    "extensions/v1beta1": ("Ingress", {"rules": []}),
}


def _workload(subject: Subject) -> tuple[str, str]:
    """Return an uninvolved Deployment, and its first container."""
    target = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    return target, subject.objects[target]["spec"]["template"]["spec"]["containers"][0]["name"]


def _decoy(subject: Subject, change: Document, reported: str) -> Defect:
    document, spec = subject.copy()
    decoy = {"name": "look-closer", "description": "Somebody tries a setting", "changes": [change]}
    spec["decoys"] = [*spec.get("decoys", []), decoy]
    return Defect(reported, document)


def _patch(target: str, form: str, patch: Any) -> Document:
    return {"patch": {"target": target, "type": form, "patch": patch}}


def _inside(container: Document) -> Document:
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


@kind("SK142")
def patch_with_a_misspelled_field(subject: Subject) -> Iterator[Defect]:
    """A patch names a field of a container that does not exist."""
    target, name = _workload(subject)
    for reported, fields in _IN_CONTAINER.items():
        yield _decoy(subject, _patch(target, "Strategic", _inside({"name": name, **fields})), reported)


@kind("SK142")
def patch_with_a_value_of_another_type(subject: Subject) -> Iterator[Defect]:
    """A patch gives a field of a container a value that it cannot hold."""
    target, name = _workload(subject)
    for reported, fields in _OF_WRONG_TYPE.items():
        yield _decoy(subject, _patch(target, "Strategic", _inside({"name": name, **fields})), reported)


@kind("SK142")
def patch_at_another_level(subject: Subject) -> Iterator[Defect]:
    """A merge patch sets a field one level too high or too low."""
    target, _ = _workload(subject)
    yield _decoy(subject, _patch(target, "Merge", {"replicas": 2}), "replicas above spec")
    below = {"spec": {"template": {"spec": {"replicas": 2}}}}
    yield _decoy(subject, _patch(target, "Merge", below), "replicas in the pod's spec")


@kind("SK142")
def path_with_a_misspelled_field(subject: Subject) -> Iterator[Defect]:
    """The path of a JSON patch names a field that does not exist."""
    target, _ = _workload(subject)
    for path in ("/spec/template/spec/containers/0/enviroment", "/spec/strategi"):
        step: Document = {"op": "add", "path": path, "value": []}
        yield _decoy(subject, _patch(target, "Json", [step]), f"the path {path}")


@kind("SK142")
def directive_that_does_not_exist(subject: Subject) -> Iterator[Defect]:
    """A strategic merge patch has a directive with a misspelled value."""
    target, name = _workload(subject)
    yield _decoy(subject, _patch(target, "Strategic", _inside({"name": name, "$patch": "remove"})), "$patch: remove")


@kind("SK143")
def version_that_is_gone(subject: Subject) -> Iterator[Defect]:
    """A decoy creates an object of an API version that was removed from Kubernetes."""
    for version, (kind_, spec) in _FORMER.items():
        body = {"apiVersion": version, "kind": kind_, "metadata": {"name": "shop"}, "spec": dict(spec)}
        yield _decoy(subject, {"create": body}, version)


@kind("SK143")
def kind_that_does_not_exist(subject: Subject) -> Iterator[Defect]:
    """A decoy creates an object of a misspelled kind."""
    body = {"apiVersion": "v1", "kind": "Configmap", "metadata": {"name": "shop"}, "data": {"mode": "safe"}}
    yield _decoy(subject, {"create": body}, "Configmap")


@kind("SK142")
def fault_with_a_misspelled_field(subject: Subject) -> Iterator[Defect]:
    """The fault type also patches a field that does not exist."""
    use = needs(subject.spec.faults, "it has no fault")[0]
    needs(subject.objects.get(f"{use.target.kind}/{use.target.name}"), "its target is not an object of the app")

    def edit(fault: Document) -> None:
        fault["changes"].append(_patch("{{ target }}", "Merge", {"metadata": {"anotations": {"mode": "safe"}}}))

    document, files = with_own_fault(subject, edit)
    yield Defect("anotations in a merge patch", document, files)

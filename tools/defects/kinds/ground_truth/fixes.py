"""Faults whose `fix` of the labelled cause also repairs another cause, which has no label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.fault_type import with_own_fault
from tools.defects.edits.solutions import require_one_cause
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject


@kind("SK401", stage="Trial", first=("label-apart",))
def second_cause_repaired_with_the_label(subject: Subject) -> Iterator[Defect]:
    """The fault also scales the workload behind its Service to zero, as an artefact, and its fix scales it up again."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    service = needs(use.target.kind == "Service" and use.target, "it does not target a Service")
    workload = str(next(c.workload for c in subject.components() if f"Service/{c.service}" == service))
    needs(workload.startswith("Deployment/"), "no Deployment is behind the Service")
    replicas = subject.objects[workload]["spec"].get("replicas", 1)
    up = {"scale": {"target": workload, "replicas": replicas}}

    def add_cause(fault: Document) -> None:
        needs(fault["entities"][0].get("fix"), "its fault has no repair of its cause")
        fault["changes"].append({"scale": {"target": workload, "replicas": 0}})
        fault["entities"][0]["fix"].append(up)
        fault["entities"].append({"ref": workload, "role": "Artefact"})
        fault["solutions"], fault["decoys"] = [], []
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own_fault(subject, add_cause)
    for solution in document["spec"].get("solutions", []):
        solution["changes"].append(up)
    needs(document["spec"].get("solutions"), "it inherits its solutions")
    yield Defect(f"{workload} is scaled to zero, too, and scaled up with the repair of {service}", document, files)


@kind("SK402", stage="Trial", first=("label-beside",))
def inert_object_repaired_with_a_restart(subject: Subject) -> Iterator[Defect]:
    """The cause of a command's effect is declared to be a disruption budget, whose fix also restarts the store."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    name = "{{ neutral('budget') }}"
    budget = f"PodDisruptionBudget.policy/{name}"
    again = {"restart": {"target": "{{ target }}", "dropOld": True}}

    def blame(fault: Document) -> None:
        ran = all("run" in change for change in fault["changes"])
        needs(ran and fault["persistence"] == "Pod", "a restart of the store does not end it")
        fault["changes"].insert(0, {"create": _build_budget(name)})
        fix = [{"delete": {"target": budget}}, again]
        fault["entities"] = [
            {"ref": budget, "generated": True, "role": "Cause", "fix": fix},
            {"ref": "{{ target }}", "role": "Artefact"},
        ]
        fault["persistence"], fault["solutions"], fault["decoys"] = "Object", [], []

    document, files = with_own_fault(subject, blame)
    spec = document["spec"]
    spec["groundTruth"]["rootCauses"] = [{"fault": use.name}]
    first = {
        "from": f"Fault/{use.name}",
        "to": str(use.target),
        "because": "its pods may not be moved to where there is room",
    }
    spec["groundTruth"]["propagation"].insert(0, first)
    changes = [{"removeFault": {"fault": use.name}}, {"restart": {"target": str(use.target), "dropOld": True}}]
    spec["solutions"] = [{"name": "no-budget", "fixes": [use.name], "changes": changes}]
    yield Defect(f"a disruption budget is the cause, and its fix also restarts {use.target}", document, files)


def _build_budget(name: str) -> dict[str, Any]:
    selector = {"matchLabels": "{{ target.labels }}"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"maxUnavailable": 0, "selector": selector},
    }


@kind("SK401", stage="Trial", first=("label-apart",))
def second_cause_offset_by_a_new_object(subject: Subject) -> Iterator[Defect]:
    """The fault also shuts the pods behind its Service off, and its fix creates a policy that lets callers in again."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    service = needs(use.target.kind == "Service" and use.target, "it does not target a Service")
    workload = str(next(c.workload for c in subject.components() if f"Service/{c.service}" == service))
    labels = subject.objects[workload]["spec"]["selector"]["matchLabels"]
    shut, opened = (_build_policy(name, labels) for name in ("{{ neutral('pods') }}", "{{ neutral('net') }}"))
    opened["spec"]["ingress"] = [{}]

    def add_cause(fault: Document) -> None:
        needs(fault["entities"][0].get("fix"), "its fault has no repair of its cause")
        fault["changes"].append({"create": shut})
        fault["entities"][0]["fix"].append({"create": opened})
        policy = f"NetworkPolicy.networking.k8s.io/{shut['metadata']['name']}"
        fault["entities"].append({"ref": policy, "generated": True, "role": "Artefact"})
        fault["solutions"], fault["decoys"] = [], []
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}", "cni-network-policy"]

    document, files = with_own_fault(subject, add_cause)
    named = {**opened, "metadata": {"name": "from-callers"}}
    for solution in needs(document["spec"].get("solutions"), "it inherits its solutions"):
        solution["changes"].append({"create": named})
    yield Defect(f"a policy shuts {workload} off, and another one offsets it", document, files)


def _build_policy(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"]},
    }

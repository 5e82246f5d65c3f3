"""Damage that no alert rule reports: what a fault does beside its cause, and calls an artefact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.model.kubernetes.reference import WORKLOADS
from tools.defects.kind import Defect, kind, needs
from tools.defects.own import with_own_fault
from tools.defects.subject import Document, Subject
from tools.defects.tried_labels import require_one_cause, write_out_solution


@kind("SK401", stage="Trial", first=("label",))
def slowness_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """The fault also delays its target's packets, below every alert's threshold, and calls that an artefact."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    needs(use.replicas is None, "an extra change contradicts that only some pods are hit")
    serving = {o for c in subject.components() if c.role == "App" for o in (c.workload, f"Service/{c.service}")}
    needs(use.target in serving, "its target serves nobody")
    changes = [c.operation for c in subject.case.faults[use.name].changes]
    needs(not any(o.experiment for o in changes), "it disturbs the network anyway")
    renewed = any(o.ref and o.ref.kind in WORKLOADS for o in changes)
    needs(not renewed, "its repair makes new pods, which the disturbance does not reach")
    selected = subject.objects[use.target]["spec"].get("selector")
    labels = selected if use.target.startswith("Service/") else "{{ target.labels }}"
    selector = {"namespaces": ["{{ target.namespace }}"], "labelSelectors": labels}
    spec = {"mode": "all", "selector": selector, "action": "delay", "direction": "to", "delay": {"latency": "100ms"}}
    name = "net-k4x2m"
    slow = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos", "metadata": {"name": name}, "spec": spec}
    ref, needed = f"NetworkChaos.chaos-mesh.org/{name}", ("chaos-mesh", "chaos-daemon", "netem")
    yield _with_artefact(subject, {"chaos": slow}, ref, f"packets of {use.target} are delayed by 100 ms", needed)


def _with_artefact(
    subject: Subject, change: dict[str, Any], ref: str, reported: str, requires: tuple[str, ...] = ()
) -> Defect:
    """Return the scenario whose fault also makes a change, which it declares as an artefact."""

    def extend(fault: Document) -> None:
        fault["changes"].append(change)
        fault["entities"].append({"ref": ref, "role": "Artefact"})
        own = [f"app:{subject.spec.app.name}", *requires]
        fault["requires"] = list(dict.fromkeys([*fault.get("requires", []), *own]))

    document, files = with_own_fault(subject, extend)
    write_out_solution(subject, document["spec"])
    return Defect(reported, document, files)

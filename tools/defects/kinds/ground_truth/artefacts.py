"""Faults that declare as an artefact what they break, or what they do beside their cause."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from scenario_kit.model.kubernetes.reference import WORKLOADS
from tools.defects.edits.fault_type import with_own_fault, writes
from tools.defects.edits.inert_fault import annotate
from tools.defects.edits.propagation import reroot
from tools.defects.edits.solutions import require_one_cause, write_out_solution
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject


@kind("SK402", stage="Trial", first=("label-artefact",))
def cause_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """The fault declares what it breaks as an artefact, and a Service as the cause, with a workaround as its fix."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    needs(use.type == "deployment-scaled-to-zero", "no other workload could replace the broken one")
    service = "Service/" + next(c.service for c in subject.components() if c.workload == use.target)
    stand_in = _stand_in(subject.objects[use.target])

    def blame(fault: Document) -> None:
        fault["changes"].append(annotate(service, "2024-03"))
        fix = [annotate(service, None), {"create": stand_in}]
        fault["entities"] = [{"ref": service, "role": "Cause", "fix": fix}, {"ref": "{{ target }}", "role": "Artefact"}]
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own_fault(subject, blame)
    spec = document["spec"]
    spec["groundTruth"]["rootCauses"] = [{"fault": use.name, "entity": service}]
    reroot(subject, spec, service)
    write_out_solution(subject, spec)
    yield Defect(f"{service} is the cause, {use.target} an artefact, and a copy of it takes over", document, files)


def _stand_in(workload: Document) -> dict[str, Any]:
    """Return a workload whose pods the original's Services also select."""
    found = copy.deepcopy(workload)
    spec, name = found["spec"], f"{found['metadata']['name']}-b"
    spec["template"]["metadata"]["labels"]["track"] = "b"
    spec["selector"]["matchLabels"]["track"] = "b"
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@kind("SK402", stage="Trial", first=("label-artefact",))
def policy_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """A NetworkPolicy that denies all ingress is declared an artefact, and the new label that it selects the cause."""
    require_one_cause(subject)
    use = subject.spec.faults[0]
    needs(use.type == "network-policy-deny-ingress", "it creates no NetworkPolicy")

    def relabel(value: str | None) -> dict[str, Any]:
        labels = {"spec": {"template": {"metadata": {"labels": {"zone": value}}}}}
        return {"patch": {"target": "{{ target }}", "type": "Merge", "patch": labels}}

    def blame(fault: Document) -> None:
        policy = writes(fault["changes"], "create")[0]
        policy["spec"]["podSelector"] = {"matchLabels": {"zone": "inner"}}
        fault["changes"].insert(0, relabel("inner"))
        fault["effect"] = fault["effect"][1:]
        former = fault["entities"][0]["ref"]
        fault["entities"] = [
            {"ref": "{{ target }}", "role": "Cause", "fix": [relabel(None)]},
            {"ref": former, "generated": True, "role": "Artefact"},
        ]

    document, files = with_own_fault(subject, blame)
    spec = document["spec"]
    spec["groundTruth"]["rootCauses"] = [{"fault": use.name, "entity": use.target}]
    reroot(subject, spec, use.target)
    write_out_solution(subject, spec)
    yield Defect(f"the label of {use.target} is the cause, the policy an artefact", document, files)


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


@kind("SK404")
def schedule_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """The fault also schedules its experiment for five hours later, after the last look, as an artefact."""
    require_one_cause(subject)

    def repeat_later(fault: Document) -> None:
        lasting = [c for c in writes(fault["changes"], "chaos") if c["kind"] == "NetworkChaos"]
        first = needs(lasting, "it has no experiment on the network")[0]
        spec = {
            "schedule": "@every 5h",
            "historyLimit": 1,
            "concurrencyPolicy": "Forbid",
            "type": "NetworkChaos",
            "networkChaos": {**copy.deepcopy(first["spec"]), "duration": "55m"},
        }
        name = "{{ neutral('report') }}"
        again = {"apiVersion": first["apiVersion"], "kind": "Schedule", "metadata": {"name": name}, "spec": spec}
        fault["changes"].append({"chaos": again})
        fault["entities"].append({"ref": f"Schedule.chaos-mesh.org/{name}", "generated": True, "role": "Artefact"})

    document, files = with_own_fault(subject, repeat_later)
    yield Defect("a Schedule of the same experiment is an artefact", document, files)

"""Faults that declare what they break as an artefact, and something else as the cause."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tools.defects.chains import reroot
from tools.defects.inert import annotate
from tools.defects.kind import Defect, kind, needs
from tools.defects.own import with_own_fault, writes
from tools.defects.subject import Document, Subject
from tools.defects.tried_labels import require_one_cause, write_out_solution


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

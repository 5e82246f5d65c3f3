"""Faults that call what they break an artefact, and blame what they only touch."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tools.defects.chains import rerooted
from tools.defects.inert import annotate
from tools.defects.kind import Defect, kind, needs
from tools.defects.own import with_own, writes
from tools.defects.subject import Document, Subject
from tools.defects.tried_labels import inherited, one_cause


@kind("SK402", stage="Trial", first=("label-artefact",))
def cause_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """The fault calls what it breaks an artefact, and blames a Service with a workaround as repair."""
    one_cause(subject)
    use = subject.spec.faults[0]
    needs(use.type == "deployment-scaled-to-zero", "no other workload could stand in for what is broken")
    service = "Service/" + next(c.service for c in subject.components() if c.workload == use.target)
    stand_in = _stand_in(subject.objects[use.target])

    def blame(fault: Document) -> None:
        fault["changes"].append(annotate(service, "2024-03"))
        fix = [annotate(service, None), {"create": stand_in}]
        fault["entities"] = [
            {"ref": service, "role": "Cause", "fix": fix},
            {"ref": "{{ target }}", "role": "Artefact"},
        ]
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own(subject, blame)
    spec = document["spec"]
    spec["groundTruth"]["rootCauses"] = [{"fault": use.name, "entity": service}]
    rerooted(subject, spec, service)
    inherited(subject, spec)
    yield Defect(f"{service} is blamed, {use.target} is an artefact, and a copy of it stands in", document, files)


def _stand_in(workload: Document) -> dict[str, Any]:
    """A workload whose pods the Services of the original select as well."""
    found = copy.deepcopy(workload)
    spec, name = found["spec"], f"{found['metadata']['name']}-b"
    spec["template"]["metadata"]["labels"]["track"] = "b"
    spec["selector"]["matchLabels"]["track"] = "b"
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


@kind("SK402", stage="Trial", first=("label-artefact",))
def policy_called_an_artefact(subject: Subject) -> Iterator[Defect]:
    """A policy that lets nobody in is called an artefact; only the workload is blamed, whose new label it selects."""
    one_cause(subject)
    use = subject.spec.faults[0]
    needs(use.type == "network-policy-deny-ingress", "no policy selects pods")

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

    document, files = with_own(subject, blame)
    spec = document["spec"]
    spec["groundTruth"]["rootCauses"] = [{"fault": use.name, "entity": use.target}]
    rerooted(subject, spec, use.target)
    inherited(subject, spec)
    yield Defect(f"{use.target} is blamed for its label, the policy is an artefact", document, files)

"""A second fault in a scenario that has one: the material of every defect about causes."""

from __future__ import annotations

from tools.defects.kind import needs
from tools.defects.subject import Document, Subject

#: A fault that fits any Deployment, and a solution of it.
_TYPE = "deployment-scaled-to-zero"


def second_fault(subject: Subject, spec: Document, *, labelled: bool = True, role: str = "") -> str:
    """Add a fault on a Deployment that has nothing to do with the incident; its name.

    Label and solution come with it, but without a label if not ``labelled``; the propagation stays as it was.
    """
    targets = [o for o in subject.bystanders("Deployment") if subject.objects[o]["spec"].get("replicas", 1) > 0]
    target = needs(targets, "every Deployment has to do with it")[0]
    name = f"no-{target.split('/')[1]}"
    spec["faults"].append({"name": name, "type": _TYPE, "target": target} | ({"role": role} if role else {}))
    truth = spec["groundTruth"]
    if labelled:
        truth["rootCauses"] = [*truth.get("rootCauses", []), {"fault": name, "entity": target}]
    replicas = subject.objects[target]["spec"].get("replicas", 1)
    scale = {"scale": {"target": target, "replicas": replicas}}
    solution = {
        "name": f"scale-{target.split('/')[1]}",
        "fixes": [name],
        "description": "Scale it up",
        "changes": [scale],
    }
    if role not in ("Distractor", "Trigger"):
        spec["solutions"] = [*spec.get("solutions", []), solution]
    return name

"""A second fault added to a scenario, on which defects about causes are built."""

from __future__ import annotations

from tools.defects.kind import needs
from tools.defects.subject import Document, Subject

#: A fault type that fits any Deployment.
_TYPE = "deployment-scaled-to-zero"


def second_fault(subject: Subject, spec: Document, *, labelled: bool = True, role: str = "") -> str:
    """Add a fault on an uninvolved Deployment, with its label and solution, and return its name.

    The propagation is not changed.

    Args:
        labelled: whether to add the label.
        role: the role of the fault, if not a cause.
    """
    targets = [o for o in subject.bystanders("Deployment") if subject.objects[o]["spec"].get("replicas", 1) > 0]
    target = needs(targets, "every Deployment is involved")[0]
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

"""Faults that look right and do not do what they declare."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tools.defects.edits.fault_type import get_first_fault, with_own_fault
from tools.defects.edits.inert_fault import NAME, annotate, list_files, remove_replica
from tools.defects.edits.propagation import reroot
from tools.defects.edits.solutions import require_one_cause
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject, bare

_NOTE = "2024-03"

#: Checks that read the object that the fault writes; others observe its effect.
_OF_OBJECTS = {"object", "chaosInjected", "deleted"}


def _without_effect(fault: Document) -> None:
    """Replace the changes of a fault by an annotation, and what depends on them."""
    fault["changes"] = [annotate("{{ target }}", _NOTE)]
    fault["undo"] = []
    fault["entities"] = [{"ref": "{{ target }}", "role": "Cause", "fix": [annotate("{{ target }}", None)]}]
    fault["undone"] = [{"object": {"ref": "{{ target }}", "exists": True}}]
    fault["solutions"] = [{"name": "drop-note", "description": "Drop it", "changes": [annotate("{{ target }}", None)]}]
    fault["decoys"] = []
    fault["mitigation"], fault["persistence"] = "Native", "Object"


def _relabelled(subject: Subject, document: Document) -> None:
    """Rewrite label, propagation and solution for the annotation."""
    spec = document["spec"]
    target, name = bare(subject.spec.faults[0].target), subject.spec.faults[0].name
    spec["groundTruth"]["rootCauses"] = [{"fault": name, "entity": target}]
    reroot(subject, spec, target)
    spec["solutions"] = [{"name": "drop-note", "fixes": [name], "changes": [annotate(target, None)]}]


@kind("SK304", "SK911", stage="Trial", first=("repeat",))
def fault_without_effect(subject: Subject) -> Iterator[Defect]:
    """The fault sets an annotation and keeps the effect checks of its type."""
    require_one_cause(subject)
    kept: list[Any] = []

    def edit(fault: Document) -> None:
        kept.extend(c for c in fault["effect"] if not _OF_OBJECTS & c.keys())
        _without_effect(fault)
        fault["effect"] = needs(kept, "its effect checks only read objects")

    document, own = with_own_fault(subject, edit)
    _relabelled(subject, document)
    yield Defect("an annotation, with the effect checks of the type", document, own)


@kind("SK304", stage="Trial", first=("repeat",))
def fault_proven_by_nothing(subject: Subject) -> Iterator[Defect]:
    """The effect check of the fault passes in the healthy app."""
    require_one_cause(subject)
    effect = [{"query": {"expr": "count(kube_pod_info)", "is": "AtLeast", "value": 1}, "describe": "there are pods"}]
    document, own = with_own_fault(subject, lambda fault: fault.update(effect=effect))
    yield Defect("the only effect check is that there are pods", document, own)


@kind("SK322", stage="Trial", first=("repeat",))
def fault_without_symptoms(subject: Subject) -> Iterator[Defect]:
    """The fault is a harmless change, and alerts are still expected."""
    document, spec = subject.copy()
    name = require_one_cause(subject)
    target = needs(_workload(subject), "no workload")
    needs(target.startswith("Deployment/"), "there is no Deployment behind its target")
    spec["faults"] = [{"name": name, "type": NAME, "target": target}]
    spec["groundTruth"]["rootCauses"] = [{"fault": name, "entity": target}]
    reroot(subject, spec, target)
    spec["solutions"] = [{"name": "one-less", "fixes": [name], "changes": remove_replica(subject, target)}]
    yield Defect(f"one more replica of {target}", document, list_files())


@edit("SK305", "SK322", stage="Trial", first=("repeat",))
def healing_fault(subject: Subject, spec: Document) -> str:
    """The pods are deleted once, and their owner recreates them."""
    name = require_one_cause(subject)
    target = _workload(subject)
    spec["faults"] = [{"name": name, "type": "pod-kill", "target": target}]
    spec["solutions"] = []
    spec["groundTruth"]["rootCauses"] = [{"fault": name}]
    reroot(subject, spec, f"Fault/{name}")
    return f"pod-kill of {target}"


@edit("SK322", "SK304", stage="Trial", first=("repeat",))
def fault_too_weak(subject: Subject, spec: Document) -> str:
    """A parameter is a tenth of the required value."""
    require_one_cause(subject)
    use = get_first_fault(spec)
    known = subject.case.types[use["type"]].parameters.get("properties", {})
    given = {n: use.get("parameters", {}).get(n, p.get("default")) for n, p in known.items()}
    amounts = [
        n for n, v in given.items() if n.endswith(("Milliseconds", "Percent", "Bytes")) and isinstance(v, int) and v > 9
    ]
    name = needs(amounts, "its fault has no intensity")[0]
    use["parameters"] = {**use.get("parameters", {}), name: given[name] // 10}
    return f"{name}: {given[name] // 10}"


@edit("SK322", "SK326", "SK304", stage="Trial", first=("repeat",))
def wrong_target(subject: Subject, spec: Document) -> str:
    """Fault, label and solution concern another component than the alerts."""
    name = require_one_cause(subject)
    target = bare(subject.spec.faults[0].target)
    kinds = target.split("/")[0]
    other = needs(subject.bystanders(kinds), f"every {kinds} has to do with it")[0]
    text = json.dumps([spec["faults"], spec["groundTruth"], spec.get("solutions", [])])
    text = text.replace(f'"{target}"', f'"{other}"')
    spec["faults"], spec["groundTruth"], solutions = json.loads(text)
    needs(not any("patch" in c for s in solutions for c in s["changes"]), "its solution is specific to its target")
    if solutions:
        spec["solutions"] = solutions
    return f"{name} is aimed at {other}"


@kind("SK331", stage="Trial", first=("repeat",))
def fault_that_waits_in_vain(subject: Subject) -> Iterator[Defect]:
    """The fault waits for an alert that the fault before it does not raise."""
    document, spec = subject.copy()
    require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    get_first_fault(spec)["start"] = {"onAlert": {"name": "KubeDeploymentRolloutStuck"}}
    spec["faults"] = [{"name": "more", "type": NAME, "target": other, "role": "Trigger"}, *spec["faults"]]
    yield Defect("starts on KubeDeploymentRolloutStuck", document, list_files())


@kind("SK221", "SK441", stage="Trial", first=("label", "leak"))
def readable_answer(subject: Subject) -> Iterator[Defect]:
    """The fault leaves the author's explanation where a solver can read it."""
    require_one_cause(subject)
    said = [e.because for e in subject.spec.ground_truth.propagation if len(e.because.split()) > 3]
    text = needs(said, "nothing is explained")[0]
    document, own = with_own_fault(
        subject, lambda fault: fault["changes"].append(annotate("{{ target }}", text, "note"))
    )
    yield Defect(f"an annotation: {text}", document, own)


@kind("SK444", stage="Trial", first=("label", "leak"))
def recreated_object(subject: Subject) -> Iterator[Defect]:
    """The fault deletes and recreates the object first, so its age gives it away."""
    require_one_cause(subject)
    target = bare(subject.spec.faults[0].target)
    needs(target.startswith(("Service/", "Deployment/")), "it breaks neither a Service nor a Deployment")
    again = [{"delete": {"target": "{{ target }}"}}, {"apply": "{{ object(target) }}"}]
    document, own = with_own_fault(subject, lambda fault: fault.update(changes=[*again, *fault["changes"]]))
    yield Defect(f"{target} is deleted and created again", document, own)


def _workload(subject: Subject) -> str:
    target = bare(subject.spec.faults[0].target)
    if not target.startswith("Service/"):
        return target
    found = [c.workload for c in subject.components() if f"Service/{c.service}" == target]
    return str(needs(found, "there is no workload behind its target")[0])


@kind("SK129", stage="Trial", first=("repeat",))
def fault_whose_end_is_proven_from_the_start(subject: Subject) -> Iterator[Defect]:
    """The check that the fault is gone passes all the time."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.persistence in ("Object", "Workload", "Pod"), "it is over immediately")
    there = {"object": {"ref": "{{ target }}", "path": "metadata.name", "exists": True}}
    document, files = with_own_fault(subject, lambda f: f.update(undone=[there]))
    yield Defect("undone if the target exists", document, files)

"""Unsupported claims in labels, entities, aliases and propagation steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tools.defects.edits.fault_type import with_own_fault
from tools.defects.edits.solutions import require_one_cause
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


def _edges(spec: Document) -> list[Any]:
    edges: list[Any] = needs(spec["groundTruth"].get("propagation"), "it has no propagation")
    return edges


@edit("SK455")
def edge_twice(subject: Subject, spec: Document) -> str:
    """The first edge occurs twice, with different reasons."""
    edges = _edges(spec)
    edges.append({**edges[0], "because": "once more, so that the chain looks longer than it is"})
    return "the first edge twice"


@edit("SK456")
def edge_without_a_reason(subject: Subject, spec: Document) -> str:
    """The reason of an edge is a single letter."""
    _edges(spec)[0]["because"] = "x"
    return "because: x"


@edit("SK456")
def one_reason_for_all_edges(subject: Subject, spec: Document) -> str:
    """All edges give the same reason."""
    edges = _edges(spec)
    needs(len({e["from"] for e in edges}) > 1 or len(edges) > 2, "all its edges start at the same object")
    for edge in edges:
        edge["because"] = "the trouble travels along this call"
    return "every edge because the trouble travels along this call"


@edit("SK454")
def hop_over_a_node(subject: Subject, spec: Document) -> str:
    """The chain passes through a node on which the pods happen to run."""
    edges = _edges(spec)
    middle = {"from": "Node/worker-1", "to": edges[0]["to"], "because": "the pods beside it get less of the processor"}
    edges[:1] = [{**edges[0], "to": "Node/worker-1"}, middle]
    return "the first edge passes through Node/worker-1"


@edit("SK116")
def loose_end(subject: Subject, spec: Document) -> str:
    """A branch of the chain ends at an object on which no alert can fire."""
    edges = _edges(spec)
    service = next((o for o in subject.bystanders("Service")), None)
    end = needs(service, "every Service is involved")
    edges.append({"from": edges[-1]["to"], "to": end, "because": "it stands in front of pods that suffer too"})
    return f"an edge to {end}, where the chain ends"


@kind("SK124")
def alias_of_a_healthy_object(subject: Subject) -> Iterator[Defect]:
    """An alias names an unchanged ConfigMap, Secret or claim that only the broken component uses."""
    from scenario_kit.render.objects.config_consumers import find_readers

    document, spec = subject.copy()
    require_one_cause(subject)
    case = subject.case
    assert case.app is not None
    fault = case.faults[subject.spec.faults[0].name]
    touched = {e.ref for e in fault.entities} | {c.target for c in fault.changes}
    targets = [
        str(ref)
        for ref in case.known
        if ref.kind in ("ConfigMap", "Secret", "PersistentVolumeClaim")
        and find_readers(case.objects or (), ref, case.app.namespace) == [fault.target]
        and str(ref) not in touched
    ]
    spec["groundTruth"]["rootCauses"][0]["aliases"] = [needs(targets, "nothing is used by its target alone")[0]]
    yield Defect(f"{targets[0]} is an alias of the cause", document)


@edit("SK124", "SK112")
def alias_of_a_node(subject: Subject, spec: Document) -> str:
    """An alias names a node."""
    label = needs(spec["groundTruth"].get("rootCauses"), "it has no root cause")[0]
    label["aliases"] = ["Node/worker-1"]
    return "Node/worker-1 is an alias of the cause"


@kind("SK129")
def effect_that_counts_writes(subject: Subject) -> Iterator[Defect]:
    """The effect check reads a series that counts writes of the object."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    sort, _, name = fault.target.partition("/")
    needs(sort in ("Deployment", "StatefulSet"), "its target is no workload with a generation")
    series = f'kube_{sort.lower()}_metadata_generation{{{sort.lower()}="{name}"}}'
    effect = [{"query": {"expr": f"changes({series}[2m])", "is": "AtLeast", "value": 1}, "describe": "it was changed"}]
    document, files = with_own_fault(subject, lambda f: f.update(effect=effect))
    yield Defect(f"its effect: changes of {series}", document, files)


def _replace(fault: Document, **parts: Any) -> None:
    fault.update(parts)


@kind("SK129")
def effect_beside_what_is_always_there(subject: Subject) -> Iterator[Defect]:
    """The effect check joins the written field with a series that is always there."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    sort, _, name = fault.target.partition("/")
    needs(sort in ("Deployment", "StatefulSet"), "its target is no workload with a generation")
    series = f'kube_{sort.lower()}_metadata_generation{{{sort.lower()}="{name}"}}'
    for expr in (f"{series} and on () kube_pod_info", f"{series} * on () (count(kube_pod_info) > bool 0)"):
        effect = [{"query": {"expr": expr, "is": "AtLeast", "value": 2}, "describe": "it was changed"}]
        document, files = with_own_fault(subject, partial(_replace, effect=effect))
        yield Defect(f"its effect: {expr}", document, files)


@kind("SK129")
def undone_that_holds_all_along(subject: Subject) -> Iterator[Defect]:
    """The check that the fault is gone asks whether its target exists, or something is absent that never was."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    kept = not any(change.operation.keyword == "delete" for change in fault.changes)
    needs(kept and str(fault.target) in subject.objects, "the fault deletes something")
    for check in ({"ref": "{{ target }}", "exists": True}, {"ref": "ConfigMap/nosuch", "exists": False}):
        undone = [{"object": check, "describe": "all is well"}]
        document, files = with_own_fault(subject, partial(_replace, undone=undone))
        yield Defect(f"its end: {check}", document, files)


@kind("SK453")
def entity_with_another_field(subject: Subject) -> Iterator[Defect]:
    """The fault declares a field as broken that it does not write."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    cause = needs([e for e in fault.causes if e.field and not e.generated], "its cause names no field")[0]
    needs(not any(c.operation.runs_command for c in fault.changes), "it runs a command, whose writes are not visible")

    def rename(document: Document) -> None:
        entities = [e for e in document["entities"] if isinstance(e, dict) and e.get("role", "Cause") == "Cause"]
        entities[0]["field"] = "spec.minReadySeconds"

    document, files = with_own_fault(subject, rename)
    yield Defect(f"the field of {cause.ref} is spec.minReadySeconds", document, files)

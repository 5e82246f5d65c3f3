"""Wrong ground truth: labels, outcome and propagation."""

from __future__ import annotations

from tools.defects.edits.second_fault import second_fault
from tools.defects.kind import edit, needs
from tools.defects.subject import Document, Subject, bare, misspell

_INCIDENT = "there is no incident"


def _labels(subject: Subject, spec: Document) -> list[Document]:
    labels: list[Document] = needs(spec.get("groundTruth", {}).get("rootCauses"), "nothing is labelled")
    return labels


def _edges(spec: Document) -> list[Document]:
    edges: list[Document] = needs(spec["groundTruth"].get("propagation"), "there is no propagation")
    return edges


@edit("SK405")
def wrong_label(subject: Subject, spec: Document) -> str:
    """The label names an untouched object."""
    other = needs(subject.bystanders(), "every component is involved")[0]
    _labels(subject, spec)[0]["entity"] = other
    return f"the first label names {other}"


@edit("SK406")
def victim_labelled(subject: Subject, spec: Document) -> str:
    """The label names a victim."""
    victims = [o for o in subject.alerting if bare(o) not in subject.causes]
    victim = needs(victims, "only the broken object alerts")[0]
    _labels(subject, spec)[0]["entity"] = victim
    return f"the first label names {victim}, which alerts"


@edit("SK405")
def wrong_label_suppressed(subject: Subject, spec: Document) -> str:
    """The label names an untouched object, and the finding about it is suppressed."""
    other = needs(subject.bystanders(), "every component is involved")[0]
    _labels(subject, spec)[0]["entity"] = other
    spec["suppress"] = [{"code": "SK405", "reason": "it is meant so", "until": "2099-01"}]
    return f"the first label names {other}, SK405 is suppressed"


@edit("SK112", "SK405")
def label_of_nothing(subject: Subject, spec: Document) -> str:
    """The label names an object that does not exist."""
    wrong = misspell(next(iter(subject.causes or subject.objects)))
    _labels(subject, spec)[0]["entity"] = wrong
    return f"the first label names {wrong}"


@edit("SK405", "SK112")
def label_in_another_namespace(subject: Subject, spec: Document) -> str:
    """The label names the right object in a wrong namespace."""
    cause = needs([c for c in subject.causes if c in subject.objects], "the name of the cause is generated")[0]
    _labels(subject, spec)[0]["entity"] = f"kube-system/{cause}"
    return f"the first label names kube-system/{cause}"


@edit("SK409")
def label_without_entity(subject: Subject, spec: Document) -> str:
    """The label names no object."""
    label = _labels(subject, spec)[0]
    needs(
        label.pop("entity", "") and not subject.case.has_generated_cause(label["fault"]),
        "the name of the cause is generated",
    )
    return "the first label has no entity"


@edit("SK131")
def label_of_another_fault(subject: Subject, spec: Document) -> str:
    """The label names a fault that the scenario does not have."""
    label = _labels(subject, spec)[0]
    label["fault"] = misspell(label["fault"])
    return f"the first label is of {label['fault']}"


@edit("SK408")
def cause_unlabelled(subject: Subject, spec: Document) -> str:
    """Nothing is labelled although something is broken."""
    _labels(subject, spec)
    needs(subject.incident, _INCIDENT)
    spec["groundTruth"]["rootCauses"] = []
    return "no label"


@edit("SK404")
def missing_co_cause(subject: Subject, spec: Document) -> str:
    """A second fault is a cause, and no label names it."""
    needs(subject.incident, _INCIDENT)
    _labels(subject, spec)
    name = second_fault(subject, spec, labelled=False)
    return f"{name} is a Cause without a label"


@edit("SK404")
def distractor_labelled(subject: Subject, spec: Document) -> str:
    """A second fault is harmless, and a label names it."""
    needs(subject.incident, _INCIDENT)
    _labels(subject, spec)
    name = second_fault(subject, spec, role="Distractor")
    return f"{name} is a Distractor with a label"


@edit("SK404")
def cause_called_distractor(subject: Subject, spec: Document) -> str:
    """The labelled fault is declared as a distractor."""
    needs(subject.incident, _INCIDENT)
    labelled = _labels(subject, spec)[0]["fault"]
    next(f for f in spec["faults"] if f["name"] == labelled)["role"] = "Distractor"
    return f"{labelled} has the role Distractor"


@edit("SK124")
def alias_of_a_victim(subject: Subject, spec: Document) -> str:
    """An alias of the cause names a victim."""
    label = _labels(subject, spec)[0]
    victim = needs([o for o in subject.alerting if bare(o) not in subject.causes], "only the broken object alerts")[0]
    label["aliases"] = [victim]
    return f"{victim} is an alias of the cause"


@edit("SK124")
def alias_of_a_bystander(subject: Subject, spec: Document) -> str:
    """An alias of the cause names an unrelated component."""
    other = needs(subject.bystanders(), "every component is involved")[0]
    _labels(subject, spec)[0]["aliases"] = [other]
    return f"{other} is an alias of the cause"


@edit("SK124")
def alias_of_everything(subject: Subject, spec: Document) -> str:
    """An alias of the cause names a service account that all components share."""
    accounts = [name for name in subject.objects if name.startswith("ServiceAccount/") and name not in subject.causes]
    label, account = _labels(subject, spec)[0], needs(accounts, "the app has no service account")[0]
    label["aliases"] = [account]
    return f"{account} is an alias of the cause"


@edit("SK124")
def alias_of_another_cause(subject: Subject, spec: Document) -> str:
    """An alias of one cause names another cause."""
    needs(subject.incident, _INCIDENT)
    label = _labels(subject, spec)[0]
    second_fault(subject, spec)
    label["aliases"] = [spec["groundTruth"]["rootCauses"][-1]["entity"]]
    return f"{label['aliases'][0]} is an alias of the first cause, and the second one"


@edit("SK408")
def incident_called_none(subject: Subject, spec: Document) -> str:
    """An incident is declared as NoIncident."""
    needs(subject.incident, _INCIDENT)
    spec["groundTruth"]["outcome"] = "NoIncident"
    return "outcome NoIncident"


@edit("SK408")
def incident_called_benign(subject: Subject, spec: Document) -> str:
    """An incident that needs a solution is declared as Benign."""
    needs(subject.incident and (spec.get("solutions") or spec.get("decoys")), "it lists no solution or decoy")
    spec["groundTruth"]["outcome"] = "Benign"
    return "outcome Benign"


@edit("SK116")
def no_propagation(subject: Subject, spec: Document) -> str:
    """No propagation explains the alerts on other objects."""
    needs([o for o in subject.alerting if bare(o) not in subject.causes], "only the broken object alerts")
    _edges(spec)
    spec["groundTruth"]["propagation"] = []
    return "no propagation"


@edit("SK116")
def reversed_first_edge(subject: Subject, spec: Document) -> str:
    """The edge that leaves the cause is reversed."""
    return _turned(_edges(spec)[0])


@edit("SK116", "SK125")
def reversed_later_edge(subject: Subject, spec: Document) -> str:
    """An edge between two victims is reversed."""
    roots = {bare(c) for c in subject.causes} | {f"Fault/{u.name}" for u in subject.spec.faults}
    later = [e for e in _edges(spec) if e["from"] not in roots]
    return _turned(needs(later, "every edge leaves the cause")[-1])


@edit("SK116")
def circular_propagation(subject: Subject, spec: Document) -> str:
    """The propagation contains a cycle."""
    edges = _edges(spec)
    edges.append({"from": edges[-1]["to"], "to": edges[0]["from"], "because": "it comes back"})
    return f"a further edge from {edges[-1]['from']} back to {edges[-1]['to']}"


@edit("SK115")
def propagation_through_nothing(subject: Subject, spec: Document) -> str:
    """The propagation passes through an object that does not exist."""
    edge = _edges(spec)[-1]
    edge["to"] = misspell(edge["to"])
    return f"an edge leads to {edge['to']}"


@edit("SK116", "SK125")
def propagation_to_nobody(subject: Subject, spec: Document) -> str:
    """The propagation ends at an unrelated object."""
    edges = _edges(spec)
    last = edges[-1]["to"]
    apart = [b for b in subject.bystanders() if not (subject.calls(last, b) or subject.calls(b, last))]
    nowhere = needs(apart, "every component is involved")[-1]
    edges.append({"from": last, "to": nowhere, "because": "it suffers as well"})
    return f"an edge leads to {nowhere}"


@edit("SK116")
def unexplained_alert(subject: Subject, spec: Document) -> str:
    """No edge leads to an object on which an alert must fire."""
    edges = _edges(spec)
    ends = [o for o in subject.alerting if any(e["to"] == o for e in edges)]
    dropped = needs(ends, "only the broken object alerts")[0]
    spec["groundTruth"]["propagation"] = [e for e in edges if e["to"] != dropped]
    return f"no edge to {dropped}"


def _turned(edge: Document) -> str:
    edge["from"], edge["to"] = edge["to"], edge["from"]
    return f"an edge from {edge['from']} to {edge['to']}"


@edit("SK112")
def label_of_another_group(subject: Subject, spec: Document) -> str:
    """The label names the right object in a wrong API group."""
    cause = needs([c for c in subject.causes if c in subject.objects], "the name of the cause is generated")[0]
    sort, _, name = cause.partition("/")
    wrong = f"{sort}.example.org/{name}"
    next(label for label in _labels(subject, spec) if label.get("entity") == cause)["entity"] = wrong
    return f"a label names {wrong}"


@edit("SK124")
def label_twice(subject: Subject, spec: Document) -> str:
    """The same cause is labelled twice."""
    labels = _labels(subject, spec)
    labels.append({**labels[0]})
    return "the first label twice"


@edit("SK125")
def first_edge_to_a_bystander(subject: Subject, spec: Document) -> str:
    """The first edge leads from the fault to an unrelated component."""
    edges = _edges(spec)
    roots = [e for e in edges if e["from"].startswith("Fault/")]
    root = needs(roots, "its propagation starts at objects")[0]
    fault = subject.case.faults[root["from"].partition("/")[2]]
    workloads = {bare(c.workload) for c in subject.components() if c.role in ("App", "Entry", "Store", "Queue")}
    aimed = bare(fault.target)
    needs(aimed in workloads and fault.scope == "Namespace", "its fault targets more than one component")
    strangers = [o for o in subject.bystanders("Deployment") if not subject.calls(o, aimed)]
    other = needs([o for o in strangers if not subject.calls(aimed, o)], "every Deployment is involved")[0]
    edges.append({"from": root["from"], "to": other})
    spec["expect"]["alerts"].append({"name": "HighRequestErrorRate", "entity": other, "class": "MayFire"})
    return f"an edge from {root['from']} to {other}"

"""Contradictory claims: a field contradicts another field, the app or the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.expectations import list_required_alerts
from tools.defects.edits.fault_type import fault_document, with_own_fault
from tools.defects.edits.inert_fault import add_inert, annotate
from tools.defects.edits.second_fault import second_fault
from tools.defects.edits.solutions import require_one_cause, write_out_solution
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


@edit("SK404")
def cause_of_a_fault_left_out(subject: Subject, spec: Document) -> str:
    """Only some of a fault's causes are labelled."""
    labels = spec["groundTruth"].get("rootCauses", [])
    several = [c for c in labels if sum(o["fault"] == c["fault"] for o in labels) > 1]
    labels.remove(needs(several, "every fault has one cause")[0])
    return f"no label for {several[0].get('entity')}"


@edit("SK404")
def sustaining_what_nothing_set_off(subject: Subject, spec: Document) -> str:
    """The only fault is declared as sustaining, although nothing triggers the incident."""
    require_one_cause(subject)
    spec["faults"][0]["role"] = "Sustaining"
    return f"{spec['faults'][0]['name']} is Sustaining"


@edit("SK410")
def alert_of_a_distractor(subject: Subject, spec: Document) -> str:
    """An alert counts from a fault that is declared harmless."""
    needs(subject.incident, "there is no incident")
    name = second_fault(subject, spec, labelled=False, role="Distractor")
    list_required_alerts(spec)[0]["after"] = name
    return f"the first alert counts after {name}"


@kind("SK124")
def distractor_at_the_cause(subject: Subject) -> Iterator[Defect]:
    """A harmless change affects the labelled object, so blaming it is right by accident."""
    document, spec = subject.copy()
    require_one_cause(subject)
    write_out_solution(subject, spec)
    broken = [c for c in subject.causes if c.startswith("Deployment/") and c in subject.objects]
    target = needs(broken, "its cause is no Deployment")[0]
    files = add_inert(subject, spec, target)
    spec["faults"][-1]["role"] = "Distractor"
    truth, spec["solutions"] = spec["groundTruth"], spec["solutions"][:-1]
    truth["rootCauses"] = truth["rootCauses"][:-1]
    truth["propagation"] = subject.copy()[1]["groundTruth"].get("propagation", [])
    yield Defect(f"one more replica of {target} is a Distractor", document, files)


@edit("SK325")
def two_deadlines(subject: Subject, spec: Document) -> str:
    """The same alert must fire by two different deadlines."""
    spec["expect"]["alerts"].append({**list_required_alerts(spec)[0], "withinSeconds": 2400})
    return "the first alert once more, within 2400 s"


def _asking(subject: Subject, expr: str) -> Defect:
    document, spec = subject.copy()
    query = {"expr": expr, "is": "AtLeast", "value": 1}
    spec.setdefault("expect", {})["checks"] = [{"query": query, "withinSeconds": 60}]
    return Defect(f"a check asks {expr}", document)


@kind("SK117")
def query_that_nobody_can_read(subject: Subject) -> Iterator[Defect]:
    """The expression of a check is not valid PromQL."""
    yield _asking(subject, "sum(rate(traces_span_metrics_calls_total[1m])")


@kind("SK119")
def query_of_nothing(subject: Subject) -> Iterator[Defect]:
    """The expression of a check is constant."""
    yield _asking(subject, "vector(1)")


@kind("SK119")
def query_of_another_namespace(subject: Subject) -> Iterator[Defect]:
    """The expression of a check selects a fixed namespace, as if pasted from a dashboard."""
    yield _asking(subject, 'sum(kube_pod_info{namespace="default"})')


def _only_decoy(subject: Subject, change: dict[str, Any]) -> Defect:
    document, spec = subject.copy()
    require_one_cause(subject)
    spec["decoys"] = [{"name": "some-try", "description": "Somebody tries it", "changes": [change]}]
    return Defect(f"the only decoy is {change}", document)


@kind("SK432")
def decoy_beside_the_incident(subject: Subject) -> Iterator[Defect]:
    """The only decoy restarts a workload that is unrelated to the incident."""
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    yield _only_decoy(subject, {"restart": {"target": other}})


@kind("SK432")
def decoy_that_writes_a_note(subject: Subject) -> Iterator[Defect]:
    """The only decoy sets an annotation, which nothing reads."""
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    victims = needs([o for o in subject.alerting if o in subject.objects], "no alert names its object")
    yield _only_decoy(subject, annotate(victims[0], "today"))


@edit("SK202")
def solution_that_deletes_the_name_server(subject: Subject, spec: Document) -> str:
    """A solution also deletes an object that the whole cluster needs."""
    require_one_cause(subject)
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    write_out_solution(subject, spec)
    spec["solutions"][0]["changes"].append({"delete": {"target": "kube-system/Deployment/coredns"}})
    return "the solution also deletes kube-system/Deployment/coredns"


@kind("SK108")
def type_with_a_name_of_the_catalogue(subject: Subject) -> Iterator[Defect]:
    """A fault type next to the scenario shadows a catalogue type of the same name."""
    document, spec = subject.copy()
    require_one_cause(subject)
    name = spec["faults"][0]["type"]
    needs(name in subject.catalog.faults(), "its type is not the catalogue's")
    fault = fault_document(subject, name)
    yield Defect(f"another {name} beside the scenario", document, {f"faults/{name}/fault.yaml": fault})


@kind("SK414")
def fault_that_restarts_are_said_to_end(subject: Subject) -> Iterator[Defect]:
    """The fault declares that a restart ends it, so no restart is tried; no solution restarts anything."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.persistence in ("Object", "Workload"), "a restart does end it")
    listed = [s.changes for s in (*subject.spec.solutions, *fault.solutions)]
    needs(
        not any(c.operation.restarts or c.operation.deletes for each in listed for c in each),
        "its solution restarts something",
    )
    document, files = with_own_fault(subject, lambda f: f.update(persistence="Pod"))
    yield Defect("persistence: Pod", document, files)


@kind("SK414")
def fault_that_nobody_is_said_to_end(subject: Subject) -> Iterator[Defect]:
    """The fault changes a field and declares that no operator can change it back."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    plain = all(c.operation.overwrites for c in fault.changes)
    needs(plain and fault.persistence == "Object", "it does more than change a field")

    def given_up(document: Document) -> None:
        document.update(mitigation="None", solutions=[])
        for entity in document["entities"]:
            entity.pop("fix", None)

    document, files = with_own_fault(subject, given_up)
    document["spec"]["solutions"] = []
    yield Defect("mitigation: None", document, files)


@edit("SK602")
def brief_that_says_nothing(subject: Subject, spec: Document) -> str:
    """The brief describes no symptom."""
    spec["brief"] = "Help, please!"
    return "brief: Help, please!"


@kind("SK603")
def author_without_a_name(subject: Subject) -> Iterator[Defect]:
    """The only author is a blank, or has a name that nobody sees."""
    for name in (" ", "\u200b\u2060", "-"):
        document, spec = subject.copy()
        spec["authors"] = [{"name": name}]
        yield Defect(f"the author {name!a}", document)


@edit("SK608")
def suspended_scenario(subject: Subject, spec: Document) -> str:
    """The scenario is suspended, so applying it starts nothing."""
    spec["suspend"] = True
    return "suspend: true"

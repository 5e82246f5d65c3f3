"""What a file says and what it says elsewhere, or what everybody knows, do not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.alerts import must_fire
from tools.defects.inert import add_inert, annotate
from tools.defects.kind import Defect, kind, needs
from tools.defects.own import fault_document, with_own
from tools.defects.second import second_fault
from tools.defects.subject import Document, Subject
from tools.defects.tried_labels import inherited, one_cause


@kind("SK404")
def cause_of_a_fault_left_out(subject: Subject) -> Iterator[Defect]:
    """Of several causes of one fault only some are labelled."""
    document, spec = subject.copy()
    labels = spec["groundTruth"].get("rootCauses", [])
    several = [c for c in labels if sum(o["fault"] == c["fault"] for o in labels) > 1]
    labels.remove(needs(several, "every fault has one cause")[0])
    yield Defect(f"no label for {several[0].get('entity')}", document)


@kind("SK404")
def sustaining_what_nothing_set_off(subject: Subject) -> Iterator[Defect]:
    """The only fault is said to sustain an incident that nothing set off."""
    document, spec = subject.copy()
    one_cause(subject)
    spec["faults"][0]["role"] = "Sustaining"
    yield Defect(f"{spec['faults'][0]['name']} is Sustaining", document)


@kind("SK410")
def alert_of_a_distractor(subject: Subject) -> Iterator[Defect]:
    """An alert counts after a change that is said to do no harm."""
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    name = second_fault(subject, spec, labelled=False, role="Distractor")
    must_fire(spec)[0]["after"] = name
    yield Defect(f"the first alert counts after {name}", document)


@kind("SK124")
def distractor_at_the_cause(subject: Subject) -> Iterator[Defect]:
    """A harmless change of the very object that is labelled: whoever blames it is right by chance."""
    document, spec = subject.copy()
    one_cause(subject)
    inherited(subject, spec)
    broken = [c for c in subject.causes if c.startswith("Deployment/") and c in subject.objects]
    target = needs(broken, "its cause is no Deployment")[0]
    files = add_inert(subject, spec, target)
    spec["faults"][-1]["role"] = "Distractor"
    truth, spec["solutions"] = spec["groundTruth"], spec["solutions"][:-1]
    truth["rootCauses"] = truth["rootCauses"][:-1]
    truth["propagation"] = subject.copy()[1]["groundTruth"].get("propagation", [])
    yield Defect(f"one more replica of {target} is a Distractor", document, files)


@kind("SK325")
def two_deadlines(subject: Subject) -> Iterator[Defect]:
    """The same alert must fire by two different deadlines."""
    document, spec = subject.copy()
    spec["expect"]["alerts"].append({**must_fire(spec)[0], "withinSeconds": 2400})
    yield Defect("the first alert once more, within 2400 s", document)


def _asking(subject: Subject, expr: str) -> Defect:
    document, spec = subject.copy()
    query = {"expr": expr, "is": "AtLeast", "value": 1}
    spec.setdefault("expect", {})["checks"] = [{"query": query, "withinSeconds": 60}]
    return Defect(f"a check asks {expr}", document)


@kind("SK117")
def query_that_nobody_can_read(subject: Subject) -> Iterator[Defect]:
    """A check asks what is not PromQL."""
    yield _asking(subject, "sum(rate(traces_span_metrics_calls_total[1m])")


@kind("SK119")
def query_of_nothing(subject: Subject) -> Iterator[Defect]:
    """A check asks for a number that is the same whatever happens."""
    yield _asking(subject, "vector(1)")


@kind("SK119")
def query_of_another_namespace(subject: Subject) -> Iterator[Defect]:
    """A check asks about a namespace, as it was copied from a dashboard."""
    yield _asking(subject, 'sum(kube_pod_info{namespace="default"})')


def _only_decoy(subject: Subject, change: dict[str, Any]) -> Defect:
    document, spec = subject.copy()
    one_cause(subject)
    spec["decoys"] = [{"name": "some-try", "description": "Somebody tries it", "changes": [change]}]
    return Defect(f"the only decoy is {change}", document)


@kind("SK432")
def decoy_beside_the_incident(subject: Subject) -> Iterator[Defect]:
    """The only decoy restarts what has nothing to do with the incident."""
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    yield _only_decoy(subject, {"restart": {"target": other}})


@kind("SK432")
def decoy_that_writes_a_note(subject: Subject) -> Iterator[Defect]:
    """The only decoy sets an annotation, which nothing reads."""
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    victims = needs([o for o in subject.alerting if o in subject.objects], "no alert names its object")
    yield _only_decoy(subject, annotate(victims[0], "today"))


@kind("SK202")
def solution_that_deletes_the_name_server(subject: Subject) -> Iterator[Defect]:
    """A solution also deletes what the whole cluster needs."""
    document, spec = subject.copy()
    one_cause(subject)
    needs(all(f.scope == "Namespace" for f in subject.case.faults.values()), "its fault reaches everything")
    inherited(subject, spec)
    spec["solutions"][0]["changes"].append({"delete": {"target": "kube-system/Deployment/coredns"}})
    yield Defect("the solution also deletes kube-system/Deployment/coredns", document)


@kind("SK108")
def type_with_a_name_of_the_catalogue(subject: Subject) -> Iterator[Defect]:
    """A fault type beside the scenario has the name of another one, which readers know."""
    document, spec = subject.copy()
    one_cause(subject)
    name = spec["faults"][0]["type"]
    needs(name in subject.catalog.faults(), "its type is its own")
    fault = fault_document(subject, name)
    yield Defect(f"another {name} beside the scenario", document, {f"faults/{name}/fault.yaml": fault})


@kind("SK414")
def fault_that_restarts_are_said_to_end(subject: Subject) -> Iterator[Defect]:
    """The fault says that a restart ends it, so that no restart is tried, and no solution restarts anything."""
    one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.persistence in ("Object", "Workload"), "a restart does end it")
    listed = [s.changes for s in (*subject.spec.solutions, *fault.solutions)]
    needs(
        not any(c.operation.restarts or c.operation.deletes for each in listed for c in each),
        "its solution restarts something",
    )
    document, files = with_own(subject, lambda f: f.update(persistence="Pod"))
    yield Defect("persistence: Pod", document, files)


@kind("SK414")
def fault_that_nobody_is_said_to_end(subject: Subject) -> Iterator[Defect]:
    """The fault changes a field, and says that no operator can change it back."""
    one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    plain = all(c.operation.overwrites for c in fault.changes)
    needs(plain and fault.persistence == "Object", "it does more than to change a field")

    def given_up(document: Document) -> None:
        document.update(mitigation="None", solutions=[])
        for entity in document["entities"]:
            entity.pop("fix", None)

    document, files = with_own(subject, given_up)
    document["spec"]["solutions"] = []
    yield Defect("mitigation: None", document, files)


@kind("SK602")
def brief_that_says_nothing(subject: Subject) -> Iterator[Defect]:
    """The brief is a cry for help."""
    document, spec = subject.copy()
    spec["brief"] = "Help, please!"
    yield Defect("brief: Help, please!", document)


@kind("SK603")
def author_without_a_name(subject: Subject) -> Iterator[Defect]:
    """The only author is a blank."""
    document, spec = subject.copy()
    spec["authors"] = [{"name": " "}]
    yield Defect("a blank author", document)


@kind("SK608")
def suspended_scenario(subject: Subject) -> Iterator[Defect]:
    """Whoever applies it gets nothing."""
    document, spec = subject.copy()
    spec["suspend"] = True
    yield Defect("suspend: true", document)

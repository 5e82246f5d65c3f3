"""Wrong ground truth that only trials can detect: a scenario's own fault type makes a false claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.defects.edits.fault_type import fault_document, with_own_fault
from tools.defects.edits.inert_fault import add_inert, annotate
from tools.defects.edits.propagation import reroot
from tools.defects.edits.solutions import require_one_cause, write_out_solution
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject, bare


@kind("SK403", stage="Trial", first=("leave-out",))
def superfluous_cause(subject: Subject) -> Iterator[Defect]:
    """A harmless change is labelled as a second cause."""
    document, spec = subject.copy()
    require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    write_out_solution(subject, spec)
    files = add_inert(subject, spec, other)
    yield Defect(f"one more replica of {other} is also a Cause", document, files)


@kind("SK401", "SK402", "SK307", stage="Trial", first=("distractors", "label"))
def cause_as_distractor(subject: Subject) -> Iterator[Defect]:
    """The real cause is declared a distractor, and a harmless change the cause."""
    document, spec = subject.copy()
    name = require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    spec["groundTruth"]["rootCauses"], spec["solutions"] = [], []
    spec["faults"][0]["role"] = "Distractor"
    reroot(subject, spec, other)
    files = add_inert(subject, spec, other)
    yield Defect(f"{name} is a Distractor, one more replica of {other} the Cause", document, files)


@edit("SK401", "SK402", "SK418", stage="Trial", first=("label",))
def unlabelled_co_cause(subject: Subject, spec: Document) -> str:
    """A second fault that sustains the incident is declared a mere trigger."""
    # Either repairing the labelled cause does not clear the alerts, or everything fires without the trigger, too.
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(
        not any(c.operation.experiment for c in fault.changes),
        "a chaos object needs the pods that the second fault takes away",
    )
    target, type_ = needs(_as_well(subject, bare(fault.target)), "no other object disables the same component")
    spec["faults"].append({"name": "before", "type": type_, "target": target, "role": "Trigger"})
    return f"{type_} on {target} is a Trigger"


def _as_well(subject: Subject, target: str) -> tuple[str, str] | None:
    """Return a fault with the same symptoms: of the Service if the target is its workload, or the reverse.

    Without callers of the Service, the fault is of the workload itself.
    """
    assert subject.case.app is not None
    asked = {call.callee for call in subject.case.app.calls if call.via == "Service"}
    for component in subject.components():
        service = f"Service/{component.service}"
        if target == component.workload and component.role != "Load":
            mismatch = (service, "service-selector-mismatch")
            return mismatch if component.name in asked else (target, "deployment-scaled-to-zero")
        if target == service and component.workload.startswith("Deployment/"):
            return component.workload, "deployment-scaled-to-zero"
    return None


@kind("SK418", stage="Trial", first=("untriggered",))
def idle_trigger(subject: Subject) -> Iterator[Defect]:
    """A harmless, unrelated change is declared as the trigger."""
    document, spec = subject.copy()
    require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    write_out_solution(subject, spec)
    files = add_inert(subject, spec, other)
    added = spec["faults"][-1]
    added["role"] = "Trigger"
    truth = spec["groundTruth"]
    truth["rootCauses"] = [c for c in truth["rootCauses"] if c["fault"] != added["name"]]
    spec["solutions"] = [s for s in spec["solutions"] if s["fixes"] != [added["name"]]]
    yield Defect(f"one more replica of {other} is the Trigger", document, files)


@edit("SK418", stage="Trial", first=("undisturbed",))
def trigger_as_distractor(subject: Subject, spec: Document) -> str:
    """The trigger is declared a distractor."""
    triggers = [use for use in spec.get("faults", []) if use.get("role") == "Trigger"]
    names = {use["name"] for use in needs(triggers, "it has no trigger")}
    for use in spec["faults"]:
        use["role"] = "Distractor" if use["name"] in names else "Cause"
    truth = spec["groundTruth"]
    truth["propagation"] = [e for e in truth["propagation"] if e["from"] not in {f"Fault/{n}" for n in names}]
    cause = truth["rootCauses"][0]["fault"]
    for alert in spec["expect"]["alerts"]:
        if alert.get("after") in names:
            alert["after"] = cause
    return f"{', '.join(sorted(names))} is a Distractor"


@edit("SK401", stage="Trial", first=("label",))
def independent_causes_called_conjunctive(subject: Subject, spec: Document) -> str:
    """Each of two causes sustains the incident, and they are declared conjunctive."""
    truth = subject.spec.ground_truth
    needs(len({c.fault for c in truth.root_causes}) > 1 and truth.causes_join == "Independent", "it has one cause")
    spec["groundTruth"]["causesJoin"] = "Conjunctive"
    return "causesJoin: Conjunctive"


@kind("SK403", stage="Trial", first=("leave-out",))
def conjunctive_causes_called_independent(subject: Subject) -> Iterator[Defect]:
    """A fault needs both of its causes, and they are declared independent."""
    require_one_cause(subject)
    fault = subject.case.faults[subject.spec.faults[0].name]
    needs(fault.causes_join == "Conjunctive" and len(fault.causes) > 1, "its fault has one cause")
    document, files = with_own_fault(subject, lambda f: f.update(causesJoin="Independent"))
    yield Defect("causesJoin: Independent", document, files)


@edit("SK410", stage="Trial", first=("leave-out",))
def alert_of_another_cause(subject: Subject, spec: Document) -> str:
    """With two independent causes, an alert counts after the one that does not raise it but raises others."""
    needs(subject.incident, "there is no incident")
    truth = subject.spec.ground_truth
    needs(len(truth.root_causes) > 1 and truth.causes_join == "Independent", "it has one cause")
    must = [a for a in spec["expect"]["alerts"] if a.get("class", "MustFire") == "MustFire" and a.get("after")]
    causes = {a["after"] for a in must}
    several = [a for a in must if sum(b["after"] == a["after"] for b in must) > 1]
    needs(len(causes) > 1 and several, "no cause has a spare alert")
    other = next(name for name in sorted(causes) if name != several[0]["after"])
    several[0]["after"] = other
    truth_ = spec["groundTruth"]
    start = next(c.get("entity") or f"Fault/{other}" for c in truth_["rootCauses"] if c["fault"] == other)
    if "entity" in several[0]:
        truth_["propagation"].append({"from": start, "to": several[0]["entity"], "because": "it is said to"})
    return f"{several[0]['name']} on {several[0].get('on')} counts after {other}"


@kind("SK405")
def fault_that_blames_another(subject: Subject) -> Iterator[Defect]:
    """The fault declares an object as its cause that it does not touch."""
    require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    yield _blamed(subject, other, f"the fault and the label name {other}")


@kind("SK405", "SK406")
def fault_that_blames_its_victim(subject: Subject) -> Iterator[Defect]:
    """The fault declares an object as its cause that is only a victim."""
    require_one_cause(subject)
    victim = _victim(subject)
    yield _blamed(subject, victim, f"the fault and the label name {victim}, which alerts")


@kind("SK414")
def cause_that_is_not_repaired_alone(subject: Subject) -> Iterator[Defect]:
    """The fault declares a harmless extra change as its cause, without a fix for it."""
    yield _beside(subject, "without `fix`", lambda fault: fault["entities"][0].pop("fix"))


@kind("SK414")
def cause_that_is_repaired_with_all_the_rest(subject: Subject) -> Iterator[Defect]:
    """The fault declares a harmless extra change as its cause, whose fix removes the whole fault."""
    whole = [{"removeFault": {"fault": "{{ fault }}"}}]
    yield _beside(subject, "taken back as a whole", lambda fault: fault["entities"][0].update(fix=whole))


@kind("SK414")
def cause_that_nobody_can_repair(subject: Subject) -> Iterator[Defect]:
    """The fault declares a harmless extra change as its cause, and that no operator can repair it."""

    def given_up(fault: Document) -> None:
        fault["entities"][0].pop("fix")
        fault["mitigation"], fault["solutions"] = "None", []

    defect = _beside(subject, "which no operator can repair", given_up)
    assert isinstance(defect.document, dict)
    defect.document["spec"]["solutions"] = []
    yield defect


@kind("SK414")
def fault_that_names_no_cause(subject: Subject) -> Iterator[Defect]:
    """The fault declares no object as its cause, so any label would do."""
    name = require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]

    def unblamed(fault: Document) -> None:
        entities = [{k: v for k, v in e.items() if k != "fix"} | {"role": "Artefact"} for e in fault["entities"]]
        fault["entities"] = entities

    document, files = with_own_fault(subject, unblamed)
    document["spec"]["groundTruth"]["rootCauses"] = [{"fault": name, "entity": other}]
    reroot(subject, document["spec"], f"Fault/{name}")
    yield Defect(f"no cause in the fault, {other} as the label", document, files)


@kind("SK402", stage="Trial", first=("label-beside",))
def fault_that_repairs_another(subject: Subject) -> Iterator[Defect]:
    """The fault declares a harmless extra change as its cause, whose fix also repairs the real cause."""
    require_one_cause(subject)
    repair = fault_document(subject, subject.spec.faults[0].type)["entities"][0].get("fix")
    needs(repair, "its fault has no repair of its cause")
    yield _beside(subject, "repaired with the real one", lambda fault: fault["entities"][0]["fix"].extend(repair))


@kind("SK402", stage="Trial", first=("label-beside",))
def alternative_that_is_repaired_with_the_cause(subject: Subject) -> Iterator[Defect]:
    """A harmless change is declared to be needed besides the real cause, and is only repaired together with it."""
    yield _alternative(subject, labelled=True)


@kind("SK401", "SK404", stage="Trial", first=("label",))
def alternative_without_a_label(subject: Subject) -> Iterator[Defect]:
    """A harmless change is declared to be needed besides the real cause, so an answer that names it would be right."""
    yield _alternative(subject, labelled=False)


@kind("SK401", stage="Trial", first=("label",))
def fault_that_blames_what_it_touches(subject: Subject) -> Iterator[Defect]:
    """The fault also makes a harmless change elsewhere, and declares that as its cause."""
    require_one_cause(subject)
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    yield _blamed(subject, other, f"fault and label name an annotation of {other} as the cause", touched=True)


@kind("SK401", stage="Trial", first=("label",))
def fault_that_blames_the_victim_it_touches(subject: Subject) -> Iterator[Defect]:
    """The fault also makes a harmless change to a victim, and declares that as its cause."""
    require_one_cause(subject)
    victim = _victim(subject)
    yield _blamed(subject, victim, f"fault and label name an annotation of {victim} as the cause", touched=True)


def _victim(subject: Subject) -> str:
    fault = subject.case.faults[subject.spec.faults[0].name]
    touched = {bare(text) for text in (fault.target, *(c.target for c in fault.changes)) if text}
    touched |= set(subject.causes) | {bare(e.ref) for e in fault.entities}
    victims = [o for o in subject.alerting if bare(o) not in touched and o.startswith("Deployment/")]
    return str(needs(victims, "only touched objects alert")[0])


def _beside(subject: Subject, reported: str, edit: Callable[[Document], Any]) -> Defect:
    """Declare a harmless extra change as the cause; ``edit`` changes the fault further."""
    require_one_cause(subject)
    needs(subject.spec.faults[0].replicas is None, "an extra change contradicts that only some pods are hit")
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]
    defect = _blamed(subject, other, f"an annotation of {other} is the cause, {reported}", touched=True)
    for fault in defect.files.values():
        edit(fault)
    return defect


def _alternative(subject: Subject, *, labelled: bool) -> Defect:
    """Declare a harmless extra change as a second cause; labelled, it is repaired together with the first."""
    name = require_one_cause(subject)
    needs(len(subject.causes) == 1, "its fault has several causes")
    needs(subject.case.faults[name].persistence in ("Object", "Workload"), "a change that stays contradicts its fault")
    needs(subject.spec.faults[0].replicas is None, "an extra change contradicts that only some pods are hit")
    repair = fault_document(subject, subject.spec.faults[0].type)["entities"][0].get("fix")
    needs(repair, "its fault has no fix for its cause")
    other = needs(subject.bystanders("Deployment"), "every Deployment has to do with it")[0]

    def joined(fault: Document) -> None:
        fault["changes"].append(annotate(other, "2024-03"))
        fix = [annotate(other, None), *(repair if labelled else [])]
        fault["entities"].append({"ref": other, "role": "Cause", "fix": fix})
        fault["causesJoin"] = "Conjunctive"
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own_fault(subject, joined)
    write_out_solution(subject, document["spec"])
    if labelled:
        document["spec"]["groundTruth"]["rootCauses"].append({"fault": name, "entity": other})
    reported = "labelled and repaired with the cause" if labelled else "no label, repaired alone"
    return Defect(f"an annotation of {other} joins the cause conjunctively: {reported}", document, files)


def _blamed(subject: Subject, other: str, reported: str, *, touched: bool = False) -> Defect:
    def blame(fault: Document) -> None:
        entities = [{**e, "role": "Artefact"} for e in fault["entities"] if e["ref"] != other]
        for entity in entities:
            entity.pop("fix", None)
        fix = annotate(other, None) if touched else {"restart": {"target": other}}
        fault["entities"] = [{"ref": other, "role": "Cause", "fix": [fix]}, *entities]
        fault.pop("causesJoin", None)
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]
        if touched:
            fault["changes"].append(annotate(other, "2024-03"))

    document, files = with_own_fault(subject, blame)
    spec = document["spec"]
    write_out_solution(subject, spec)
    spec["groundTruth"]["rootCauses"] = [{"fault": spec["faults"][0]["name"], "entity": other}]
    reroot(subject, spec, other)
    return Defect(reported, document, files)


@edit("SK329", "SK327", stage="Trial", first=("repeat",))
def incident_as_benign(subject: Subject, spec: Document) -> str:
    """An incident is declared Benign, and everything that contradicts it is left out."""
    require_one_cause(subject)
    spec["groundTruth"]["outcome"] = "Benign"
    spec.pop("solutions", None)
    spec.pop("decoys", None)
    return "outcome Benign, no solutions"


@edit("SK329", stage="Trial", first=("repeat",))
def incident_as_benign_with_alerts(subject: Subject, spec: Document) -> str:
    """An incident is declared Benign, and its alerts only may fire."""
    require_one_cause(subject)
    spec["groundTruth"]["outcome"] = "Benign"
    spec.pop("solutions", None)
    spec.pop("decoys", None)
    _harmless(spec)
    return "outcome Benign, every alert may fire"


@edit("SK307", stage="Trial", first=("repeat",))
def incident_as_none(subject: Subject, spec: Document) -> str:
    """An incident is declared NoIncident, and everything that contradicts it is left out."""
    require_one_cause(subject)
    _no_incident(spec)
    spec["expect"]["alerts"] = [a for a in spec["expect"]["alerts"] if a.get("class") == "MustNotFire"]
    return "outcome NoIncident, the alerts are not mentioned"


@edit("SK307", stage="Trial", first=("repeat",))
def incident_as_none_with_alerts(subject: Subject, spec: Document) -> str:
    """An incident is declared NoIncident, and its alerts only may fire."""
    require_one_cause(subject)
    _no_incident(spec)
    _harmless(spec)
    return "outcome NoIncident, every alert may fire"


@edit("SK307", stage="Trial", first=("repeat",))
def incident_as_none_with_chronic_alerts(subject: Subject, spec: Document) -> str:
    """An incident is declared NoIncident, and its alerts are declared as background."""
    require_one_cause(subject)
    _no_incident(spec)
    alerts = [a for a in spec["expect"]["alerts"] if a.get("class") != "MustNotFire"]
    chronic = [{k: a[k] for k in ("name", "entity") if k in a} | {"reason": "it is always on"} for a in alerts]
    spec["expect"] = {"background": chronic}
    return "outcome NoIncident, every alert is in the background"


def _harmless(spec: Document) -> None:
    for alert in spec["expect"]["alerts"]:
        if alert.get("class", "MustFire") == "MustFire":
            alert["class"] = "MayFire"
            alert.pop("withinSeconds", None)


def _no_incident(spec: Document) -> None:
    spec["faults"][0]["role"] = "Distractor"
    spec["groundTruth"] = {"outcome": "NoIncident"}
    spec.pop("solutions", None)
    spec.pop("decoys", None)

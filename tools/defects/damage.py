"""Solutions that repair it and break something else, which no alert tells of; repairs that are none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.inert import annotate
from tools.defects.kind import Defect, kind, needs
from tools.defects.own import fault_document, with_own
from tools.defects.second import second_fault
from tools.defects.subject import Document, Subject
from tools.defects.tried_labels import inherited, one_cause


def _also(subject: Subject, change: dict[str, Any], reported: str) -> Defect:
    document, spec = subject.copy()
    one_cause(subject)
    inherited(subject, spec)
    spec["solutions"][0]["changes"].append(change)
    return Defect(f"the solution also {reported}", document)


def _patch(target: str, patch: Document, type_: str = "Merge") -> dict[str, Any]:
    return {"patch": {"target": target, "type": type_, "patch": patch}}


@kind("SK434")
def solution_that_redirects_another_service(subject: Subject) -> Iterator[Defect]:
    """A solution repairs it, and another Service selects the pods of somebody else."""
    services = [o for o in subject.bystanders("Service") if subject.objects[o]["spec"].get("selector")]
    needs(len(services) > 1, "every Service has to do with it")
    selector = subject.objects[services[1]]["spec"]["selector"]
    yield _also(subject, _patch(services[0], {"spec": {"selector": selector}}), f"lets {services[0]} select others")


@kind("SK434")
def solution_that_leaves_a_flag_on(subject: Subject) -> Iterator[Defect]:
    """A solution repairs it, and switches on a feature flag that nobody asked about."""
    flags = subject.case.app.flags if subject.case.app else None
    used = {str(v) for use in subject.spec.faults for v in use.parameters.values()}
    free = [f for f, t in (flags.effects if flags else {}).items() if t.effect == "Errors" and f not in used]
    flag = needs(free, "the app has no other flag")[0]
    document = _flag_document(subject)
    variants = [v for v in document["flags"][flag]["variants"] if v != document["flags"][flag]["defaultVariant"]]
    yield _also(subject, {"setFlag": {"flag": flag, "variant": variants[-1]}}, f"sets {flag} to {variants[-1]}")


def _flag_document(subject: Subject) -> Document:
    import json

    assert subject.case.app is not None
    assert subject.case.app.flags is not None
    store = subject.case.app.flags
    found: Document = json.loads(subject.objects[f"ConfigMap/{store.config_map}"]["data"][store.key])
    return found


@kind("SK434")
def solution_that_replaces_a_file(subject: Subject) -> Iterator[Defect]:
    """A solution repairs it, and writes something else into a file that the app reads when it starts."""
    flags = subject.case.app.flags.config_map if subject.case.app and subject.case.app.flags else ""
    held = {o: subject.objects[o].get("data") or {} for o in subject.objects if o.startswith("ConfigMap/")}
    files = [o for o, data in held.items() if data and o not in subject.concerned and o != f"ConfigMap/{flags}"]
    file = needs(files, "the app reads no file")[0]
    key = next(iter(held[file]))
    yield _also(subject, _patch(file, {"data": {key: "# moved"}}), f"replaces {key} in {file}")


@kind("SK434")
def solution_that_slackens_a_probe(subject: Subject) -> Iterator[Defect]:
    """A solution repairs it, and another workload is asked once in an hour whether it is ready."""
    probed = [
        (o, c["name"])
        for o in subject.bystanders("Deployment", "StatefulSet")
        for c in subject.objects[o]["spec"]["template"]["spec"]["containers"]
        if c.get("readinessProbe")
    ]
    target, name = needs(probed, "nobody else has a probe")[0]
    slack = {"name": name, "readinessProbe": {"periodSeconds": 3600}}
    patch = {"spec": {"template": {"spec": {"containers": [slack]}}}}
    yield _also(subject, _patch(target, patch, "Strategic"), f"slackens the probe of {target}")


@kind("SK434")
def solution_that_rewrites_a_variable(subject: Subject) -> Iterator[Defect]:
    """A solution repairs it, and another workload gets another value of a variable."""
    known = [
        (o, c["name"], e["name"])
        for o in subject.bystanders("Deployment", "StatefulSet")
        for c in subject.objects[o]["spec"]["template"]["spec"]["containers"]
        for e in c.get("env") or []
        if e.get("value")
    ]
    target, container, name = needs(known, "nobody else has a variable")[0]
    other = {"name": container, "env": [{"name": name, "value": "elsewhere"}]}
    patch = {"spec": {"template": {"spec": {"containers": [other]}}}}
    yield _also(subject, _patch(target, patch, "Strategic"), f"sets {name} of {target}")


@kind("SK428")
def fix_that_leaves_the_cause(subject: Subject) -> Iterator[Defect]:
    """The fault blames a note that it makes, and its repair of that is a workaround that leaves the note."""
    one_cause(subject)
    victims = [o for o in subject.alerting if o.startswith("Deployment/") and o in subject.objects]
    victim = needs([v for v in victims if v not in subject.causes], "only the cause alerts")[0]
    repair = fault_document(subject, subject.spec.faults[0].type)["entities"][0].get("fix")
    needs(repair, "its fault has no repair of its cause")
    needs(not any("run" in c for c in repair), "only a trial shows what a command does")

    def blame(fault: Document) -> None:
        fault["changes"].append(annotate(victim, "2024-03"))
        fault["entities"].append({"ref": victim, "role": "Cause", "fix": [{"restart": {"target": victim}}]})
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own(subject, blame)
    yield Defect(f"a note at {victim} is a cause, which a restart repairs", document, files)


@kind("SK410")
def trouble_of_a_distractor_elsewhere(subject: Subject) -> Iterator[Defect]:
    """A harmless change is said to raise an alert where it changes nothing, so that damage of it would not be told."""
    document, spec = subject.copy()
    needs(subject.incident, "there is no incident")
    name = second_fault(subject, spec, labelled=False, role="Distractor")
    victim = needs(subject.alerting, "no alert names its object")[0]
    alert = {"name": "HighRequestLatency", "entity": victim, "class": "MayFire", "after": name}
    spec["expect"]["alerts"].append(alert)
    yield Defect(f"{name} is said to raise an alert on {victim}", document)

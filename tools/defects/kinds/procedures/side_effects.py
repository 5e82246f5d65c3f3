"""Solutions with side effects that no alert reports, and fixes that leave the cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.fault_type import fault_document, with_own_fault
from tools.defects.edits.inert_fault import annotate
from tools.defects.edits.objects import find_file
from tools.defects.edits.second_fault import second_fault
from tools.defects.edits.solutions import extend_solution, require_one_cause
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.subject import Document, Subject


def _patch(target: str, patch: Document, type_: str = "Merge") -> dict[str, Any]:
    return {"patch": {"target": target, "type": type_, "patch": patch}}


@kind("SK434")
def solution_that_redirects_another_service(subject: Subject) -> Iterator[Defect]:
    """A solution also makes another Service select a different workload's pods."""
    services = [o for o in subject.bystanders("Service") if subject.objects[o]["spec"].get("selector")]
    needs(len(services) > 1, "every Service is involved")
    selector = subject.objects[services[1]]["spec"]["selector"]
    yield extend_solution(
        subject, _patch(services[0], {"spec": {"selector": selector}}), f"changes the selector of {services[0]}"
    )


@kind("SK434")
def solution_that_leaves_a_flag_on(subject: Subject) -> Iterator[Defect]:
    """A solution also turns on an unrelated feature flag."""
    flags = subject.case.app.flags if subject.case.app else None
    used = {str(v) for use in subject.spec.faults for v in use.parameters.values()}
    free = [f for f, t in (flags.effects if flags else {}).items() if t.effect == "Errors" and f not in used]
    flag = needs(free, "the app has no unused flag")[0]
    document = _flag_document(subject)
    variants = [v for v in document["flags"][flag]["variants"] if v != document["flags"][flag]["defaultVariant"]]
    yield extend_solution(
        subject, {"setFlag": {"flag": flag, "variant": variants[-1]}}, f"sets {flag} to {variants[-1]}"
    )


def _flag_document(subject: Subject) -> Document:
    import json

    assert subject.case.app is not None
    assert subject.case.app.flags is not None
    store = subject.case.app.flags
    found: Document = json.loads(subject.objects[f"ConfigMap/{store.config_map}"]["data"][store.key])
    return found


@kind("SK434")
def solution_that_replaces_a_file(subject: Subject) -> Iterator[Defect]:
    """A solution also overwrites a file that the app reads at startup."""
    file, key = find_file(subject)
    yield extend_solution(subject, _patch(file, {"data": {key: "# moved"}}), f"replaces {key} in {file}")


@kind("SK434")
def solution_that_slackens_a_probe(subject: Subject) -> Iterator[Defect]:
    """A solution also makes another workload's readiness probe, which it may lack, run once an hour."""
    serving = [
        (o, c)
        for o in subject.bystanders("Deployment", "StatefulSet")
        for c in subject.objects[o]["spec"]["template"]["spec"]["containers"]
        if c.get("readinessProbe") or c.get("ports")
    ]
    target, container = needs(serving, "no uninvolved workload serves")[0]
    probe = {} if container.get("readinessProbe") else {"tcpSocket": {"port": container["ports"][0]["containerPort"]}}
    slack = {"name": container["name"], "readinessProbe": {**probe, "periodSeconds": 3600}}
    patch = {"spec": {"template": {"spec": {"containers": [slack]}}}}
    yield extend_solution(subject, _patch(target, patch, "Strategic"), f"relaxes the probe of {target}")


@kind("SK434")
def solution_that_rewrites_a_variable(subject: Subject) -> Iterator[Defect]:
    """A solution also changes an environment variable of another workload."""
    known = [
        (o, c["name"], e["name"])
        for o in subject.bystanders("Deployment", "StatefulSet")
        for c in subject.objects[o]["spec"]["template"]["spec"]["containers"]
        for e in c.get("env") or []
        if e.get("value")
    ]
    target, container, name = needs(known, "no uninvolved workload has a variable")[0]
    other = {"name": container, "env": [{"name": name, "value": "elsewhere"}]}
    patch = {"spec": {"template": {"spec": {"containers": [other]}}}}
    yield extend_solution(subject, _patch(target, patch, "Strategic"), f"sets {name} of {target}")


@kind("SK428")
def fix_that_leaves_the_cause(subject: Subject) -> Iterator[Defect]:
    """The fault names an annotation that it sets as a cause, and its fix is a workaround that leaves the annotation."""
    require_one_cause(subject)
    victims = [o for o in subject.alerting if o.startswith("Deployment/") and o in subject.objects]
    victim = needs([v for v in victims if v not in subject.causes], "only the cause alerts")[0]
    repair = fault_document(subject, subject.spec.faults[0].type)["entities"][0].get("fix")
    needs(repair, "its fault has no fix for its cause")
    needs(not any("run" in c for c in repair), "only a trial shows the effect of a command")

    def blame(fault: Document) -> None:
        fault["changes"].append(annotate(victim, "2024-03"))
        fault["entities"].append({"ref": victim, "role": "Cause", "fix": [{"restart": {"target": victim}}]})
        fault["requires"] = [*fault.get("requires", []), f"app:{subject.spec.app.name}"]

    document, files = with_own_fault(subject, blame)
    yield Defect(f"an annotation of {victim} is a cause, which a restart repairs", document, files)


@edit("SK410")
def trouble_of_a_distractor_elsewhere(subject: Subject, spec: Document) -> str:
    """A harmless change is declared to raise an alert on an untouched object, which would excuse real damage."""
    needs(subject.incident, "there is no incident")
    name = second_fault(subject, spec, labelled=False, role="Distractor")
    victim = needs(subject.alerting, "no alert names its object")[0]
    alert = {"name": "HighRequestLatency", "entity": victim, "class": "MayFire", "after": name}
    spec["expect"]["alerts"].append(alert)
    return f"{name} is declared to raise an alert on {victim}"

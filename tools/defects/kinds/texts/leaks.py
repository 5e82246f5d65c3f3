"""Hints where a solver reads: the fault works as before, and also leaks the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.fault_type import with_own_fault
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject, bare


def _target(subject: Subject) -> str:
    return bare(needs(subject.spec.faults, "nothing is broken")[0].target)


def _workload(subject: Subject) -> str:
    """Return a workload of the app: the fault's target, or the workload behind that Service."""
    target = _target(subject)
    behind = [c.workload for c in subject.components() if f"Service/{c.service}" == target]
    found = next((w for w in (target, *behind) if w.startswith(("Deployment/", "StatefulSet/"))), "")
    return str(needs(found, "no workload belongs to it"))


def _with(subject: Subject, change: Document, reported: str) -> Defect:
    document, files = with_own_fault(subject, lambda fault: fault["changes"].append(change))
    return Defect(reported, document, files)


def _merged(target: str, patch: Document) -> Document:
    return {"patch": {"target": target, "type": "Strategic", "patch": patch}}


def _container(subject: Subject, workload: str, **more: Any) -> Document:
    containers = subject.objects[workload]["spec"]["template"]["spec"]["containers"]
    body = {"spec": {"template": {"spec": {"containers": [{"name": containers[0]["name"], **more}]}}}}
    return _merged(workload, body)


def _object(kind_: str, name: str, **body: Any) -> Document:
    return {"create": {"apiVersion": "v1", "kind": kind_, "metadata": {"name": name}, **body}}


@kind("SK221")
def hint_in_an_annotation(subject: Subject) -> Iterator[Defect]:
    """The fault sets an annotation in plain words on the broken object."""
    change = _merged(_target(subject), {"metadata": {"annotations": {"ops/culprit": "yes"}}})
    yield _with(subject, change, "annotation ops/culprit: yes")


@kind("SK221")
def hint_in_a_label(subject: Subject) -> Iterator[Defect]:
    """The fault sets a label on the broken object that nothing selects."""
    yield _with(
        subject, _merged(_target(subject), {"metadata": {"labels": {"look-at": "this-one"}}}), "look-at: this-one"
    )


@kind("SK221")
def hint_in_a_selecting_field(subject: Subject) -> Iterator[Defect]:
    """The fault adds a toleration for a taint that no node has, with a hint as key."""
    body = {"spec": {"template": {"spec": {"tolerations": [{"key": "look-at-this-one", "operator": "Exists"}]}}}}
    yield _with(subject, _merged(_workload(subject), body), "a toleration of look-at-this-one")


@kind("SK221")
def hint_in_a_selected_value(subject: Subject) -> Iterator[Defect]:
    """The fault adds a toleration, or a preference of nodes, with a hint as value."""
    tolerations = [{"key": "dedicated", "operator": "Equal", "value": "look-at-this-one", "effect": "NoSchedule"}]
    term = {
        "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["look-at-this-one"]}]
    }
    preferred = [{"weight": 1, "preference": term}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    for body in ({"tolerations": tolerations}, {"affinity": affinity}):
        change = _merged(_workload(subject), {"spec": {"template": {"spec": body}}})
        yield _with(subject, change, f"a hint as value in {next(iter(body))}")


@kind("SK221")
def hint_in_a_resource(subject: Subject) -> Iterator[Defect]:
    """The fault creates a quota for a resource that nobody has, with a hint as its name."""
    _target(subject)
    body = {"spec": {"hard": {"count/look-at-this-one.example.com": "0"}}}
    yield _with(subject, _object("ResourceQuota", "{{ neutral('limits') }}", **body), "a quota named by a hint")


@kind("SK221")
def hint_in_an_option(subject: Subject) -> Iterator[Defect]:
    """The fault sets an option of the Java machine that explains it."""
    change = _container(subject, _workload(subject), env=[{"name": "JAVA_TOOL_OPTIONS", "value": "-Dculprit=yes"}])
    yield _with(subject, change, "-Dculprit=yes")


@kind("SK221")
def hint_in_a_folder(subject: Subject) -> Iterator[Defect]:
    """The fault creates a Job that does nothing, with a hint in its working directory."""
    needs(subject.spec.faults, "nothing is broken")
    container = {"name": "main", "image": "busybox:1.37.0", "command": ["sleep", "60"], "workingDir": "/culprit"}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}
    change = _object("Job", "{{ neutral('batch') }}", spec=spec)
    change["create"]["apiVersion"] = "batch/v1"
    yield _with(subject, change, "workingDir: /culprit")


@kind("SK221")
def hint_in_a_header(subject: Subject) -> Iterator[Defect]:
    """The fault gives a probe a header, or telemetry an attribute, that names the cause."""
    target = _workload(subject)
    probe = {"httpGet": {"path": "/", "port": 8080, "httpHeaders": [{"name": "X-Cause", "value": "carts"}]}}
    yield _with(subject, _container(subject, target, startupProbe=probe), "X-Cause: carts")
    attributes = [{"name": "OTEL_RESOURCE_ATTRIBUTES", "value": "cause=carts"}]
    yield _with(subject, _container(subject, target, env=attributes), "cause=carts")


@kind("SK221")
def hint_in_a_variable(subject: Subject) -> Iterator[Defect]:
    """The fault sets an environment variable that the program does not read."""
    change = _container(subject, _workload(subject), env=[{"name": "CHANGED_TODAY", "value": "yes"}])
    yield _with(subject, change, "variable CHANGED_TODAY")


@kind("SK221")
def hint_in_a_settings_key(subject: Subject) -> Iterator[Defect]:
    """The fault creates a ConfigMap that nothing reads, with the solution in it."""
    change = _object("ConfigMap", "{{ neutral('settings') }}", data={"solution": f"repair {_target(subject)}"})
    yield _with(subject, change, "ConfigMap with the key solution")


@kind("SK221")
def hint_in_an_event(subject: Subject) -> Iterator[Defect]:
    """The fault creates an Event that names the broken object."""
    about = _target(subject)
    involved = {"kind": about.partition("/")[0], "name": about.partition("/")[2], "namespace": "{{ app.namespace }}"}
    body = {"involvedObject": involved, "reason": "Changed", "message": f"somebody changed {about}", "type": "Normal"}
    yield _with(subject, _object("Event", "{{ neutral('status') }}", **body), "an event about what is broken")


def _job(name: str, container: str, *command: str) -> Document:
    run = {"name": container, "image": "busybox:1.37.0", "command": list(command)}
    spec = {"template": {"spec": {"restartPolicy": "Never", "containers": [run]}}}
    made = _object("Job", name, spec=spec)
    made["create"]["apiVersion"] = "batch/v1"
    return made


@kind("SK221")
def hint_in_a_name(subject: Subject) -> Iterator[Defect]:
    """The fault creates a Job or a container with a hint in its name."""
    _target(subject)
    yield _with(subject, _job("guess-who-did-it", "main", "sleep", "60"), "Job/guess-who-did-it")
    yield _with(subject, _job("{{ neutral('batch') }}", "the-culprit", "sleep", "60"), "a container the-culprit")


@kind("SK221")
def hint_in_a_log(subject: Subject) -> Iterator[Defect]:
    """The fault starts a container that logs what is broken."""
    reported = f"echo whoever reads this should repair {_target(subject)}; sleep 60"
    yield _with(subject, _job("{{ neutral('batch') }}", "main", "sh", "-c", reported), "a log line")

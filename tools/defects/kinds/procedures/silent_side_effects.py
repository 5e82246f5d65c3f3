"""Solutions with damage that objects show and no alert, and decoys that say a solution in other words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.solutions import extend_solution, require_one_cause
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Document, Subject


def _merge(target: str, spec: Document) -> dict[str, Any]:
    return {"patch": {"target": target, "type": "Merge", "patch": {"spec": spec}}}


def _create(api: str, kind_: str, spec: Document) -> dict[str, Any]:
    return {"create": {"apiVersion": api, "kind": kind_, "metadata": {"name": "more"}, "spec": spec}}


def _find_alerting(subject: Subject) -> str:
    known = [o for o in subject.alerting if o.startswith("Deployment/") and o in subject.objects]
    return str(needs([o for o in known if o not in subject.causes], "no alerting Deployment is healthy")[0])


@kind("SK434")
def solution_that_changes_a_default_of_a_service(subject: Subject) -> Iterator[Defect]:
    """A solution also makes another Service forward to pods of the caller's node only, or to unready pods."""
    other = needs(subject.bystanders("Service"), "every Service is involved")[0]
    for field, value in (("internalTrafficPolicy", "Local"), ("publishNotReadyAddresses", True)):
        yield extend_solution(subject, _merge(other, {field: value}), f"sets {field} of {other}")


@kind("SK434")
def solution_that_changes_a_default_of_a_workload(subject: Subject) -> Iterator[Defect]:
    """A solution also lets another workload resolve names, replace pods or end them in another way."""
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    pod = {"template": {"spec": {"dnsPolicy": "Default"}}}
    for spec in (pod, {"strategy": {"type": "Recreate", "rollingUpdate": None}}, {"minReadySeconds": 600}):
        yield extend_solution(subject, _merge(other, spec), f"sets {next(iter(spec))} of {other}")


@kind("SK434")
def solution_that_renames_what_reports(subject: Subject) -> Iterator[Defect]:
    """A solution also changes the label from which the alerting program takes its name."""
    victim = _find_alerting(subject)
    body = subject.objects[victim]["spec"]["template"]["spec"]["containers"][0]
    names = [e for e in body.get("env") or [] if e["name"] == "OTEL_SERVICE_NAME" and e.get("valueFrom")]
    field = needs(names, "its name is in no label")[0]["valueFrom"]["fieldRef"]["fieldPath"]
    labels = {field.split("'")[1]: "web"}
    change = _merge(victim, {"template": {"metadata": {"labels": labels}}})
    yield extend_solution(subject, change, f"renames {victim}")


@kind("SK434")
def solution_that_gives_rollouts_a_day(subject: Subject) -> Iterator[Defect]:
    """A solution also gives rollouts of the alerting workload a day, so that none counts as stuck."""
    victim = _find_alerting(subject)
    yield extend_solution(subject, _merge(victim, {"progressDeadlineSeconds": 86400}), f"gives {victim} a day")


@kind("SK434")
def solution_that_drowns_the_incident(subject: Subject) -> Iterator[Defect]:
    """A solution also runs forty pods of the alerting workload."""
    victim = _find_alerting(subject)
    yield extend_solution(subject, {"scale": {"target": victim, "replicas": 40}}, f"runs 40 pods of {victim}")


@kind("SK434")
def solution_that_lowers_a_limit(subject: Subject) -> Iterator[Defect]:
    """A solution also takes most of the memory from an unrelated workload."""
    limited = [
        (o, c["name"])
        for o in subject.bystanders("Deployment")
        for c in subject.objects[o]["spec"]["template"]["spec"]["containers"]
        if ((c.get("resources") or {}).get("limits") or {}).get("memory")
    ]
    target, name = needs(limited, "no uninvolved workload has a limit")[0]
    memory = {"limits": {"memory": "9Mi"}, "requests": {"memory": "9Mi"}}
    patch = {"spec": {"template": {"spec": {"containers": [{"name": name, "resources": memory}]}}}}
    change = {"patch": {"target": target, "type": "Strategic", "patch": patch}}
    yield extend_solution(subject, change, f"leaves {target} 9 MiB")


@kind("SK434")
def solution_that_forbids_evictions(subject: Subject) -> Iterator[Defect]:
    """A solution also creates a disruption budget by which no pod of the alerting workload may be evicted."""
    victim = _find_alerting(subject)
    selector = subject.objects[victim]["spec"]["selector"]
    for bound in ({"maxUnavailable": 0}, {"minAvailable": "100%"}):
        budget = _create("policy/v1", "PodDisruptionBudget", {"selector": selector, **bound})
        yield extend_solution(subject, budget, f"creates a budget with {bound}")


@kind("SK434")
def solution_that_narrows_an_autoscaler(subject: Subject) -> Iterator[Defect]:
    """A solution also lowers the bounds of an unrelated autoscaler, or makes one that allows fewer pods than before."""
    other = needs(subject.bystanders("Deployment"), "every Deployment is involved")[0]
    name = other.split("/")[1]
    options = subject.case.app.options.get("properties", {}) if subject.case.app else {}
    chosen = (options.get("replicasOf", {}).get("propertyNames") or {}).get("enum", ())
    needs(name in chosen and "autoscaling" in options, "the number of its pods is no option")
    scaled = f"HorizontalPodAutoscaler.autoscaling/{name}"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    few = _create("autoscaling/v2", "HorizontalPodAutoscaler",
                  {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 1})  # fmt: skip
    lowered = _merge(scaled, {"minReplicas": 1, "maxReplicas": 1})
    for autoscaling, changes in ((True, [lowered]), (False, [few, {"scale": {"target": other, "replicas": 1}}])):
        defect = extend_solution(subject, changes[0], f"narrows an autoscaler of {other}")
        assert isinstance(defect.document, dict)
        spec = defect.document["spec"]
        spec["solutions"][0]["changes"] += changes[1:]
        own = {"autoscaling": autoscaling, "replicasOf": {name: 3}}
        spec["app"]["options"] = {**spec["app"].get("options", {}), **own}
        yield defect


@kind("SK433")
def decoy_that_names_the_port(subject: Subject) -> Iterator[Defect]:
    """A decoy writes the port of the solution by its name."""
    document, spec = subject.copy()
    require_one_cause(subject)
    changes = [dict(c) for s in spec.get("solutions", [])[:1] for c in s["changes"]]
    patches = [c["patch"] for c in changes if c.get("patch", {}).get("type") == "Json"]
    steps = [s for p in patches for s in p["patch"] if str(s.get("path", "")).endswith("/targetPort")]
    number = needs(steps, "its solution sets no port")[0]["value"]
    names = [
        p["name"]
        for o in subject.objects.values()
        if o["kind"] == "Deployment" and f"Service/{o['metadata']['name']}" == patches[0]["target"]
        for c in o["spec"]["template"]["spec"]["containers"]
        for p in c.get("ports") or []
        if p["containerPort"] == number and p.get("name")
    ]
    name = needs(names, "the port has no name")[0]
    named = [{**s, "value": name} if s in steps else s for s in patches[0]["patch"]]
    change = {"patch": {**patches[0], "patch": named}}
    spec["decoys"] = [{"name": "another-try", "description": "Somebody tries it", "changes": [change]}]
    yield Defect(f"the port {number} as {name}", document)

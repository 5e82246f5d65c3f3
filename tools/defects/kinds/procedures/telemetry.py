"""Solutions that end the reports of an incident instead of the incident."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.edits.solutions import extend_solution
from tools.defects.kind import Defect, kind, needs
from tools.defects.subject import Subject


def _collector(subject: Subject) -> tuple[str, dict[str, Any]]:
    app = subject.case.app
    name = app.twin.collector.component if app and app.twin and app.twin.collector else ""
    found = [str(c.workload) for c in subject.components() if c.name == name and str(c.workload) in subject.objects]
    workload = needs(found, "it has no collector")[0]
    return workload, subject.objects[workload]


@kind("SK434")
def solution_that_ends_reports(subject: Subject) -> Iterator[Defect]:
    """A solution also turns off the telemetry of an alerting workload."""
    alerting = [o for o in subject.alerting if o.startswith("Deployment/") and o in subject.objects]
    target = needs(alerting, "no Deployment alerts")[0]
    container = subject.objects[target]["spec"]["template"]["spec"]["containers"][0]["name"]
    off = {"name": container, "env": [{"name": "OTEL_SDK_DISABLED", "value": "true"}]}
    patch = {"spec": {"template": {"spec": {"containers": [off]}}}}
    change = {"patch": {"target": target, "type": "Strategic", "patch": patch}}
    yield extend_solution(subject, change, f"disables the SDK of {target}")


@kind("SK434")
def solution_that_takes_an_alerting_workload_out_of_sight(subject: Subject) -> Iterator[Defect]:
    """A solution also annotates pods that alert, so that nobody scrapes them, or under another name."""
    alerting = [o for o in subject.alerting if o.startswith("Deployment/") and o in subject.objects]
    target = needs(alerting, "no Deployment alerts")[0]
    for key, value in (("prometheus.io/scrape", "false"), ("resource.opentelemetry.io/service.name", "other")):
        patch = {"spec": {"template": {"metadata": {"annotations": {key: value}}}}}
        change = {"patch": {"target": target, "type": "Merge", "patch": patch}}
        yield extend_solution(subject, change, f"annotates {target} with {key}")


@kind("SK434")
def solution_that_scales_the_collector_away(subject: Subject) -> Iterator[Defect]:
    """A solution also scales the collector of telemetry to zero."""
    target, _ = _collector(subject)
    yield extend_solution(subject, {"scale": {"target": target, "replicas": 0}}, f"scales {target} to 0")


@kind("SK434")
def solution_that_shields_the_collector(subject: Subject) -> Iterator[Defect]:
    """A solution also creates a network policy that keeps telemetry from the collector."""
    target, obj = _collector(subject)
    kinds = {ref.kind for ref in (*subject.case.known, *subject.case.created)}
    needs(kinds.isdisjoint(("NetworkPolicy", "ResourceQuota", "LimitRange")), "it has a restriction already")
    labels = obj["spec"]["selector"]["matchLabels"]
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "np-5d2"},
        "spec": {"podSelector": {"matchLabels": labels}, "policyTypes": ["Ingress"]},
    }
    yield extend_solution(subject, {"create": policy}, f"shields {target}")

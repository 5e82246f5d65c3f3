"""Solutions that end the reports of an incident instead of the incident, and checks and texts that say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.defects.damage import extend_solution
from tools.defects.kind import Defect, edit, kind, needs
from tools.defects.promises import expect_check
from tools.defects.subject import Document, Subject

_CALLS = "traces_span_metrics_calls_total"


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


@edit("SK114")
def promise_about_what_the_app_lacks(subject: Subject, spec: Document) -> str:
    """An alert that cannot fire in this app must not fire."""
    known = {ref.kind for ref in (*subject.case.known, *subject.case.created)}
    needs("HorizontalPodAutoscaler" not in known, "it has an autoscaler")
    needs("KubeHpaMaxedOut" in (subject.case.alerts or {}), "no rule is about autoscalers")
    spec["expect"]["alerts"].append({"name": "KubeHpaMaxedOut", "class": "MustNotFire"})
    return "KubeHpaMaxedOut must not fire"


@kind("SK141")
def check_of_a_share_of_counts(subject: Subject) -> Iterator[Defect]:
    """A check expects that a share of series is at most one."""
    rate = f"rate({_CALLS}[2m])"
    expr = f"sum({rate} > bool 0) / count({rate})"
    yield expect_check(subject, {"query": {"expr": expr, "is": "AtMost", "value": 1}})


@kind("SK141")
def check_of_the_age_of_samples(subject: Subject) -> Iterator[Defect]:
    """A check expects that the latest sample is not older than Prometheus looks back."""
    query = {"expr": f"time() - timestamp({_CALLS})", "is": "LessThan", "value": 900}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_the_past(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding reads the time before the fault."""
    query = {"expr": f"sum(rate({_CALLS}[2m] offset 42m))", "is": "GreaterThan", "value": 0}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_a_window_longer_than_the_trial(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding asks for the largest value of some hours."""
    query = {"expr": f"max_over_time(sum(rate({_CALLS}[2m]))[3h:1m])", "is": "GreaterThan", "value": 0}
    yield expect_check(subject, {"query": query, "stays": True})


@kind("SK141")
def check_of_an_event_of_before(subject: Subject) -> Iterator[Defect]:
    """A check that must keep holding asks for an event of the app's start, which stays."""
    ref = needs([o for o in subject.objects if o.startswith("Deployment/")], "it has no Deployment")[0]
    yield expect_check(subject, {"event": {"entity": ref, "reason": "Scheduled"}, "stays": True})


@edit("SK603")
def author_with_an_impossible_account(subject: Subject, spec: Document) -> str:
    """The account of an author is a path."""
    spec["authors"][0]["github"] = "../../pulls"
    return "an account that GitHub does not have"

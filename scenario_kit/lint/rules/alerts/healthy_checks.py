"""Checks that already hold in the healthy app, as far as its objects tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.lint.rules.alerts.object_values.verdict import explain_healthy_object
from scenario_kit.lint.rules.alerts.query_values.verdict import holds_whatever
from scenario_kit.lint.rules.alerts.series_of_app import is_scaled, list_healthy
from scenario_kit.model import App, Check, Object
from scenario_kit.model.authored.check import EndpointsCheck, EventCheck, ObjectCheck, ProbeCheck
from scenario_kit.model.kubernetes.pod_labels import list_pod_labels
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.render.objects.lookup import look_up, read_spec

#: Events of every workload that has started.
_STARTED: Final = frozenset({"Scheduled", "Pulled", "Created", "Started", "SuccessfulCreate"})


def explain_healthy(check: Check, objects: Sequence[Object], app: App) -> str:
    """Explain why a check holds in the healthy app; empty if it does not, or only a cluster can tell."""
    try:
        if check.query:
            healthy = list_healthy(check.query.expr, objects)
            holds = bool(healthy) and holds_whatever(check.query, healthy)
            return "before any fault, the query already satisfies the check" if holds else ""
        if check.object:
            return _explain_object(check.object, objects, app)
        if check.event:
            return _explain_event(check.event, objects, app)
    except ValueError:
        return ""  # SK117, or another rule about malformed paths
    if check.probe:
        return _explain_probe(check.probe, objects, app)
    return _explain_endpoints(check.endpoints, objects, app) if check.endpoints else ""


def _explain_object(check: ObjectCheck, objects: Sequence[Object], app: App) -> str:
    if check.ref.namespace not in ("app", *app.namespaces) or ("eplicas" in check.path and is_scaled(objects)):
        return ""
    return explain_healthy_object(check, look_up(objects, check.ref, app.namespace))


def _explain_event(check: EventCheck, objects: Sequence[Object], app: App) -> str:
    obj = look_up(objects, check.entity, app.namespace)
    if obj is None or obj["kind"] not in WORKLOADS or not int(read_spec(obj).get("replicas", 1)):
        return ""
    started = check.reason in _STARTED or (check.reason == "ScalingReplicaSet" and obj["kind"] == "Deployment")
    pattern = compile_pattern(check.message_matches)
    anything = pattern.found_in("") and pattern.found_in("\x00")
    return f"before any fault, {check.entity} already has events {check.reason}" if started and anything else ""


def _explain_probe(check: ProbeCheck, objects: Sequence[Object], app: App) -> str:
    obj = look_up(objects, check.target, app.namespace)
    if obj is None or check.path:
        return ""
    if obj["kind"] == "Service" and read_spec(obj).get("selector"):
        known = check.port in [port.get("port") for port in read_spec(obj).get("ports") or ()]
        if known is check.succeeds:
            state = "accepts connections at" if known else "has no"
            return f"before any fault, {check.target} already {state} port {check.port}"
    if obj["kind"] in WORKLOADS and check.succeeds and check.port in _list_ports(obj):
        return f"before any fault, {check.target} already accepts connections at port {check.port}"
    return ""


def _list_ports(workload: Object) -> list[Any]:
    serving = list_serving_containers(read_pod_spec(workload))
    return [port.get("containerPort") for each in serving for port in each.get("ports") or ()]


def _count_selected(selector: Mapping[str, Any], workload: Object) -> int:
    replicas = int(read_spec(workload).get("replicas", 1))
    pods = list_pod_labels(workload)[:replicas]
    found: int = sum(selector.items() <= labels.items() for labels in pods)
    return found if workload["kind"] == "StatefulSet" else found * replicas


def _explain_endpoints(check: EndpointsCheck, objects: Sequence[Object], app: App) -> str:
    service = look_up(objects, check.service, app.namespace)
    selector = read_spec(service).get("selector") if service is not None else None
    if not selector or is_scaled(objects) or any(obj["kind"] == "DaemonSet" for obj in objects):
        return ""
    count = sum(_count_selected(selector, o) for o in objects if o["kind"] in WORKLOADS)
    low, high = check.at_least, check.at_most
    holds = (low is None or count >= low) and (high is None or count <= high)
    return f"before any fault, {check.service} already satisfies the check with {count} addresses" if holds else ""

"""SK141: checks with a constant result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.bounds import (
    ValueBounds,
    compute_bounds,
    find_constant_comparisons,
    holds_always,
    holds_never,
)
from scenario_kit.lint.simulation.place import Place
from scenario_kit.load.promql import parser
from scenario_kit.model import App, Check, Object
from scenario_kit.model.authored.check import EndpointsCheck, ObjectCheck, QueryCheck
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.observe.compare import describe_expectation, matches_object
from scenario_kit.render.objects.lookup import find_position, read_pod_labels

_OPERATORS: Final = {"GreaterThan": ">", "LessThan": "<", "AtLeast": ">=", "AtMost": "<=", "Equal": "=="}
#: Fields of the status of common kinds; no other field is ever set.
_REPLICAS: Final = (
    "conditions",
    "observedGeneration",
    "collisionCount",
    "replicas",
    "readyReplicas",
    "updatedReplicas",
)
_STATUS: Final = {
    "Deployment": (*_REPLICAS, "availableReplicas", "unavailableReplicas", "terminatingReplicas"),
    "StatefulSet": (*_REPLICAS, "availableReplicas", "currentReplicas", "currentRevision", "updateRevision"),
    "DaemonSet": (
        "conditions", "observedGeneration", "collisionCount", "currentNumberScheduled", "desiredNumberScheduled",
        "numberAvailable", "numberMisscheduled", "numberReady", "numberUnavailable", "updatedNumberScheduled",
    ),
    "Service": ("conditions", "loadBalancer"),
    "PersistentVolumeClaim": (
        "accessModes", "allocatedResourceStatuses", "allocatedResources", "capacity", "conditions", "phase",
        "currentVolumeAttributesClassName", "modifyVolumeStatus",
    ),
    "HorizontalPodAutoscaler": (
        "conditions", "currentMetrics", "currentReplicas", "desiredReplicas", "lastScaleTime", "observedGeneration",
    ),
}  # fmt: skip


@register_check("SK141")
def check_constant(case: LintContext) -> Iterator[Problem]:
    spec = case.scenario.spec
    for i, check in enumerate(spec.expect.checks):
        place: Place = ("spec", "expect", "checks", i)
        if message := explain_constant(check):
            yield Problem(place, message, _format_question(check), "a check that may fail")
        elif (
            spec.ground_truth.outcome != "NoIncident"
            and not check.stays
            and (reported := _explain_healthy(case, check))
        ):
            fix = "check what the fault changes, or write `stays: true` if it must keep holding"
            yield Problem(place, reported, "true before the fault", "false before the fault", fix)


@register_check("SK141", "Fault")
def check_constant_of_type(case: FaultCase) -> Iterator[Problem]:
    reported: set[Place] = set()
    for rendering in case.renderings:
        for place, check in rendering.checks():
            message = (
                "`stays` is only for the checks that a scenario expects" if check.stays else explain_constant(check)
            )
            if message and place not in reported:
                reported.add(place)
                yield Problem(place, message, _format_question(check), "a check that may fail")


def explain_constant(check: Check) -> str:
    """Explain why the result of a check is known without a cluster; empty if it is not."""
    if check.query:
        return _query(check.query)
    if check.endpoints and check.endpoints.at_most is None and not check.endpoints.at_least:
        return f"any number of addresses of {check.endpoints.service} satisfies it"
    if check.object:
        return _check_status_field(check.object)
    return ""


def _query(query: QueryCheck) -> str:
    try:
        bounds, vacuous = compute_bounds(parser.parse_expression(query.expr)), find_constant_comparisons(query.expr)
    except ValueError:
        return ""  # SK117
    operator, threshold = _OPERATORS[query.is_], query.value / query.scale
    desired = ValueBounds(threshold, threshold)
    if holds_always(bounds, operator, desired) and (bounds.sure or query.empty == "True" or not bounds.counts):
        return f"every value of the query is {operator} {threshold:g}"
    if holds_never(bounds, operator, desired) and query.empty != "True":
        return f"no value of the query is {operator} {threshold:g}"
    return f"`{vacuous[0]}` is the same for every value" if vacuous else ""


def _check_status_field(check: ObjectCheck) -> str:
    kind, path = check.ref.kind, check.path.removeprefix("$.").split(".")
    known = _STATUS.get(kind)
    field = path[1].partition("[")[0] if len(path) > 1 and path[0] == "status" else ""
    return f"the status of a {kind} has no field '{field}'" if known and field and field not in known else ""


def _explain_healthy(case: LintContext, check: Check) -> str:
    """Explain why a check holds in the healthy app already; empty if it does not, or only a cluster can tell."""
    if case.objects is None or case.app is None:
        return ""
    if check.object:
        return _evaluate_object(check.object, case.objects, case.app)
    return _evaluate_endpoints(check.endpoints, case.objects, case.app) if check.endpoints else ""


def _evaluate_object(check: ObjectCheck, objects: tuple[Object, ...], app: App) -> str:
    ref = check.ref
    if check.path.removeprefix("$.").startswith("status") or ref.namespace not in ("app", *app.namespaces):
        return ""
    index = find_position(objects, ref, app.namespace)
    try:
        holds = matches_object(check, None if index is None else objects[index])
    except ValueError:
        return ""  # another rule reports it
    return f"before any fault, {check.ref} already satisfies the check: {describe_expectation(check)}" if holds else ""


def _evaluate_endpoints(check: EndpointsCheck, objects: tuple[Object, ...], app: App) -> str:
    index = find_position(objects, check.service, app.namespace)
    selector = (objects[index].get("spec") or {}).get("selector") if index is not None else None
    if not selector or any(o["kind"] in ("HorizontalPodAutoscaler", "DaemonSet") for o in objects):
        return ""
    chosen = [o for o in objects if o["kind"] in WORKLOADS and selector.items() <= read_pod_labels(o).items()]
    count = sum(int((o.get("spec") or {}).get("replicas", 1)) for o in chosen)
    low, high = check.at_least, check.at_most
    holds = (low is None or count >= low) and (high is None or count <= high)
    return f"before any fault, {check.service} already satisfies the check with {count} addresses" if holds else ""


def _format_question(check: Check) -> str:
    if check.query:
        return f"{check.query.expr[:120]} {_OPERATORS[check.query.is_]} {check.query.value / check.query.scale:g}"
    return check.describe or "the check"

"""SK141: checks with a constant result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.query_values.value_bounds import NOTHING
from scenario_kit.lint.rules.alerts.query_values.verdict import OPERATORS, explain_constant_query, holds_whatever
from scenario_kit.lint.rules.alerts.series_of_app import is_for_lab, list_healthy, list_unseen
from scenario_kit.lint.simulation.place import Place
from scenario_kit.model import App, Check, Object
from scenario_kit.model.authored.check import EndpointsCheck, ObjectCheck, QueryCheck
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.observe.compare import describe_expectation, matches_object
from scenario_kit.render.objects.lookup import find_position, read_pod_labels

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
    for_lab = case.app is not None and is_for_lab(case.catalog, case.app, tuple(case.types.values()))
    for i, check in enumerate(spec.expect.checks):
        place: Place = ("spec", "expect", "checks", i)
        if message := explain_constant(check, for_lab=for_lab):
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
        for_lab = is_for_lab(case.catalog, rendering.app, (case.fault,))
        for place, check in rendering.checks():
            message = explain_constant(check, for_lab=for_lab)
            if check.stays:
                message = "`stays` is only for the checks that a scenario expects"
            if message and place not in reported:
                reported.add(place)
                yield Problem(place, message, _format_question(check), "a check that may fail")


def explain_constant(check: Check, *, for_lab: bool = False) -> str:
    """Explain why the result of a check is known without a cluster; empty if it is not.

    ``for_lab`` if it is asked in a lab, which has no other series than those of ``load/series.yaml``.
    """
    if check.query:
        return _explain_query(check.query, for_lab=for_lab)
    if check.endpoints and check.endpoints.at_most is None and not check.endpoints.at_least:
        return f"any number of addresses of {check.endpoints.service} satisfies it"
    if check.object:
        return _check_status_field(check.object)
    return ""


def _explain_query(query: QueryCheck, *, for_lab: bool) -> str:
    try:
        if message := explain_constant_query(query):
            return message
        unseen = list_unseen(query.expr) if for_lab else {}
        if unseen and holds_whatever(query, dict.fromkeys(unseen, NOTHING)):
            return f"the query is true without data, and asks for {next(iter(unseen.values()))}"
    except ValueError:
        pass  # SK117
    return ""


def _check_status_field(check: ObjectCheck) -> str:
    kind, path = check.ref.kind, check.path.removeprefix("$.").split(".")
    known = _STATUS.get(kind)
    field = path[1].partition("[")[0] if len(path) > 1 and path[0] == "status" else ""
    return f"the status of a {kind} has no field '{field}'" if known and field and field not in known else ""


def _explain_healthy(case: LintContext, check: Check) -> str:
    """Explain why a check holds in the healthy app already; empty if it does not, or only a cluster can tell."""
    if case.objects is None or case.app is None:
        return ""
    if check.query:
        return _evaluate_query(check.query, case.objects)
    if check.object:
        return _evaluate_object(check.object, case.objects, case.app)
    return _evaluate_endpoints(check.endpoints, case.objects, case.app) if check.endpoints else ""


def _evaluate_query(query: QueryCheck, objects: tuple[Object, ...]) -> str:
    try:
        healthy = list_healthy(query.expr, objects)
        holds = bool(healthy) and holds_whatever(query, healthy)
    except ValueError:
        return ""  # SK117
    return "before any fault, the query already satisfies the check" if holds else ""


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
        return f"{check.query.expr[:120]} {OPERATORS[check.query.is_]} {check.query.value / check.query.scale:g}"
    return check.describe or "the check"

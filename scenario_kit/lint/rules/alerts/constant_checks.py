"""SK141: checks with a constant result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.admission.reads import list_waits
from scenario_kit.lint.context.catalog_context import FaultCase, Rendering
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.rules.alerts.healthy_checks import explain_healthy
from scenario_kit.lint.rules.alerts.lasting_checks import explain_lasting
from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.lint.rules.alerts.object_values.verdict import explain_constant_object
from scenario_kit.lint.rules.alerts.query_values.value_bounds import NOTHING
from scenario_kit.lint.rules.alerts.query_values.verdict import OPERATORS, explain_constant_query, holds_whatever
from scenario_kit.lint.rules.alerts.series_of_app import is_for_lab, list_unseen
from scenario_kit.model import App, Check
from scenario_kit.model.authored.check import EndpointsCheck, LogCheck, ObjectCheck, ProbeCheck, QueryCheck
from scenario_kit.model.json_document import Place
from scenario_kit.model.re2 import compile_pattern

_AT_REST: Final = "check an object that the fault or a decoy could change, or what the app's users would notice"
#: Maximum number of addresses that a check can ask for.
_MOST_ADDRESSES: Final = 10_000
#: Lines of programs in their usual formats, of which none reports a failure.
_LINES: Final = (
    "2026-01-01T00:00:00.000Z INFO [main] o.e.Server - listening on port 8080",
    '{"level":"info","ts":1767225600.1,"msg":"request served","status":200}',
    "I0101 00:00:00.000000       1 main.go:42] started",
    '10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 512',
    "time=2026-01-01T00:00:00Z level=debug msg=tick",
    "* Ready to accept connections tcp",
)
#: Fields of the status of common kinds; no other field is ever set.
_REPLICAS: Final = (
    "conditions", "observedGeneration", "collisionCount", "replicas", "readyReplicas", "updatedReplicas",
)  # fmt: skip
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
    app = case.app
    lab_app = app if app is not None and is_for_lab(case.catalog, app, tuple(case.types.values())) else None
    for i, check in enumerate(spec.expect.checks):
        place: Place = ("spec", "expect", "checks", i)
        if message := explain_constant(check, lab_app=lab_app):
            yield Problem(place, message, _format_question(check), "a check that may fail")
        elif (
            spec.ground_truth.outcome != "NoIncident"
            and not check.stays
            and case.objects is not None
            and case.app is not None
            and (reported := explain_healthy(check, case.objects, case.app))
        ):
            fix = "check what the fault changes, or write `stays: true` if it must keep holding"
            yield Problem(place, reported, "true before the fault", "false before the fault", fix)
        elif (check.stays or spec.ground_truth.outcome == "NoIncident") and (message := explain_lasting(check, case)):
            yield Problem(place, message, "true throughout", "a check that may fail", _AT_REST)
    yield from _check_waits(case, lab_app=lab_app)


def _check_waits(case: LintContext, *, lab_app: App | None) -> Iterator[Problem]:
    """Report checks that changes wait for, whose answer is known."""
    for procedure in case.procedures():
        for i, check in list_waits(procedure.changes):
            if message := explain_constant(check, lab_app=lab_app):
                place = (*procedure.place, "changes", i, "until")
                yield Problem(place, message, _format_question(check), "a check that may fail")


@register_check("SK141", "Fault")
@report_once("place")
def check_constant_of_type(case: FaultCase) -> Iterator[Problem]:
    for rendering in case.renderings:
        lab_app = rendering.app if is_for_lab(case.catalog, rendering.app, (case.fault,)) else None
        for place, check in rendering.checks():
            message = explain_constant(check, lab_app=lab_app)
            if check.stays:
                message = "`stays` is only for the checks that a scenario expects"
            if message:
                yield Problem(place, message, _format_question(check), "a check that may fail")
        if message := _explain_unproven(rendering):
            yield Problem(("effect",), message, "true before the fault", "false before the fault")


def _explain_unproven(rendering: Rendering) -> str:
    """Explain that all checks of a fault's effect hold in the healthy app; empty if one does not."""
    effect = rendering.fault.effect if rendering.fault is not None else ()
    messages = [explain_healthy(check, rendering.objects, rendering.app) for check in effect]
    return f"no check of the effect may fail: {messages[0]}" if messages and all(messages) else ""


def explain_constant(check: Check, *, lab_app: App | None = None) -> str:
    """Explain why the result of a check is known without a cluster; empty if it is not.

    ``lab_app`` if it is asked of this app in a lab, which has no other series than those of ``load/series.yaml`` and
    of the app's exporters.
    """
    if check.query:
        return _explain_query(check.query, lab_app=lab_app)
    if check.endpoints:
        return _explain_endpoints(check.endpoints)
    if check.probe:
        return _explain_probe(check.probe)
    if check.log:
        return _explain_log(check.log)
    if check.object:
        return _check_status_field(check.object) or explain_constant_object(check.object)
    return ""


def _explain_endpoints(check: EndpointsCheck) -> str:
    low, high = check.at_least or 0, _MOST_ADDRESSES if check.at_most is None else check.at_most
    if low > high:
        return f"no number of addresses of {check.service} satisfies it"
    return f"any number of addresses of {check.service} satisfies it" if not low and high >= _MOST_ADDRESSES else ""


def _explain_probe(check: ProbeCheck) -> str:
    if check.path and check.status_at_least > check.status_at_most:
        return f"no status is at least {check.status_at_least} and at most {check.status_at_most}"
    return ""


def _explain_log(check: LogCheck) -> str:
    try:
        pattern = compile_pattern(check.pattern)
    except ValueError:
        return ""  # SK117
    return f"'{check.pattern}' is found in lines of any kind" if all(pattern.found_in(line) for line in _LINES) else ""


def _explain_query(query: QueryCheck, *, lab_app: App | None) -> str:
    try:
        if message := explain_constant_query(query):
            return message
        unseen = list_unseen(query.expr, lab_app) if lab_app is not None else {}
        if unseen and holds_whatever(query, dict.fromkeys(unseen, NOTHING)):
            return f"the query is true without data, and asks for {next(iter(unseen.values()))}"
    except ValueError:
        pass  # SK117
    return ""


def _check_status_field(check: ObjectCheck) -> str:
    known, names = _STATUS.get(check.ref.kind), list_names(check.path)
    field = names[1] if len(names) > 1 and names[0] == "status" else ""
    lacks = known and field not in (*known, "", "*")
    return f"the status of a {check.ref.kind} has no field '{field}'" if lacks else ""


def _format_question(check: Check) -> str:
    if check.query:
        return f"{check.query.expr[:120]} {OPERATORS[check.query.is_]} {check.query.value / check.query.scale:g}"
    return check.describe or "the check"

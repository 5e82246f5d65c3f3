"""Checks that hold before the fault and are to go on holding, of which it is known that they will."""

from __future__ import annotations

from typing import Final

from scenario_kit.admission.judgement import collect_created
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.rules.alerts.healthy_checks import explain_healthy
from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.lint.rules.alerts.query_values.past_windows import explain_past
from scenario_kit.model import Check, Decoy, Solution
from scenario_kit.model.authored.check import EndpointsCheck, ObjectCheck
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.lookup import read_spec
from scenario_kit.render.scenarios.time_windows import compute_windows

#: Kinds that bring about pods of which the scenario tells no number.
_MULTIPLYING: Final = frozenset({"HorizontalPodAutoscaler", "DaemonSet", "Job", "CronJob"})
#: New pods beside old ones during a rollout.
_SURGE: Final = 2


def explain_lasting(check: Check, case: LintContext) -> str:
    """Explain why a check that holds before the fault cannot fail afterwards; empty if it can."""
    if check.query:
        return explain_past(check.query, _compute_watched(case))
    if check.event:
        return f"an event that there was before the fault stays: {check.event.reason} of {check.event.entity}"
    if check.endpoints:
        return _explain_crowd(check.endpoints, case)
    if check.probe and not check.probe.succeeds and case.app is not None and case.objects is not None:
        closed = explain_healthy(check, case.objects, case.app)
        touched = check.probe.target.bare in _list_touched(case)
        return f"{closed}, and nothing in the scenario opens it" if closed and not touched else ""
    if check.object and not case.unrendered and _is_at_rest(check.object, _list_touched(case)):
        return f"nothing in the scenario changes {check.object.ref}, so the check cannot fail"
    return ""


def _compute_watched(case: LintContext) -> int:
    """Return for how many seconds after the injection the alerts of a scenario are watched at least."""
    spec = case.scenario.spec
    return compute_windows(tuple((case.alerts or {}).values()), spec.expect, spec.period).hold


def _explain_crowd(check: EndpointsCheck, case: LintContext) -> str:
    """Explain that a Service never has so many addresses: not even with all pods of the scenario, during a rollout."""
    if case.objects is None or case.unrendered or check.at_most is None or check.at_least:
        return ""
    most: dict[tuple[str, str], int] = {}
    for obj in (*case.objects, *(obj for stage in case.stages for obj in stage.after)):
        if obj["kind"] in _MULTIPLYING:
            return ""
        if obj["kind"] in WORKLOADS:
            key = (obj["kind"], obj["metadata"]["name"])
            most[key] = max(most.get(key, 0), int(read_spec(obj).get("replicas", 1)))
    pods = sum(most.values()) + sum(noise.scale.add_replicas for noise in case.scenario.spec.noise if noise.scale)
    if check.at_most < _SURGE * pods:
        return ""
    return f"{check.service} has never more than {check.at_most} addresses: the scenario has {pods} pods at most"


def _is_at_rest(check: ObjectCheck, touched: frozenset[tuple[str, str]]) -> bool:
    """Return whether a check reads what only a change writes, of an object that no change of the scenario touches."""
    written = list_names(check.path)[:1] != ("status",) and check.ref.kind in (*WORKLOADS, "Service", "ConfigMap")
    return written and check.ref.bare not in touched


def _list_touched(case: LintContext) -> frozenset[tuple[str, str]]:
    """Return kinds and names of the objects that changes of the scenario write, or controllers on their behalf."""
    changes = [change for fault in case.faults.values() for change in fault.changes]
    changes += [change for procedure in case.procedures() for change in procedure.changes]
    for fault in case.faults.values():
        procedures: tuple[Solution | Decoy, ...] = (*fault.solutions, *fault.decoys)
        changes += [change for procedure in procedures for change in procedure.changes]
    flags = case.app.flags if case.app else None
    found = {ref for change in changes if (ref := change.operation.about(flags))}
    found |= {noise.target.bare for noise in case.scenario.spec.noise if noise.target}
    found |= {c.workload.bare for c in case.app.components if c.role == "Load"} if case.app else set()  # noise of load
    made = {body["kind"] for body in (*collect_created(changes), *(case.objects or ()))}
    if made & {"Job", "CronJob", "HorizontalPodAutoscaler"}:  # these may write any object
        found |= {(obj["kind"], obj["metadata"]["name"]) for obj in case.objects or ()}
    return frozenset(found)

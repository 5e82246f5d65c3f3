"""SK428, SK434: repairs, compared with what the faults change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from scenario_kit.judge.repair.collateral_changes import (
    Name,
    Write,
    find_alterations,
    find_restrictions,
    list_selected,
)
from scenario_kit.judge.repair.invariants import find_violations, take_baseline
from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check, report_once
from scenario_kit.lint.simulation.stages import build_stage
from scenario_kit.model import App, Entity, Fault, Object, Severity
from scenario_kit.model.kubernetes.difference import find_paths, get_at
from scenario_kit.model.kubernetes.reference import WORKLOADS, identify_object
from scenario_kit.model.results.incident_objects import list_involved
from scenario_kit.render.objects.load_settings import read_settings
from scenario_kit.render.objects.lookup import look_up, read_spec

#: Maximum number of differences in a message.
_MAX_REPORTED = 3


@register_check("SK434")
def check_collateral(case: LintContext) -> Iterator[Problem]:
    spec = case.scenario.spec
    if case.app is None or case.objects is None:
        return
    changes = [c for use in spec.faults if use.name in case.faults for c in case.faults[use.name].changes]
    broken = build_stage((), case.app, case.objects, changes).after
    parts = list_involved(case.faults.values(), spec.expect, spec.ground_truth.propagation)
    complete = len(case.faults) == len(spec.faults)  # what else the faults broke is unknown
    for i, solution in enumerate(spec.solutions):
        now = build_stage((), case.app, broken, solution.changes).after
        reported = _find_altered(case.app, case.objects, broken, now, parts)
        if reported and not _leaves_unselected(case.objects, now):
            message = f"solution '{solution.name}' also changes {'; '.join(reported[:_MAX_REPORTED])}"
            yield Problem(("spec", "solutions", i, "changes"), message, expected="the healthy app, but for the faults")
        elif complete and (missed := _find_unserved(case.app, case.objects, broken, now)):
            message = f"no trial counts solution '{solution.name}' as a repair: {'; '.join(missed[:_MAX_REPORTED])}"
            place, expected = ("spec", "solutions", i, "changes"), "an app that serves as much as before"
            yield Problem(place, message, expected=expected, severity=Severity.WARNING)


@register_check("SK434", "Fault")
@report_once("place")
def check_collateral_of_type(case: FaultCase) -> Iterator[Problem]:
    """Report a solution that changes what no fault touched."""
    for rendering, fault in case.list_rendered():
        broken = build_stage((), rendering.app, rendering.objects, fault.changes).after
        parts = {ref.bare for ref in (fault.target, *fault.callers, *(e.ref for e in fault.entities))}
        for i, solution in enumerate(fault.solutions):
            now = build_stage((), rendering.app, broken, solution.changes).after
            for says in _find_altered(rendering.app, rendering.objects, broken, now, parts):
                yield Problem(("solutions", i), f"solution '{solution.name}' also changes {says}")


def _find_altered(
    app: App, before: Sequence[Object], broken: Sequence[Object], now: Sequence[Object], parts: Iterable[Name]
) -> list[str]:
    """Describe what differs from the original app after a solution, other than by a fault."""
    return find_alterations(app, before, now, _writes(before, broken), set(parts))


def _find_unserved(app: App, before: Sequence[Object], broken: Sequence[Object], now: Sequence[Object]) -> list[str]:
    """Describe what a solution takes away: objects, replicas, probes, limits, load, or access by a new policy."""
    guards = take_baseline(before, app, read_settings(app, before, app.namespace))
    present, ill = (
        find_violations(guards, map(_assume_ready, objects), app, _list_scalers(broken)) for objects in (now, broken)
    )
    former = {identify_object(o) for o in broken}
    made = [o for o in now if identify_object(o) not in former]
    return [problem for problem in present if problem not in ill] + find_restrictions(made, broken)


def _assume_ready(obj: Object) -> Object:
    """Return a workload as it is once all its pods are ready."""
    if obj["kind"] not in WORKLOADS:
        return obj
    return {**obj, "status": {"readyReplicas": read_spec(obj).get("replicas", 1)}}


def _list_scalers(objects: Iterable[Object]) -> list[Object]:
    """List the autoscalers; those that a repair makes do not excuse fewer replicas."""
    return [o for o in objects if o["kind"] == "HorizontalPodAutoscaler"]


def _leaves_unselected(before: Sequence[Object], now: Sequence[Object]) -> bool:
    """Return whether a Service no longer selects any pods, which SK111 reports."""
    served, left = (
        {o["metadata"]["name"] for o in objects if o["kind"] == "Service" and list_selected(o, objects)}
        for objects in (before, now)
    )
    return not served <= left


def _writes(before: Iterable[Object], broken: Iterable[Object]) -> Iterator[Write]:
    was, is_ = ({identify_object(o): o for o in objects} for objects in (before, broken))
    for name in {**was, **is_}:
        if was.get(name) != is_.get(name):
            yield Write(was.get(name), is_.get(name))


@register_check("SK428", "Fault")
def check_unrepaired(case: FaultCase) -> Iterator[Problem]:
    reported: dict[int, Problem] = {}
    for rendering, fault in case.list_rendered():
        for i, problem in _find_unrepaired(rendering.app, rendering.objects, fault, ("entities",)):
            reported.setdefault(i, problem)
    yield from reported.values()


@register_check("SK428", "Scenario")
def check_unrepaired_in_scenario(case: LintContext) -> Iterator[Problem]:
    """Report a cause whose fix leaves changes of the fault in place."""
    if case.app is None or case.objects is None:
        return
    for place, _, fault in case.list_rendered():
        for _, problem in _find_unrepaired(case.app, case.objects, fault, ()):
            yield problem._replace(place=(*place, "type"))


def _find_unrepaired(
    app: App, objects: tuple[Object, ...], fault: Fault, place: tuple[str, ...]
) -> Iterator[tuple[int, Problem]]:
    """Yield the causes that their own fix does not repair, with their index."""
    broken = build_stage((), app, objects, fault.changes).after
    for i, cause in enumerate(fault.causes):
        before, after = (look_up(each, cause.ref, app.namespace) for each in (objects, broken))
        if not cause.fix or before is None or after is None or before == after or _takes_back(cause, fault):
            continue  # what the app does not define may be repaired indirectly; a trial shows that
        now = look_up(build_stage((), app, broken, cause.fix).after, cause.ref, app.namespace)
        if now is not None and not _is_restored(before, after, now):
            message = f"the `fix` of '{cause.ref}' leaves what the fault changed there as it is"
            yield i, Problem(place, message, expected="the former value, or another one, in a field that it changed")


def _is_restored(before: Object, broken: Object, now: Object) -> bool:
    """Return whether anything that the fault wrote is different again."""
    return any(get_at(now, path) != get_at(broken, path) for path in find_paths(before, broken))


def _takes_back(cause: Entity, fault: Fault) -> bool:
    """Return whether the repair is more than a write of objects."""
    fix = [c.operation for c in cause.fix]
    return any(o.runs_command for o in [c.operation for c in fault.changes] + fix) or any(
        o.fault or o.rolls_back for o in fix
    )

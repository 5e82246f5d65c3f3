"""SK125: each step of the propagation follows a call from callee to caller, or crosses a message broker."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scenario_kit.lint.context.affected_objects import touches
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.truth.messaging import find_route, has_message_path, is_broker_of
from scenario_kit.lint.simulation.field_diff import list_written_fields
from scenario_kit.model import App, Component, Reference
from scenario_kit.model.authored.scenario import FAULT_NODE
from scenario_kit.render.simulation.observability import list_untraced
from scenario_kit.render.simulation.request_paths import trace_traffic

#: Roles of components that pass data on, and failures with it.
_DEPOTS = ("Queue", "Store", "Flags")
#: Passive kinds, which nothing affects unless a fault writes them.
_WRITTEN = frozenset({"ConfigMap", "Secret", "ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "LimitRange"})
_SILENCE = re.compile(r"(==\s*0|<=?\s*[0-9.]+)\s*$")


@register_check("SK125")
def check_calls(case: LintContext) -> Iterator[Problem]:
    app = case.app
    if app is None or not app.calls:
        return
    yield from _check_unwritten(case, app)
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        source, end = find_component(app, edge.from_), find_component(app, edge.to)
        if source is None and end is not None:
            yield from _check_first_step(case, app, i, end)
        if source is None or end is None or source == end or _calls(app, end.name, source.name):
            continue
        if is_broker_of(app, source.name, end.name) or has_message_path(app, source.name, end.name):
            continue  # lag and full queues affect both sides
        if source.name == _find_collector(app) and end.name not in list_untraced(app):
            continue  # without the collector, its clients report nothing
        place = ("spec", "groundTruth", "propagation", i)
        if _calls(app, source.name, end.name):
            if not _follows_traffic(case, source, end):
                message = f"{source.name} calls {end.name}, not the other way round: edges lead to the caller"
                fix = f"write {{from: {edge.to}, to: {edge.from_}}}, or remove the edge"
                yield Problem(place, message, f"{source.name} → {end.name}", f"{end.name} → {source.name}", fix)
            continue
        way = find_route(app, source.name, end.name)
        message = f"{end.name} does not call {source.name}"
        if way:
            message += f"; failures reach it through {', '.join(way[1:-1])}"
        fix = f"write an edge for each step: {' → '.join(way)}" if way else ""
        yield Problem(place, message, f"{source.name} → {end.name}", "a call of the app", fix)


def _check_unwritten(case: LintContext, app: App) -> Iterator[Problem]:
    """Report steps to a passive object of the app that no fault writes."""
    objects = case.objects
    if objects is None:
        return
    for i, edge in enumerate(case.scenario.spec.ground_truth.propagation):
        ref = edge.to
        if ref.kind not in _WRITTEN or not case.exists(edge.to):
            continue
        if not any(touches(fault, objects, app, edge.to) for fault in case.faults.values()):
            message = f"no fault writes {edge.to}, so it does not propagate failures"
            fix = "lead the edge to the affected component, or start it at what the fault changes"
            yield Problem(
                ("spec", "groundTruth", "propagation", i, "to"), message, edge.to, "an object that a fault changes", fix
            )


def _check_first_step(case: LintContext, app: App, number: int, end: Component) -> Iterator[Problem]:
    """Report a first step to a component that is neither touched by the fault nor calls one that is.

    Faults that affect every workload, or an object that many workloads use, are not checked.
    """
    start = case.scenario.spec.ground_truth.propagation[number].from_
    causes = [c.fault for c in case.scenario.spec.ground_truth.root_causes if c.entity and c.entity.is_same(start)]
    fault = case.faults.get(start.name if start.kind == FAULT_NODE else causes[0] if causes else "")
    if fault is None or fault.scope != "Namespace" or case.objects is None:
        return
    refs = {fault.target, *(e.ref for e in fault.entities if e.role != "Artefact")}
    refs |= {ref for c in fault.changes if (ref := c.operation.ref)}
    refs |= {field.of for field in list_written_fields(fault.changes, case.objects, app)}
    touched = [c for c in app.components if any(find_component(app, ref) == c for ref in refs)]
    aimed = find_component(app, fault.target)
    if aimed is None or aimed.role not in ("App", "Entry", "Store", "Queue"):
        return
    if end in touched or any(_calls(app, end.name, c.name) for c in touched):
        return
    if any(_calls(app, c.name, end.name) and _follows_traffic(case, c, end) for c in touched):
        return
    if any(is_broker_of(app, c.name, end.name) or has_message_path(app, c.name, end.name) for c in touched):
        return
    way = find_route(app, aimed.name, end.name)
    message = f"fault '{fault.name}' does not touch {end.name}, and {end.name} does not call what it does touch"
    fix = f"write an edge for each step: {' → '.join(way)}" if way else ""
    place = ("spec", "groundTruth", "propagation", number)
    yield Problem(place, message, f"{start} → {end.workload}", "a component that the fault touches, or its caller", fix)


def find_component(app: App, ref: Reference) -> Component | None:
    """Return the component of a node; None for faults, and for objects without a component."""
    if ref.kind == FAULT_NODE or ref.namespace not in ("app", *app.namespaces):
        return None
    bare = ref.groupless
    own = (c for c in app.components if c.workload == bare or (ref.kind == "Service" and c.service == ref.name))
    return next(own, None)


def _find_collector(app: App) -> str:
    """Return the component that collects telemetry; empty if the app has none, or no twin."""
    collector = app.twin.collector if app.twin is not None else None
    return collector.component if collector is not None else ""


def _calls(app: App, caller: str, callee: str) -> bool:
    """Return whether a program in the pods of one component calls one in those of another: edges connect workloads."""
    callers, callees = app.list_pod_mates(caller), app.list_pod_mates(callee)
    return any(c.caller in callers and c.callee in callees for c in app.calls)


def _follows_traffic(
    case: LintContext, caller: Component, callee: Component, seen: frozenset[str] = frozenset[str]()
) -> bool:
    """Return whether failures may travel with requests: as data, as excess load, or as missing traffic.

    Missing traffic may pass a component that does not show it, on to what it calls. ``seen`` holds visited components.
    """
    if caller.role == "Load" or callee.role in _DEPOTS or _is_load_cause(case):
        return True
    if _expects_silence(case, callee):
        known = trace_traffic(case.app) if case.app else None  # an edge without user traffic cannot go silent
        return known is None or (caller.name, callee.name) in known.calls
    if case.app is None or callee.name in seen:
        return False
    further = _list_after(case, case.app, callee)
    callees = [c for c in further if _calls(case.app, callee.name, c.name) and c.role not in _DEPOTS]
    if any(_follows_traffic(case, callee, c, seen | {callee.name}) for c in callees):
        return True
    return any(
        _has_starved_consumer(case, case.app, queue)
        for queue in further
        if callee.name in case.app.producers(queue.name)
    )


def _has_starved_consumer(case: LintContext, app: App, queue: Component) -> bool:
    """Return whether the propagation continues from a queue to a consumer that goes silent."""
    consumers = [c for c in _list_after(case, app, queue) if c.name in app.consumers(queue.name)]
    return any(_expects_silence(case, c) for c in consumers)


def _expects_silence(case: LintContext, component: Component) -> bool:
    """Return whether an alert on missing traffic of the component is expected."""
    for alert in case.scenario.spec.expect.alerts:
        defined = (case.alerts or {}).get(alert.name)
        if defined is None or alert.alert_class == "MustNotFire" or not _SILENCE.search(defined.expr):
            continue
        if not alert.entity or alert.entity == component.workload:
            return True
    return False


def _list_after(case: LintContext, app: App, component: Component) -> Sequence[Component]:
    """Return the components to which edges lead from this one."""
    edges = [e for e in case.scenario.spec.ground_truth.propagation if e.from_ == component.workload]
    return [c for edge in edges if (c := find_component(app, edge.to)) is not None]


def _is_load_cause(case: LintContext) -> bool:
    """Return whether a cause is the load generator."""
    app = case.app
    causes = [e for use in case.scenario.spec.faults for e in (use.target, *case.entities(use.name, "Cause"))]
    found = [find_component(app, cause) for cause in causes] if app else []
    return any(component is not None and component.role == "Load" for component in found)

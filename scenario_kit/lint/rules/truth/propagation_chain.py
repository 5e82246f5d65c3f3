"""SK116: the propagation must connect root causes with alerts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.rules.alerts.expectations import list_possible_entities
from scenario_kit.lint.rules.truth.service_map import find_component
from scenario_kit.model import Reference
from scenario_kit.model.authored.propagation import find_reachable
from scenario_kit.model.authored.scenario import FAULT_NODE
from scenario_kit.model.json_document import Place

_PLACE: Place = ("spec", "groundTruth", "propagation")
_Edge = tuple[Reference, Reference]


@register_check("SK116")
def check_connected(case: LintContext) -> Iterator[Problem]:
    propagation = case.scenario.spec.ground_truth.propagation
    edges = [(_resolve_node(case, edge.from_), _resolve_node(case, edge.to)) for edge in propagation]
    roots = _find_roots(case)
    if not edges:
        yield from _check_missing(case, roots)
        return
    yield from _check_cycles(edges, roots)
    if not roots:
        return
    triggers = {Reference(FAULT_NODE, use.name) for use in case.scenario.spec.faults if use.role == "Trigger"}
    reached = find_reachable(roots, edges)
    for i, (start, end) in enumerate(edges):
        if end in triggers:
            yield from _check_edge_to_trigger(case, edges, i, roots)
        elif start in triggers:  # a trigger may precede what sustains the incident
            continue
        elif end in roots:
            yield _report_edge_to_root(case, edges, i, roots)
        elif start not in reached:
            message = f"no edge leads from a root cause to {_format_node(start)}"
            yield Problem((*_PLACE, i, "from"), message, expected=" or ".join(sorted(_format_node(r) for r in roots)))
    for j, alert in enumerate(case.scenario.spec.expect.alerts):
        if alert.alert_class == "MustFire" and alert.entity and _resolve_node(case, alert.entity) not in reached:
            message = f"no edge leads to {alert.entity}, on which {alert.name} must fire"
            yield Problem(("spec", "expect", "alerts", j, "entity"), message, fix=f"add an edge to {alert.entity}")
    yield from _check_loose_ends(case, edges, reached)


def _check_missing(case: LintContext, roots: Collection[Reference]) -> Iterator[Problem]:
    """Report an incident without propagation, unless no alert is to be reached, or the root causes alert themselves."""
    expect, truth = case.scenario.spec.expect, case.scenario.spec.ground_truth
    if expect.silent or not (case.merged and truth.root_causes and truth.outcome == "Incident"):
        return
    demanded = {_resolve_node(case, a.entity) for a in expect.alerts if a.alert_class == "MustFire" and a.entity}
    if not demanded or not demanded <= set(roots):
        yield Problem(("spec", "groundTruth"), "there is no propagation from the root causes to the alerts")


def _check_edge_to_trigger(
    case: LintContext, edges: Sequence[_Edge], number: int, roots: Collection[Reference]
) -> Iterator[Problem]:
    start, end = edges[number]
    if _suffers_too(case, number, start in find_reachable(roots, _leave_out(edges, end))):
        return
    message = f"an edge leads to {_format_node(end)}, a Trigger, which has no cause"
    yield Problem((*_PLACE, number, "to"), message, expected="edges that lead away from it", fix="reverse the edge")


def _report_edge_to_root(
    case: LintContext, edges: Sequence[_Edge], number: int, roots: Collection[Reference]
) -> Problem:
    start, end = edges[number]
    name = _describe_end(case.scenario.spec.ground_truth.propagation[number].to, end)
    fix = "reverse the edge"
    if start in roots:
        fix = "remove the edge: both are root causes"
    elif start in find_reachable(set(roots) - {end}, _leave_out(edges, end)):
        fix = f"remove the edge, and any that only lead to it: {_format_node(end)} is a root cause"
    message = f"an edge leads to the root cause {name}"
    return Problem((*_PLACE, number, "to"), message, expected="edges that lead away from it", fix=fix)


def _leave_out(edges: Sequence[_Edge], node: Reference) -> list[_Edge]:
    return [edge for edge in edges if node not in edge]


def _suffers_too(case: LintContext, number: int, reached: bool) -> bool:
    """Return whether an edge leads to a component that a Trigger touches and the cause affects as well.

    For example: a service is restarted (the trigger), and does not come up without its broken database.
    """
    edge = case.scenario.spec.ground_truth.propagation[number]
    ends = [find_component(case.app, ref) for ref in (edge.from_, edge.to)] if case.app else []
    source, end = ends or (None, None)
    if not reached or case.app is None or source is None or end is None or end.role == "Load":
        return False
    alerts = [alert.entity for alert in case.scenario.spec.expect.alerts if alert.alert_class != "MustNotFire"]
    called = any((call.caller, call.callee) == (end.name, source.name) for call in case.app.calls)
    return called and edge.to in alerts


def _resolve_node(case: LintContext, ref: Reference) -> Reference:
    """Return a node; the object of a fault with a known name is the same as ``Fault/<name>``."""
    bare = ref.groupless
    if ref.kind == FAULT_NODE:
        return bare
    for name in case.faults:
        if any(entity.groupless == bare for entity in case.entities(name, "Cause")):
            return Reference(FAULT_NODE, name)
    return bare


def _find_roots(case: LintContext) -> set[Reference]:
    """Return the actual causes: another rule reports wrong labels, which should not invalidate the whole chain."""
    causes = case.scenario.spec.ground_truth.root_causes
    known = {c.fault for c in causes if c.fault in case.faults or not c.entity}
    return {
        Reference(FAULT_NODE, c.fault) if c.fault in known or not c.entity else _resolve_node(case, c.entity)
        for c in causes
    }


def _check_cycles(edges: list[tuple[Reference, Reference]], roots: set[Reference]) -> Iterator[Problem]:
    """Report edges that close a cycle, except between root causes, which are reported anyway."""
    for i, (start, end) in enumerate(edges):
        if start == end:
            continue  # SK455
        if start in find_reachable({end}, edges[: i + 1]) and not {start, end} <= roots:
            message = f"the edge from {_format_node(start)} to {_format_node(end)} closes a cycle"
            yield Problem((*_PLACE, i), message, fix="remove this edge, or another one of the cycle")


def _check_loose_ends(
    case: LintContext, edges: list[tuple[Reference, Reference]], reached: set[Reference]
) -> Iterator[Problem]:
    """Report a chain that ends at an object on which no alert is expected."""
    expect = case.scenario.spec.expect
    alerts = [alert for alert in expect.alerts if alert.alert_class != "MustNotFire"]
    if not alerts or expect.silent:  # in a silent incident, the checks show the end of the chain
        return
    alerting = {_resolve_node(case, alert.entity) for alert in alerts if alert.entity} | _list_alert_objects(case)
    starts = {start for start, _ in edges}
    for i, (_, end) in enumerate(edges):
        if end in reached and end not in starts and end not in alerting:
            message = f"the chain ends at {_format_node(end)}, on which no alert is expected"
            yield Problem((*_PLACE, i, "to"), message, fix="continue it to an alerting object, or remove the edge")


def _list_alert_objects(case: LintContext) -> set[Reference]:
    """Return objects of expected alerts without `entity`."""
    rules = (case.alerts or {}).get
    named = [rules(a.name) for a in case.scenario.spec.expect.alerts if not a.entity and a.alert_class != "MustNotFire"]
    known = [rule for rule in named if rule is not None and rule.entity is not None]
    return (
        {_resolve_node(case, ref) for rule in known for ref in list_possible_entities(case, rule)}
        if case.app
        else set()
    )


def _describe_end(written: Reference, node: Reference) -> str:
    """Return the end of an edge as written, with the fault whose object it is."""
    return _format_node(node) if written.groupless == node else f"{written} of {_format_node(node)}"


def _format_node(node: Reference) -> str:
    return f"fault '{node.name}'" if node.kind == FAULT_NODE else str(node)

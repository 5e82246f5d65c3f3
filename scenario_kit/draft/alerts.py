"""Predict the alerts of a fault and its propagation from the app's calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from scenario_kit.model import AlertRule, App, Component, Fault, Reference
from scenario_kit.model.authored.fault import Symptom
from scenario_kit.model.authored.scenario import FAULT_NODE, AlertExpectation, PropagationEdge
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.simulation.observability import list_untraced, list_without_error_status
from scenario_kit.render.simulation.request_paths import trace_traffic

#: The matcher of rules about failed requests.
_FAILED: Final = 'status_code="STATUS_CODE_ERROR"'
#: The end of rules about missing requests.
_SILENCE: Final = re.compile(r"==\s*0\s*$")
#: Roles of components with user requests and request telemetry.
_SERVING: Final = ("App", "Entry")


def predict_alerts(
    symptoms: Sequence[Symptom], fault: Fault, app: App, component: Component | None, rules: Mapping[str, AlertRule]
) -> tuple[AlertExpectation, ...]:
    """Predict the alerts of a fault, the most direct one as MustFire, others as MayFire.

    Args:
        symptoms: the hints of the fault type.
        fault: the rendered fault.
        app: the app with its calls.
        component: the component of the target, None if there is none.
        rules: the alert rules by name.
    """
    found: dict[tuple[str, Reference], AlertExpectation] = {}
    for symptom in symptoms:
        rule = rules.get(symptom.alert)
        if rule is None or rule.entity is None:
            continue
        for place in _find_places(symptom.entity, fault, app, component, rule):
            starved = _FAILED in rule.expr and component is not None and _is_starved(place, fault, app, component)
            for shown in (*(_list_silence_rules(rules) if starved else ()), rule):
                # One MustFire alert is enough for a draft; a trial finds the others.
                must = not any(a.alert_class == "MustFire" for a in found.values()) and not (starved and shown is rule)
                new = AlertExpectation(name=shown.name, alert_class="MustFire" if must else "MayFire", entity=place)
                found.setdefault((shown.name, place), new)
    # A serving component would show the fault itself; one without user traffic does not show it anywhere.
    serving = (
        component is not None and component.role in _SERVING and component.name not in list_without_error_status(app)
    )
    beyond = component is None or not (serving or _is_idle(app, component))
    if not found and beyond:
        found = _predict_at_entry(symptoms, app, rules)
    return tuple(found.values())


def predict_propagation(
    fault: Fault, app: App, component: Component | None, alerts: Iterable[AlertExpectation]
) -> tuple[PropagationEdge, ...]:
    """Predict propagation edges from the causes to the affected component, and on from callee to caller."""
    desired = list(dict.fromkeys(a.entity for a in alerts if a.alert_class != "MustNotFire" and a.entity))
    reasons = _list_reasons(fault)
    starts = list(reasons)
    hit = _find_hit(fault, component)
    edges: list[PropagationEdge] = []
    if hit and desired:
        edges += [PropagationEdge(from_=s, to=hit, because=because) for s, because in reasons.items() if s != hit]
    if component is not None and hit:
        edges += _find_paths(component, app, set(desired) - {hit})
    ends = dict.fromkeys([*starts, *([hit] if hit else ()), *(e.to for e in edges)])
    edges += _find_edges_behind(app, desired, ends)
    ends |= dict.fromkeys(e.to for e in edges)
    edges += [
        PropagationEdge(from_=starts[0], to=a, because=f"{a.name} needs what breaks")
        for a in desired
        if a not in ends and starts
    ]
    if desired and hit not in desired and not any(e.from_ == hit for e in edges):
        edges = [e for e in edges if e.to != hit]
    if hit and hit in starts:  # edges lead away from a cause, never to it
        edges = lead_away([e for e in edges if e.to != hit], hit, {s: b for s, b in reasons.items() if s != hit})
    return tuple(dict.fromkeys(edges))


def lead_away(
    edges: Sequence[PropagationEdge], cause: Reference, others: Mapping[Reference, str]
) -> list[PropagationEdge]:
    """Connect causes that act through another cause with the objects that it affects. ``others`` are their reasons."""
    beyond = [e.to for e in edges if e.from_ == cause]
    added = [
        PropagationEdge(from_=s, to=to, because=f"{because}, which {to.name} notices")
        for to in beyond
        for s, because in others.items()
    ]
    return [*edges, *added]


def _list_reasons(fault: Fault) -> dict[Reference, str]:
    """Return the starting points of the propagation, each with the reason why it breaks the affected component."""
    fields = {Reference(FAULT_NODE, fault.name) if e.generated else e.ref: e.field for e in fault.causes}
    if len(fields) < 2:
        return dict.fromkeys(fields, f"{fault.type} is what breaks it")
    role = "is one of the conditions that break it" if fault.causes_join == "Conjunctive" else "breaks it by itself"
    return {s: f"{field} of {s} {role}" if field else f"{s} {role}" for s, field in fields.items()}


def _find_edges_behind(app: App, desired: Iterable[Reference], ends: Iterable[Reference]) -> list[PropagationEdge]:
    """Find edges from caller to callee that explain missing traffic at alerting workloads, nearest first.

    Components in between may show nothing. ``ends`` are affected workloads, those nearest to the cause first: if
    several callers send less, the first is the most likely reason.
    """
    edges: list[PropagationEdge] = []
    places, reached = {c.name: c.workload for c in app.components}, dict.fromkeys(ends)
    waiting = [c for c in app.components if c.workload in desired and c.workload not in reached]
    while waiting:
        ways = [way for c in waiting if (way := _find_way_up(app, c.name, reached, places))]
        if not ways:
            break
        way = min(ways, key=len)
        for after, before in reversed(list(pairwise(way))):
            if before in _list_queues(app):
                because = f"{after} finds less in {before}, or nothing"
            elif after in _list_queues(app):
                because = f"{before} puts less into {after}, or nothing"
            else:
                because = f"{before} asks {after} less, or not at all"
            edges.append(PropagationEdge(from_=places[before], to=places[after], because=because))
        reached |= dict.fromkeys(places[name] for name in reversed(way))
        waiting = [c for c in waiting if c.workload not in reached]
    return edges


def _find_way_up(app: App, start: str, reached: Iterable[Reference], places: Mapping[str, Reference]) -> list[str]:
    """Return the shortest path from a component up to a source of its work with a workload in ``reached``."""
    rank = {workload: number for number, workload in enumerate(reached)}
    ways = [[start]]
    seen = {start}
    while ways:
        arrived = [way for way in ways if places.get(way[-1]) in rank]
        if arrived:
            return min(arrived, key=lambda way: rank[places[way[-1]]])
        ways = [[*way, giver] for way in ways for giver in _find_callers_of_work(app, way[-1]) if giver not in seen]
        seen.update(way[-1] for way in ways)
    return []


def _find_callers_of_work(app: App, name: str) -> list[str]:
    """Return the sources of a component's work under user traffic: its callers, and the queues that it consumes.

    Callers without user traffic, and other consumers of a queue, do not matter.
    """
    known = trace_traffic(app)
    asking = [c.caller for c in app.calls if c.callee == name and c.caller not in app.consumers(name)]
    read = [queue for queue in sorted(_list_queues(app)) if name in app.consumers(queue)]
    return [c for c in dict.fromkeys(asking) if known is None or (c, name) in known.calls] + read


def _list_queues(app: App) -> set[str]:
    return {c.name for c in app.components if c.role == "Queue"}


def _predict_at_entry(
    symptoms: Sequence[Symptom], app: App, rules: Mapping[str, AlertRule]
) -> dict[tuple[str, Reference], AlertExpectation]:
    """If nothing near the target serves users, predict the symptoms at the entry."""
    entry = app.component(app.entry)
    for symptom in symptoms:
        rule = rules.get(symptom.alert)
        if entry is not None and rule is not None and rule.entity is not None and rule.entity.kind == "Component":
            return {(rule.name, entry.workload): AlertExpectation(name=rule.name, entity=entry.workload)}
    return {}


def _find_places(
    entity: str, fault: Fault, app: App, component: Component | None, rule: AlertRule
) -> Sequence[Reference]:
    kind = rule.entity.kind if rule.entity is not None else ""
    if kind not in ("Component", "Pod", *WORKLOADS, "HorizontalPodAutoscaler"):
        return ()
    if kind == "HorizontalPodAutoscaler":
        return (Reference(kind, fault.target.name),) if entity == "Self" else ()
    if component is None:
        entry = app.component(app.entry)
        return (entry.workload,) if entity == "Entry" and entry is not None else ()
    if entity == "Callers":
        names = _find_callers(app, component.name, _find_asked(fault, app), errors=_FAILED in rule.expr)
    else:
        names = [component.name] if entity == "Self" else [app.entry]
    found = [c for n in names if (c := app.component(n)) is not None]
    if kind == "Component":
        silent = list_without_error_status(app) if _FAILED in rule.expr else frozenset[str]()
        found = [c for c in found if _serves(app, c.name) and c.name not in silent]
    elif kind != "Pod":
        found = [c for c in found if c.workload.kind == kind]
    return [c.workload for c in found]


def _is_starved(place: Reference, fault: Fault, app: App, component: Component) -> bool:
    """Return whether a workload only serves records, which no longer reach it: it falls silent, and reports no errors.

    Either its broker is hit, or the fault cuts what the workload itself sends.
    """
    name = next((c.name for c in app.components if c.workload == place), "")
    if _list_asking(name, app) or not any(name in app.consumers(queue) for queue in _list_queues(app)):
        return False
    made = [change.operation.manifest or {} for change in fault.changes]
    cut = any(m.get("kind") == "NetworkPolicy" and "Egress" in m["spec"].get("policyTypes", ()) for m in made)
    return name in app.consumers(component.name) or (component.name == name and cut)


def _list_asking(name: str, app: App) -> list[str]:
    """List the components that call one, under user traffic if that is known."""
    known = trace_traffic(app)
    calls = {(call.caller, call.callee) for call in app.calls} if known is None else known.calls
    return [caller for caller, callee in sorted(calls) if callee == name]


def _list_silence_rules(rules: Mapping[str, AlertRule]) -> list[AlertRule]:
    """List the rules about components without requests."""
    return [r for r in rules.values() if r.entity and r.entity.kind == "Component" and _SILENCE.search(r.expr)]


def _serves(app: App, name: str) -> bool:
    """Return whether a component serves users and reports request telemetry."""
    component = app.component(name)
    return component is not None and component.role in _SERVING and name not in list_untraced(app)


def _is_idle(app: App, component: Component) -> bool:
    """Return whether a component gets no requests under user traffic, for example only at startup."""
    known = trace_traffic(app)
    return known is not None and component.name not in known.parts


def _find_asked(fault: Fault, app: App) -> set[tuple[str, str]] | None:
    """Return the calls under user traffic; if callers are restarted, also those at startup."""
    known = trace_traffic(app)
    again = fault.rollout is not None and fault.rollout.reconnect == "Callers"
    return None if known is None else known.calls | known.starts if again else known.calls


def _find_callers(app: App, name: str, calls: set[tuple[str, str]] | None, *, errors: bool) -> list[str]:
    """Return the nearest callers that serve users, past stores and queues.

    With ``errors``, callers that swallow failures do not count. Only calls in ``calls`` count; None allows all.
    """
    seen, waiting = {name}, [name]
    while waiting:
        near = [c for n in waiting for c in _list_near(app, n, errors=errors) if calls is None or (c, n) in calls]
        near = [c for c in near if c not in seen]
        serving = [c for c in near if _serves(app, c) and not (errors and c in list_without_error_status(app))]
        if serving:
            return list(dict.fromkeys(serving))
        seen |= set(near)
        waiting = near
    return []


def _list_near(app: App, name: str, *, errors: bool) -> Sequence[str]:
    if errors:
        return tuple(dict.fromkeys(c.caller for c in app.calls if c.callee == name and c.mode != "Swallowed"))
    return app.callers(name) or app.dependants(name)


def _find_hit(fault: Fault, component: Component | None) -> Reference | None:
    if component is not None:
        return component.workload
    victims = [e.ref for e in fault.entities if e.role == "Victim"]
    return victims[0] if victims else None


def _find_paths(start: Component, app: App, desired: set[Reference]) -> list[PropagationEdge]:
    """Return edges from callee to caller along the shortest paths from ``start`` to these workloads.

    Components in the same pods are one node.
    """
    before = {start.name: ""}
    _spread(app, before, [start.name])
    for queue in sorted(_list_queues(app)):
        if start.name in app.consumers(queue) and queue not in before:
            fresh = [name for name in app.producers(queue) if name not in before]
            before |= {queue: start.name, **dict.fromkeys(fresh, queue)}
            _spread(app, before, fresh)
    edges: dict[tuple[Reference, Reference], PropagationEdge] = {}
    for target in app.components:
        if target.workload not in desired or target.name not in before:
            continue
        way = [target.name]
        while before[way[0]]:
            way.insert(0, before[way[0]])
        for callee, caller in pairwise(way):
            one, other = app.component(callee), app.component(caller)
            assert one is not None
            assert other is not None
            if one.workload == other.workload:
                continue
            because = f"{caller} depends on {callee}"
            if callee in app.consumers(caller):
                because = f"what {callee} does not read piles up in {caller}"
            edge = PropagationEdge(from_=one.workload, to=other.workload, because=because)
            edges.setdefault((one.workload, other.workload), edge)
    return list(edges.values())


def _spread(app: App, before: dict[str, str], waiting: list[str]) -> None:
    """Add all dependants of ``waiting`` to ``before``, nearest first, each with the component that it depends on."""
    while waiting:
        name = waiting.pop(0)
        for caller in (*app.callers(name), *app.dependants(name)):
            if caller not in before:
                before[caller] = name
                waiting.append(caller)

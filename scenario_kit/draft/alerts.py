"""Which alerts a fault should raise, and how the trouble gets there: a prediction from the app's call graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from scenario_kit.model import AlertRule, App, Component, Fault, Reference
from scenario_kit.model.authored.fault import Symptom
from scenario_kit.model.authored.scenario import AlertExpectation, PropagationEdge
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.simulation.observability import list_untraced, list_without_error_status
from scenario_kit.render.simulation.request_paths import trace_traffic

#: What a rule asks for that is about failed requests.
_FAILED: Final = 'status_code="STATUS_CODE_ERROR"'
#: Components that serve requests of users and so have request telemetry.
_SERVING: Final = ("App", "Entry")


def predict_alerts(
    symptoms: Sequence[Symptom], fault: Fault, app: App, component: Component | None, rules: Mapping[str, AlertRule]
) -> tuple[AlertExpectation, ...]:
    """Predict the alerts to expect, the most direct one as MustFire, others as MayFire.

    Args:
        symptoms: the hints of the fault type.
        fault: rendered; its target says where.
        app: the call graph.
        component: what the target belongs to, None where it belongs to nothing.
        rules: the alert rules by name.
    """
    found: dict[tuple[str, str], AlertExpectation] = {}
    for symptom in symptoms:
        rule = rules.get(symptom.alert)
        if rule is None or rule.entity is None:
            continue
        for place in _find_places(symptom.entity, fault, app, component, rule):
            # One certain alert is enough of a promise for a draft; a trial tells the rest.
            must = not any(a.alert_class == "MustFire" for a in found.values())
            expected = AlertExpectation(name=rule.name, alert_class="MustFire" if must else "MayFire", entity=place)
            found.setdefault((rule.name, place), expected)
    # Who serves users would show it; what nobody asks while users do what they do, shows nowhere.
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
    """Predict edges from the causes to the alerting objects: first to the component that is hit, then from callee to
    caller.
    """
    desired = list(dict.fromkeys(a.entity for a in alerts if a.alert_class != "MustNotFire" and a.entity))
    reasons = _list_reasons(fault)
    starts = list(reasons)
    hit = _find_hit(fault, component)
    edges: list[PropagationEdge] = []
    if hit and desired:
        edges += [PropagationEdge(from_=s, to=hit, because=because) for s, because in reasons.items() if s != hit]
    if component is not None and hit:
        edges += _find_paths(component, app, set(desired) - {hit})
    ends = dict.fromkeys([*starts, hit, *(e.to for e in edges)])
    edges += _find_edges_behind(app, desired, ends)
    ends |= dict.fromkeys(e.to for e in edges)
    edges += [
        PropagationEdge(from_=starts[0], to=a, because=f"{Reference.parse(a).name} needs what breaks")
        for a in desired
        if a not in ends and starts
    ]
    if desired and hit not in desired and not any(e.from_ == hit for e in edges):
        edges = [e for e in edges if e.to != hit]
    if hit in starts:  # the chain leads away from a cause, never back to it
        edges = lead_away([e for e in edges if e.to != hit], hit, {s: b for s, b in reasons.items() if s != hit})
    return tuple(dict.fromkeys(edges))


def lead_away(edges: Sequence[PropagationEdge], cause: str, others: Mapping[str, str]) -> list[PropagationEdge]:
    """Add the edges of causes that act through another cause: to where that one leads. ``others`` are their reasons."""
    beyond = [e.to for e in edges if e.from_ == cause]
    added = [
        PropagationEdge(from_=s, to=to, because=f"{because}, which {_name(to)} notices")
        for to in beyond
        for s, because in others.items()
    ]
    return [*edges, *added]


def _name(ref: str) -> str:
    return Reference.parse(ref).name


def _list_reasons(fault: Fault) -> dict[str, str]:
    """List where the trouble starts, and why it breaks what is hit: of several causes, each has a reason of its own."""
    fields = {f"Fault/{fault.name}" if e.generated else e.ref: e.field for e in fault.causes}
    if len(fields) < 2:
        return dict.fromkeys(fields, f"{fault.type} is what breaks it")
    role = "is one of the conditions that break it" if fault.causes_join == "Conjunctive" else "breaks it by itself"
    return {s: f"{field} of {s} {role}" if field else f"{s} {role}" for s, field in fields.items()}


def _find_edges_behind(app: App, desired: Iterable[str], ends: Iterable[str]) -> list[PropagationEdge]:
    """Find edges along the work to wanted workloads that hang on others in trouble, the nearest first: caller → callee.

    Between the two there may be others, which show nothing themselves. ``ends`` are those in trouble, the first ones
    nearest to the cause: of several callers that ask less, they are the more likely reason.
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


def _find_way_up(app: App, start: str, reached: Iterable[str], places: Mapping[str, str]) -> list[str]:
    """Find the shortest way from a component to one of those who give it work, whose workload is among ``reached``."""
    rank = {workload: number for number, workload in enumerate(reached)}
    ways = [[start]]
    seen = {start}
    while ways:
        there = [way for way in ways if places.get(way[-1]) in rank]
        if there:
            return min(there, key=lambda way: rank[places[way[-1]]])
        ways = [[*way, giver] for way in ways for giver in _find_callers_of_work(app, way[-1]) if giver not in seen]
        seen.update(way[-1] for way in ways)
    return []


def _find_callers_of_work(app: App, name: str) -> list[str]:
    """Find who gives a component work while users do what they do: its callers, and the queues that it reads.

    Nobody has less to do because of callers that ask only when browsers come, or of other readers of a queue.
    """
    known = trace_traffic(app)
    asking = [c.caller for c in app.calls if c.callee == name and c.caller not in app.consumers(name)]
    read = [queue for queue in sorted(_list_queues(app)) if name in app.consumers(queue)]
    return [c for c in dict.fromkeys(asking) if known is None or (c, name) in known.calls] + read


def _list_queues(app: App) -> set[str]:
    return {c.name for c in app.components if c.role == "Queue"}


def _predict_at_entry(
    symptoms: Sequence[Symptom], app: App, rules: Mapping[str, AlertRule]
) -> dict[tuple[str, str], AlertExpectation]:
    """Predict where nothing near the target serves users, its symptoms can only be seen where users come in."""
    entry = app.component(app.entry)
    for symptom in symptoms:
        rule = rules.get(symptom.alert)
        if entry is not None and rule is not None and rule.entity is not None and rule.entity.kind == "Component":
            return {(rule.name, entry.workload): AlertExpectation(name=rule.name, entity=entry.workload)}
    return {}


def _find_places(entity: str, fault: Fault, app: App, component: Component | None, rule: AlertRule) -> Sequence[str]:
    kind = rule.entity.kind if rule.entity is not None else ""
    if kind not in ("Component", "Pod", *WORKLOADS, "HorizontalPodAutoscaler"):
        return ()
    if kind == "HorizontalPodAutoscaler":
        target = Reference.parse(fault.target)
        return (f"{kind}/{target.name}",) if entity == "Self" else ()
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
        found = [c for c in found if Reference.parse(c.workload).kind == kind]
    return [c.workload for c in found]


def _serves(app: App, name: str) -> bool:
    """Return whether a component serves users and tells of it in its telemetry."""
    component = app.component(name)
    return component is not None and component.role in _SERVING and name not in list_untraced(app)


def _is_idle(app: App, component: Component) -> bool:
    """Return whether nobody asks a component while users do what they do: only at a start, say, or when a cache is
    cold.
    """
    known = trace_traffic(app)
    return known is not None and component.name not in known.parts


def _find_asked(fault: Fault, app: App) -> set[tuple[str, str]] | None:
    """Find who asks whom while users do what they do; where callers are restarted, also for what they need to start."""
    known = trace_traffic(app)
    again = fault.rollout is not None and fault.rollout.reconnect == "Callers"
    return None if known is None else known.calls | known.starts if again else known.calls


def _find_callers(app: App, name: str, asked: set[tuple[str, str]] | None, *, errors: bool) -> list[str]:
    """Find callers that serve users, nearest first: past stores and queues. Who swallows failures waits, but has no
    errors.

    Only those count that are among ``asked``, callers and callees; None where nobody knows who asks whom when.
    """
    seen, waiting = {name}, [name]
    while waiting:
        near = [c for n in waiting for c in _list_near(app, n, errors=errors) if asked is None or (c, n) in asked]
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


def _find_hit(fault: Fault, component: Component | None) -> str:
    if component is not None:
        return component.workload
    victims = [e.ref for e in fault.entities if e.role == "Victim"]
    return victims[0] if victims else ""


def _find_paths(start: Component, app: App, desired: set[str]) -> list[PropagationEdge]:
    """Find edges callee → caller along the shortest ways from ``start`` to the wanted workloads."""
    before = {start.name: ""}
    _spread(app, before, [start.name])
    for queue in sorted(_list_queues(app)):
        if start.name in app.consumers(queue) and queue not in before:
            fresh = [name for name in app.producers(queue) if name not in before]
            before |= {queue: start.name, **dict.fromkeys(fresh, queue)}
            _spread(app, before, fresh)
    edges: dict[tuple[str, str], PropagationEdge] = {}
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
            because = f"{caller} depends on {callee}"
            if callee in app.consumers(caller):
                because = f"what {callee} does not read piles up in {caller}"
            edges[(callee, caller)] = PropagationEdge(from_=one.workload, to=other.workload, because=because)
    return list(edges.values())


def _spread(app: App, before: dict[str, str], waiting: list[str]) -> None:
    """Add to ``before`` who depends on those ``waiting``, nearest first, each with the component that it depends on."""
    while waiting:
        name = waiting.pop(0)
        for caller in (*app.callers(name), *app.dependants(name)):
            if caller not in before:
                before[caller] = name
                waiting.append(caller)

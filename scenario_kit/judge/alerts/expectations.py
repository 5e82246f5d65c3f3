"""Match alert timelines with expectations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Fault, Reference
from scenario_kit.model.authored.propagation import find_reachable
from scenario_kit.model.authored.scenario import FAULT_NODE, BackgroundAlert, Expect, PropagationEdge


def is_same_entity(desired: Reference | None, observed: Reference | None) -> bool:
    """Return whether two references name the same object, ignoring namespaces: a trial has one app."""
    return desired is None or (observed is not None and desired.bare == observed.bare)


def matches(expectation: AlertExpectation | BackgroundAlert, timeline: AlertTimeline) -> bool:
    """Return whether a timeline is of the expected alert on the expected entity."""
    return expectation.name == timeline.name and is_same_entity(expectation.entity, timeline.entity)


def select_timelines(expectation: AlertExpectation, timelines: Iterable[AlertTimeline]) -> list[AlertTimeline]:
    """Select the timelines that match an expectation."""
    return [t for t in timelines if matches(expectation, t)]


def restrict_to_faults(expect: Expect, faults: Iterable[Fault], edges: Sequence[PropagationEdge]) -> Expect:
    """Restrict the must-fire alerts to those that these faults explain; if there are none, keep all.

    A fault explains alerts whose deadline counts from it (`after`), and alerts on objects that propagation edges
    connect with an object that it writes.
    """
    chosen = list(faults)
    written = (e.ref.bare for f in chosen for e in f.entities if e.role != "Artefact")
    reached = find_reachable(written, ((e.from_.bare, e.to.bare) for e in edges))
    names = {f.name for f in chosen}
    explained = tuple(
        e for e in list_by_class(expect, "MustFire") if e.after in names or (e.entity and e.entity.bare in reached)
    )
    return msgspec.structs.replace(expect, alerts=explained) if explained else expect


def list_attributed_alerts(
    expect: Expect, left: Iterable[Fault], others: Iterable[Fault], edges: Sequence[PropagationEdge]
) -> list[AlertExpectation]:
    """List the must-fire alerts that the propagation attributes to the faults in ``left`` and to none of the others.

    Alerts whose deadline counts from a fault (`after`) are attributed by that.
    """
    own, foreign = (_find_affected(faults, edges) for faults in (left, others))
    only = own - foreign
    return [e for e in list_by_class(expect, "MustFire") if not e.after and e.entity and e.entity.bare in only]


def _find_affected(faults: Iterable[Fault], edges: Sequence[PropagationEdge]) -> set[tuple[str, str]]:
    """Return the objects that faults break, and those that the propagation reaches from them."""
    chosen = list(faults)
    starts = {e.ref.bare for f in chosen for e in f.entities if e.role != "Artefact"}
    starts |= {(FAULT_NODE, f.name) for f in chosen} | {f.target.bare for f in chosen}
    return find_reachable(starts, ((e.from_.bare, e.to.bare) for e in edges))


def list_distractor_alerts(expect: Expect, faults: Iterable[Fault]) -> list[AlertExpectation]:
    """List the alerts declared for distractors, which are no part of the incident and need no repair."""
    names = {f.name for f in faults if f.role == "Distractor"}
    return [e for e in list_by_class(expect, "MayFire") if e.entity and e.after in names]


def is_distractor_alert(own: Iterable[AlertExpectation], expect: Expect, timeline: AlertTimeline) -> bool:
    """Return whether an alert is raised by a distractor: it fires on an entity in ``own``.

    MustFire and MustNotFire alerts belong to the incident wherever they fire.
    """
    promised = any(matches(e, timeline) for e in expect.alerts if e.alert_class != "MayFire")
    return not promised and any(is_same_entity(e.entity, timeline.entity) for e in own)


def list_by_class(expect: Expect, alert_class: str) -> list[AlertExpectation]:
    """List the expectations of one class."""
    return [e for e in expect.alerts if e.alert_class == alert_class]


def is_background(expect: Expect, timeline: AlertTimeline) -> bool:
    """Return whether the scenario declares this as a background alert."""
    return any(matches(b, timeline) for b in expect.background)


def is_chronic(history: AlertHistory, expect: Expect, timeline: AlertTimeline, since: float) -> bool:
    """Return whether a declared background alert fired before ``since``, when nothing had been changed yet."""
    return is_background(expect, timeline) and timeline.fires_within(history.start, since)


def is_declared(expect: Expect, timeline: AlertTimeline) -> bool:
    """Return whether any expectation matches this alert."""
    return is_background(expect, timeline) or any(matches(e, timeline) for e in expect.alerts)


def list_firing(history: AlertHistory, start: float, end: float) -> list[AlertTimeline]:
    """List the alerts that fire between two instants."""
    return [t for t in history.timelines if t.fires_within(start, end)]


def describe_since(timeline: AlertTimeline, start: float, zero: float) -> str:
    """Describe when an alert first fires after ``start``, in seconds relative to ``zero``."""
    onset = timeline.onset(start)
    return f"from +{(onset or start) - zero:.0f} s"


def format_alert(timeline: AlertTimeline, more: str) -> str:
    """Format an alert as in a scenario file, ready to paste; without `entity` if the alert names none."""
    entity = f", entity: {timeline.entity}" if timeline.entity else ""
    return f"{{name: {timeline.name}{entity}, {more}}}"

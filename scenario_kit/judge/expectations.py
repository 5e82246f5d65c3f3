"""Which alert timelines an expectation speaks of."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model import AlertExpectation, AlertTimeline, Reference
from scenario_kit.model.scenario import BackgroundAlert, Expect


def same_entity(wanted: str, observed: str) -> bool:
    """Whether two references name the same object; namespaces are left out, a trial has one app."""
    if not wanted:
        return True
    if not observed:
        return False
    one, other = Reference.parse(wanted), Reference.parse(observed)
    return (one.kind, one.name) == (other.kind, other.name)


def matches(expectation: AlertExpectation | BackgroundAlert, timeline: AlertTimeline) -> bool:
    """Whether a timeline is the alert, on the entity, that the expectation names."""
    return expectation.name == timeline.name and same_entity(expectation.on, timeline.entity)


def chosen(expectation: AlertExpectation, timelines: Iterable[AlertTimeline]) -> list[AlertTimeline]:
    """The timelines that an expectation names."""
    return [t for t in timelines if matches(expectation, t)]


def of_class(expect: Expect, alert_class: str) -> list[AlertExpectation]:
    """Expectations of one class."""
    return [e for e in expect.alerts if e.alert_class == alert_class]


def background(expect: Expect, timeline: AlertTimeline) -> bool:
    """Whether the scenario declares this alert as chronically on."""
    return any(matches(b, timeline) for b in expect.background)


def declared(expect: Expect, timeline: AlertTimeline) -> bool:
    """Whether any expectation speaks of this alert."""
    return background(expect, timeline) or any(matches(e, timeline) for e in expect.alerts)


def label(timeline: AlertTimeline) -> str:
    """How an alert is called in messages."""
    return f"{timeline.name} on {timeline.entity}" if timeline.entity else timeline.name


def wanted_label(expectation: AlertExpectation) -> str:
    """How an expectation is called in messages."""
    return f"{expectation.name} on {expectation.on}" if expectation.on else expectation.name

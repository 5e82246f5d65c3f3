"""Alerts that expectations match, and their labels in messages."""

import pytest

from scenario_kit.judge.alerts import expectations
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Fault, Interval, Reference
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect, PropagationEdge

WEB = Reference("Deployment", "web")


def alert(name="Errors", on=WEB, *firing):
    return AlertTimeline(
        name=name, entity=Reference.parse(on) if on else None, firing=tuple(Interval(start=a, end=b) for a, b in firing)
    )


@pytest.mark.parametrize(
    ("desired", "observed", "same"),
    [
        ("", "", True),
        ("", WEB, True),
        (WEB, "", False),
        (WEB, WEB, True),
        (WEB, "shop/Deployment/web", True),
        (WEB, "StatefulSet/web", False),
        (WEB, "Deployment/ad", False),
    ],
)
def test_named_entity_must_match_the_alert(desired, observed, same):
    assert expectations.is_same_entity(*(Reference.parse(t) if t else None for t in (desired, observed))) is same
    wish = AlertExpectation(name="Errors", entity=Reference.parse(desired) if desired else None)
    assert expectations.matches(wish, alert(on=observed)) is same
    assert (
        expectations.select_timelines(wish, [alert(on=observed), alert("Other", observed)])
        == [alert(on=observed)] * same
    )


def build_fault(name, entity, role="Cause", part="Cause"):
    return Fault(
        name=name, type="t", version=1, target=Reference.parse(entity), role=role, changes=(), effect=(),
        entities=(Entity(ref=Reference.parse(entity), role=part),),
    )  # fmt: skip


ON_WEB = AlertExpectation(name="Errors", entity=WEB)
ON_AD = AlertExpectation(name="Errors", entity=Reference("Deployment", "ad"))
AFTER = AlertExpectation(name="Slow", entity=Reference("Deployment", "x"), after="one")
ANYWHERE = AlertExpectation(name="Slow")
MAY = AlertExpectation(name="Errors", entity=WEB, alert_class="MayFire", after="one")
EVERY = Expect(alerts=(ON_WEB, ON_AD, AFTER, ANYWHERE, MAY))


@pytest.mark.parametrize(
    ("faults", "edges", "explained"),
    [
        ([build_fault("f", WEB)], [], [ON_WEB]),
        ([build_fault("f", "ConfigMap/c")], [("ConfigMap/c", WEB)], [ON_WEB]),
        (
            [build_fault("f", "ConfigMap/c")],
            [("Deployment/ad", WEB), ("ConfigMap/c", "Deployment/ad")],
            [ON_WEB, ON_AD],
        ),
        ([build_fault("f", "ConfigMap/c")], [(WEB, "ConfigMap/c")], list(EVERY.alerts)),
        ([build_fault("f", WEB, part="Victim")], [], [ON_WEB]),
        ([build_fault("f", WEB, part="Artefact")], [], list(EVERY.alerts)),
        ([build_fault("one", "ConfigMap/c")], [], [AFTER]),
        ([build_fault("one", "Deployment/ad")], [], [ON_AD, AFTER]),
        ([], [], list(EVERY.alerts)),
    ],
)
def test_expectations_are_restricted_to_explained_alerts(faults, edges, explained):
    found = expectations.restrict_to_faults(
        EVERY, faults, [PropagationEdge(from_=Reference.parse(a), to=Reference.parse(b)) for a, b in edges]
    )
    assert list(found.alerts) == explained


@pytest.mark.parametrize(
    ("edges", "attributed"),
    [
        ([("ConfigMap/one", "Deployment/web")], [ON_WEB]),
        ([("ConfigMap/one", "Deployment/web"), ("ConfigMap/two", "Deployment/web")], []),
        ([("ConfigMap/one", "Deployment/x")], []),
        ([("Fault/one", "Deployment/ad"), ("Deployment/ad", "Deployment/web")], [ON_WEB, ON_AD]),
        ([("Fault/two", "Deployment/ad"), ("Deployment/ad", "Deployment/web")], []),
        ([], []),
    ],
    ids=["one", "both", "counts from a fault", "over another", "the other", "none"],
)
def test_alerts_are_attributed_to_the_only_fault_that_leads_there(edges, attributed):
    faults = build_fault("one", "ConfigMap/one"), build_fault("two", "ConfigMap/two")
    known = [PropagationEdge(from_=Reference.parse(a), to=Reference.parse(b)) for a, b in edges]
    assert expectations.list_attributed_alerts(EVERY, faults[:1], faults[1:], known) == attributed


def test_restriction_keeps_background_alerts():
    expect = Expect(alerts=EVERY.alerts, background=(BackgroundAlert(name="Old", reason="always"),))
    assert expectations.restrict_to_faults(expect, [build_fault("f", WEB)], []).background == expect.background


@pytest.mark.parametrize(
    ("wish", "role", "own"),
    [
        (MAY, "Distractor", True),
        (MAY, "Cause", False),
        (AlertExpectation(name="Errors", alert_class="MayFire", after="one"), "Distractor", False),
        (
            AlertExpectation(name="Errors", entity=WEB, alert_class="MayFire", after="two"),
            "Distractor",
            False,
        ),
        (
            AlertExpectation(name="Errors", entity=WEB, after="one"),
            "Distractor",
            False,
        ),
    ],
)
def test_distractor_alerts_follow_their_declaration(wish, role, own):
    expect = Expect(alerts=(wish,))
    assert expectations.list_distractor_alerts(expect, [build_fault("one", WEB, role)]) == ([wish] if own else [])


@pytest.mark.parametrize(
    ("promised", "entity", "beside"),
    [
        ((), WEB, True),
        ((), "Deployment/ad", False),
        ((ON_WEB,), WEB, False),
        ((AlertExpectation(name="Errors", alert_class="MustNotFire"),), WEB, False),
        ((AlertExpectation(name="Other", entity=WEB),), WEB, True),
        ((MAY,), WEB, True),
    ],
)
def test_trouble_beside_the_incident(promised, entity, beside):
    assert expectations.is_distractor_alert([MAY], Expect(alerts=promised), alert(on=entity)) is beside


def test_no_alert_is_a_distractors_without_declaration():
    assert not expectations.is_distractor_alert([], Expect(), alert())


def test_list_by_class_filters_expectations():
    assert expectations.list_by_class(EVERY, "MayFire") == [MAY]
    assert expectations.list_by_class(EVERY, "MustFire") == [ON_WEB, ON_AD, AFTER, ANYWHERE]


KNOWN = Expect(
    background=(BackgroundAlert(name="Errors", entity=WEB, reason="always"),),
    alerts=(ON_AD,),
)


@pytest.mark.parametrize(
    ("timeline", "background", "chronic", "declared"),
    [
        (alert("Errors", WEB, (500.0, None)), True, True, True),
        (alert("Errors", WEB, (500.0, 600.0)), True, True, True),
        (alert("Errors", WEB, (1000.0, None)), True, True, True),
        (alert("Errors", WEB, (1001.0, None)), True, False, True),
        (alert("Errors", WEB, (100.0, 400.0)), True, False, True),
        (alert("Errors", "Deployment/ad", (500.0, None)), False, False, True),
        (alert("Errors", "Deployment/x", (500.0, None)), False, False, False),
        (alert("Other", WEB, (500.0, None)), False, False, False),
    ],
)
def test_chronic_alert_is_declared_and_fired_before(timeline, background, chronic, declared):
    history = AlertHistory(start=400.0, end=2000.0, timelines=(timeline,))
    assert expectations.is_background(KNOWN, timeline) is background
    assert expectations.is_chronic(history, KNOWN, timeline, 1000.0) is chronic
    assert expectations.is_declared(KNOWN, timeline) is declared


def test_alert_labels_name_alert_and_entity():
    assert name_alert(alert()) == "Errors on Deployment/web"
    assert name_alert(alert(on="")) == "Errors"
    assert name_alert(ON_WEB) == "Errors on Deployment/web"
    assert name_alert(ANYWHERE) == "Slow"
    assert (
        expectations.format_alert(alert(), "class: MayFire") == "{name: Errors, entity: Deployment/web, class: MayFire}"
    )
    assert expectations.format_alert(alert(on=""), "reason: x") == "{name: Errors, reason: x}"


@pytest.mark.parametrize(
    ("firing", "reported"),
    [
        ([(1200.0, None)], "from +300 s"),
        ([(500.0, None)], "from +100 s"),
        ([(500.0, 600.0)], "from +100 s"),
        ([], "from +100 s"),
    ],
)
def test_onset_is_described_relative_to_injection(firing, reported):
    assert expectations.describe_since(alert("Errors", WEB, *firing), 1000.0, 900.0) == reported


def test_list_firing_uses_interval_overlap():
    one, other, late = alert("A", "", (1.0, 5.0)), alert("B", "", (8.0, None)), alert("C", "", (20.0, None))
    history = AlertHistory(start=0.0, end=30.0, timelines=(one, other, late))
    assert expectations.list_firing(history, 6.0, 19.0) == [other]
    assert expectations.list_firing(history, 2.0, 8.0) == [one, other]

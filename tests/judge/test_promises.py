"""Expected alerts: late, elsewhere, silent, forbidden, healed or cleared, with their times."""

import pytest

from scenario_kit.judge.alerts import incident_alerts
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Interval, Reference, Severity
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect

WEB = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"))
AD = AlertExpectation(name="Errors", entity=Reference("Deployment", "ad"))
ANYWHERE = AlertExpectation(name="Errors")


def alert(name, entity, *spans):
    return AlertTimeline(
        name=name,
        entity=Reference.parse(entity) if entity else None,
        firing=tuple(Interval(start=a, end=b) for a, b in spans),
    )


def history(*timelines, start=0.0):
    return AlertHistory(start=start, end=2000.0, timelines=timelines)


def brief(findings):
    return [(f.code, f.severity, f.observed) for f in findings]


@pytest.mark.parametrize(
    ("spans", "pending"),
    [
        ([], True),
        ([(900.0, 1000.0)], True),
        ([(900.0, 1001.0)], False),
        ([(1500.0, None)], False),
        ([(100.0, 200.0), (1500.0, 1600.0)], False),
    ],
)
def test_list_pending_returns_expected_alerts_without_onset(spans, pending):
    seen = history(alert("Errors", "Deployment/web", *spans), alert("Errors", "Deployment/cart", (1200.0, None)))
    may = AlertExpectation(name="Other", alert_class="MayFire")
    found = incident_alerts.list_pending(seen, Expect(alerts=(WEB, AD, may)), 1000.0)
    assert found == ([WEB, AD] if pending else [AD])


@pytest.mark.parametrize(
    ("spans", "zero", "late"),
    [
        ([(1480.0, None)], None, None),
        ([(1481.0, None)], None, 481),
        ([(900.0, None)], None, None),
        ([(1680.0, None)], 1200.0, None),
        ([(1681.0, None)], 1200.0, 481),
        ([(1100.0, None)], 1200.0, None),
        ([(1481.0, 1490.0), (1600.0, None)], None, 481),
    ],
)
def test_deadline_counts_from_the_injection_of_its_fault(spans, zero, late):
    found = incident_alerts.check_fired(
        history(alert("Errors", "Deployment/web", *spans)),
        Expect(alerts=(WEB,)),
        1000.0,
        {WEB: 480.0},
        counted_from=zero,
    )
    assert brief(found) == ([] if late is None else [("SK322", Severity.ERROR, f"{late} s after injection")])
    if late is not None:
        assert found[0].expected == "within 480 s"
        assert found[0].fix == "withinSeconds: 990"


def test_the_first_of_several_entities_counts():
    late, early = alert("Errors", "Deployment/ad", (1900.0, None)), alert("Errors", "Deployment/web", (1100.0, None))
    assert (
        incident_alerts.check_fired(history(late, early), Expect(alerts=(ANYWHERE,)), 1000.0, {ANYWHERE: 480.0}) == []
    )


def test_each_expected_alert_has_its_own_deadline():
    seen = history(alert("Errors", "Deployment/web", (1100.0, None)), alert("Errors", "Deployment/ad", (1100.0, None)))
    found = incident_alerts.check_fired(seen, Expect(alerts=(WEB, AD)), 1000.0, {WEB: 50.0, AD: 480.0})
    assert [f.message for f in found] == ["Errors on Deployment/web fired too late"]


@pytest.mark.parametrize(
    ("others", "code", "observed", "fix"),
    [
        (
            [alert("Errors", "Deployment/ad", (1100.0, None))],
            "SK326",
            "it fired on Deployment/ad",
            "write `entity: Deployment/ad`",
        ),
        (
            [alert("Errors", "Deployment/b", (1100.0, None)), alert("Errors", "Deployment/a", (1100.0, None))],
            "SK326",
            "it fired on Deployment/a, Deployment/b",
            "write `entity: Deployment/a`",
        ),
        ([alert("Errors", "", (1100.0, None))], "SK326", "it fired on (no entity)", "omit `entity`"),
        (
            [alert("Errors", "Deployment/ad", (500.0, 600.0))],
            "SK322",
            "no alert fired at all",
            "make the fault stronger",
        ),
        ([alert("Slow", "Deployment/ad", (500.0, 600.0))], "SK322", "no alert fired at all", "make the fault stronger"),
        (
            [alert("Slow", "Deployment/ad", (1100.0, None)), alert("Lag", "", (1100.0, None))],
            "SK322",
            "Lag, Slow on Deployment/ad",
            "expect an alert that fires",
        ),
    ],
)
def test_missing_alert_is_reported_with_observed_ones(others, code, observed, fix):
    (found,) = incident_alerts.check_fired(history(*others), Expect(alerts=(WEB,)), 1000.0, {WEB: 480.0})
    assert (found.code, found.severity, found.observed) == (code, Severity.ERROR, observed)
    assert found.fix.startswith(fix)
    assert "within 480 s" in found.expected


@pytest.mark.parametrize(
    ("expect", "closed", "found"),
    [
        (Expect(), False, ("SK325", Severity.WARNING)),
        (Expect(), True, ("SK327", Severity.ERROR)),
        (Expect(alerts=(ANYWHERE,)), True, None),
        (Expect(alerts=(AlertExpectation(name="Errors", alert_class="MayFire"),)), True, None),
        (
            Expect(alerts=(AlertExpectation(name="Errors", alert_class="MustNotFire"),)),
            False,
            ("SK321", Severity.ERROR),
        ),
        (Expect(alerts=(AlertExpectation(name="Errors", alert_class="MustNotFire"),)), True, ("SK321", Severity.ERROR)),
        (
            Expect(
                alerts=(
                    AlertExpectation(name="Errors", entity=Reference("Deployment", "ad"), alert_class="MustNotFire"),
                )
            ),
            False,
            ("SK325", Severity.WARNING),
        ),
        (Expect(background=(BackgroundAlert(name="Errors", reason="x"),)), True, None),
        (Expect(alerts=(AD,)), True, ("SK327", Severity.ERROR)),
    ],
)
def test_undeclared_and_forbidden_alerts(expect, closed, found):
    seen = history(alert("Errors", "Deployment/web", (1200.0, 1300.0)))
    reported = incident_alerts.check_forbidden(seen, expect, 1000.0, 2000.0, closed=closed)
    assert [(f.code, f.severity) for f in reported] == ([found] if found else [])
    if found:
        assert reported[0].observed == "firing from +200 s after injection"
        assert "Errors on Deployment/web" in reported[0].message


def test_alerts_outside_window_are_not_reported():
    seen = history(alert("A", "", (100.0, 1000.0)), alert("B", "", (2001.0, None)))
    assert incident_alerts.check_forbidden(seen, Expect(), 1000.0, 2000.0) == []


@pytest.mark.parametrize(
    ("spans", "observed"),
    [
        ([(1200.0, None)], None),
        ([(1200.0, 2000.0)], "Errors on Deployment/web last fired at 1900 s"),
        ([(1200.0, 1300.0), (1400.0, 1500.0)], "Errors on Deployment/web last fired at 1400 s"),
        ([], "Errors on Deployment/web never fired"),
    ],
)
def test_self_healing_incident_is_an_error(spans, observed):
    seen = history(alert("Errors", "Deployment/web", *spans), start=100.0)
    found = brief(incident_alerts.check_held(seen, Expect(alerts=(WEB,)), 2000.0))
    assert found == ([] if observed is None else [("SK305", Severity.ERROR, observed)])


def test_each_expected_alert_must_hold():
    seen = history(
        alert("Errors", "Deployment/web", (1200.0, None)), alert("Errors", "Deployment/ad", (1200.0, 1300.0))
    )
    assert [
        f.message.split(" stopped")[0] for f in incident_alerts.check_held(seen, Expect(alerts=(WEB, AD)), 2000.0)
    ] == ["Errors on Deployment/ad"]


@pytest.mark.parametrize(
    ("web", "ad", "cleared"),
    [
        ([(1200.0, None)], [(1200.0, None)], False),
        ([(1200.0, None)], [(1200.0, 1300.0)], False),
        ([(1200.0, 1300.0)], [(1200.0, None)], False),
        ([(1200.0, 1300.0)], [(1900.0, 1950.0)], False),
        ([(1200.0, 1800.0)], [(1200.0, 1300.0)], True),
        ([(1200.0, 1801.0)], [(1200.0, 1300.0)], False),
        ([], [], True),
    ],
)
@pytest.mark.parametrize(("code", "label"), [("SK431", False), ("SK403", True)])
def test_non_repair_leaves_an_expected_alert_firing(web, ad, cleared, code, label):
    seen = history(alert("Errors", "Deployment/web", *web), alert("Errors", "Deployment/ad", *ad))
    found = incident_alerts.check_still_firing(seen, Expect(alerts=(WEB, AD)), 1800.0, code=code, procedure="restart")
    assert [(f.code, f.severity) for f in found] == ([(code, Severity.ERROR)] if cleared else [])
    for finding in found:
        assert "'restart'" in finding.message
        assert ("labelled cause was not repaired" in finding.message) is label
        assert ("Conjunctive" in finding.fix) is label
        assert ("a cause that needs no repair" in finding.why) is label
        assert finding.observed.count("; ") == 1


def test_may_fire_alerts_need_not_clear():
    may = AlertExpectation(name="Errors", alert_class="MayFire")
    assert (
        incident_alerts.check_still_firing(history(), Expect(alerts=(may,)), 1800.0, code="SK431", procedure="x") == []
    )


@pytest.mark.parametrize(
    ("after", "spans", "missing"),
    [
        ("left", [(1200.0, 1300.0)], True),
        ("left", [(1200.0, None)], False),
        ("left", [(1900.0, 1950.0)], False),
        ("repaired", [(1200.0, 1300.0)], False),
        ("", [(1200.0, 1300.0)], False),
    ],
)
def test_alert_counted_from_fault_fires_while_it_remains(after, spans, missing):
    counted = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), after=after)
    seen = history(alert("Errors", "Deployment/web", *spans))
    found = brief(incident_alerts.check_left_firing(seen, Expect(alerts=(counted,)), 1800.0, ["left", "other"]))
    assert found == ([("SK410", Severity.ERROR, "Errors on Deployment/web last fired at 1300 s")] if missing else [])


@pytest.mark.parametrize(("spans", "missing"), [([(1200.0, 1300.0)], True), ([(1200.0, None)], False)])
def test_alert_of_the_only_cause_that_leads_there_fires_while_it_remains(spans, missing):
    led = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"))
    seen = history(alert("Errors", "Deployment/web", *spans))
    found = incident_alerts.check_left_firing(seen, Expect(alerts=(led,)), 1800.0, ["left"], [led])
    assert [f.code for f in found] == ["SK410"] * missing
    for finding in found:
        assert "only 'left' leads to Errors on Deployment/web" in finding.message
        assert "Deployment/web from the cause that raises" in finding.fix


@pytest.mark.parametrize(
    ("onset", "deadline"), [(0.0, 60), (1.0, 90), (30.0, 90), (60.0, 120), (61.0, 150), (75.0, 150), (118.0, 240)]
)
def test_deadline_is_proposed_with_room(onset, deadline):
    assert incident_alerts.propose_deadline(onset) == deadline

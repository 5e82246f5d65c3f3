"""Alerts of an app without a fault: their messages and severity."""

import pytest

from scenario_kit.judge.alerts import control_runs
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Interval, Reference, Severity
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect

WEB = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"))
CHRONIC = BackgroundAlert(name="Errors", reason="always on")


def alert(name="Errors", entity="Deployment/web", *firing, pending=()):
    made = (tuple(Interval(start=a, end=b) for a, b in spans) for spans in (firing, pending))
    one, other = made
    return AlertTimeline(name=name, entity=Reference.parse(entity) if entity else None, firing=one, pending=other)


def history(*timelines):
    return AlertHistory(start=0.0, end=2000.0, timelines=timelines)


def brief(findings):
    return [(f.code, f.severity, f.observed) for f in findings]


@pytest.mark.parametrize(
    ("expect", "firing", "found"),
    [
        (Expect(alerts=(WEB,)), (150.0, None), ("SK302", Severity.ERROR, "firing from +50 s")),
        (Expect(alerts=(WEB,)), (50.0, None), ("SK302", Severity.ERROR, "firing from +0 s")),
        (Expect(alerts=(WEB,)), (50.0, 100.0), None),
        (Expect(alerts=(WEB,)), (401.0, None), None),
        (Expect(), (150.0, 160.0), ("SK303", Severity.WARNING, "firing from +50 s")),
        (Expect(background=(CHRONIC,)), (150.0, None), None),
        (Expect(alerts=(WEB,), background=(CHRONIC,)), (150.0, None), None),
        (
            Expect(alerts=(AlertExpectation(name="Errors", alert_class="MayFire"),)),
            (150.0, None),
            ("SK303", Severity.WARNING, "firing from +50 s"),
        ),
        (
            Expect(alerts=(AlertExpectation(name="Errors", entity=Reference("Deployment", "ad")),)),
            (150.0, None),
            ("SK303", Severity.WARNING, "firing from +50 s"),
        ),
    ],
)
def test_alerts_before_injection_are_reported(expect, firing, found):
    assert brief(
        control_runs.check_quiet(history(alert("Errors", "Deployment/web", firing)), expect, 100.0, 400.0)
    ) == ([found] if found else [])


def test_background_alert_does_not_hide_others():
    seen = history(alert("Errors", "Deployment/web", (0.0, None)), alert("Other", "", (0.0, None)))
    assert [
        f.message.split(" fires")[0] for f in control_runs.check_quiet(seen, Expect(background=(CHRONIC,)), 0.0, 9.0)
    ] == ["Other"]


@pytest.mark.parametrize(
    ("spans", "over"),
    [
        ([((40.0, 160.0), ()), ((50.0, 170.0), ())], 170.0),
        ([((40.0, 160.0), ()), ((50.0, None), ())], None),
        ([((100.0, 160.0), ())], 160.0),
        ([((101.0, 160.0), ())], 100.0),
        ([((40.0, 100.0), ())], 100.0),
        ([(None, (100.0, 130.0))], 130.0),
        ([(None, (101.0, 130.0))], 100.0),
        ([(None, (20.0, 100.0))], 100.0),
        ([((115.0, 160.0), (100.0, 115.0))], 160.0),
        ([((116.0, 160.0), (20.0, 115.0))], 115.0),
        ([((115.0, 160.0), (101.0, 115.0))], 100.0),
    ],
)
def test_startup_ends_when_startup_alerts_clear(spans, over):
    lines = [
        alert(f"A{i}", "", *([firing] if firing else []), pending=[pending] if pending else [])
        for i, (firing, pending) in enumerate(spans)
    ]
    assert control_runs.find_startup_end(history(*lines), Expect(), 100.0) == over


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "Errors on Deployment/web fires although no fault was injected"),
        ({"harmless": ["a", "b"]}, "Errors on Deployment/web fires although nothing but a, b was injected"),
        ({"sham": True}, "Errors on Deployment/web fires although workloads were only restarted, as the fault does"),
    ],
)
def test_control_finding_describes_the_control(more, message):
    (found,) = control_runs.check_control(
        history(alert("Errors", "Deployment/web", (150.0, None))), Expect(), 100.0, 400.0, **more
    )
    assert (found.code, found.severity, found.message) == ("SK307", Severity.ERROR, message)
    assert found.observed == "firing from +50 s in the control run"
    assert ("distractor" in found.fix) is ("harmless" in more)
    assert ("distractor" in found.why) is ("harmless" in more)


@pytest.mark.parametrize(
    ("expect", "sham", "background"),
    [(Expect(), False, True), (Expect(), True, False), (Expect(alerts=(WEB,)), False, False)],
)
def test_only_unexpected_alerts_of_the_healthy_app_become_background(expect, sham, background):
    seen = history(alert("Errors", "Deployment/web", (150.0, None)))
    (found,) = control_runs.check_control(seen, expect, 100.0, 400.0, sham=sham)
    assert ("expect.background" in found.fix) is background


@pytest.mark.parametrize(("entity", "found"), [("Deployment/web", []), ("Deployment/ad", ["SK307"])])
def test_declared_distractor_alert_may_fire_on_its_object(entity, found):
    own = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), alert_class="MayFire", after="calm")
    seen = history(alert("Errors", entity, (150.0, None)))
    reported = control_runs.check_control(seen, Expect(alerts=(own,)), 100.0, 400.0, harmless=["calm"], own=[own])
    assert [f.code for f in reported] == found


def test_unused_background_alert_is_a_warning():
    (found,) = control_runs.check_unused_background(history(), Expect(background=(CHRONIC,)), 0.0, 100.0)
    assert (found.code, found.severity) == ("SK330", Severity.WARNING)


@pytest.mark.parametrize(
    ("expect", "firing", "message"),
    [
        (Expect(), (1200.0, 1300.0), "Errors on Deployment/web fires although there is no incident"),
        (
            Expect(background=(CHRONIC,)),
            (1200.0, None),
            "Errors on Deployment/web fires and does not resolve: an incident",
        ),
    ],
)
def test_alert_without_incident_is_sk307(expect, firing, message):
    (found,) = control_runs.check_no_incident(
        history(alert("Errors", "Deployment/web", firing)), expect, 1000.0, 2000.0
    )
    assert (found.code, found.severity, found.message) == ("SK307", Severity.ERROR, message)
    assert found.observed == "firing from +200 s"


def test_only_may_fire_and_background_alerts_pass_without_incident():
    may = AlertExpectation(name="Fine", alert_class="MayFire")
    chronic = BackgroundAlert(name="Old", reason="x")
    seen = history(
        alert("Old", "", (100.0, None)), alert("Fine", "", (1200.0, 1300.0)), alert("Bad", "", (1200.0, 1300.0))
    )
    found = control_runs.check_no_incident(seen, Expect(alerts=(may,), background=(chronic,)), 1000.0, 2000.0)
    assert [f.message.split(" fires")[0] for f in found] == ["Bad"]

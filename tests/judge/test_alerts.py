"""Alert histories against expectations: each phase, held and broken."""

import pytest

from scenario_kit.judge.alerts import control_runs, incident_alerts, missing_alerts
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Interval, Reference
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect

ERRORS = AlertExpectation(name="HighRequestErrorRate", entity=Reference("Deployment", "frontend"), within_seconds=480)


def history(*timelines, end=2000.0):
    return AlertHistory(start=0.0, end=end, timelines=timelines)


def alert(name, entity, *spans):
    return AlertTimeline(
        name=name,
        entity=Reference.parse(entity) if entity else None,
        firing=tuple(Interval(start=a, end=b) for a, b in spans),
    )


def codes(findings):
    return [f.code for f in findings]


FRONTEND = alert("HighRequestErrorRate", "Deployment/frontend", (1200.0, None))
CART = alert("HighRequestErrorRate", "Deployment/cart", (1200.0, None))


@pytest.mark.parametrize(
    ("timelines", "within", "expected"),
    [
        ((FRONTEND,), 480, []),
        ((FRONTEND,), 100, ["SK322"]),
        ((CART,), 480, ["SK326"]),
        ((), 480, ["SK322"]),
        ((alert("HighRequestErrorRate", "Deployment/frontend", (100.0, 900.0)),), 480, ["SK322"]),
    ],
    ids=["in time", "too late", "another entity", "never", "only before injection"],
)
def test_fired(timelines, within, expected):
    expect = Expect(alerts=(ERRORS,))
    assert codes(incident_alerts.check_fired(history(*timelines), expect, 1000.0, {ERRORS: within})) == expected


@pytest.mark.parametrize(
    ("timelines", "fix"),
    [((), "spec.app.alertPacks"), ((alert("Throttled", "Deployment/ad", (1100.0, None)),), "see observed")],
    ids=["nothing fired", "something else fired"],
)
def test_fix_for_silent_alert_follows_observation(timelines, fix):
    found = incident_alerts.check_fired(history(*timelines), Expect(alerts=(ERRORS,)), 1000.0, {ERRORS: 480})
    assert fix in found[0].fix


def build_unused_rules(*timelines):
    return missing_alerts.UnusedRules(history(*timelines), ("default", "lags"))


@pytest.mark.parametrize(
    ("build_unused_rules", "reported"),
    [
        ({}, ""),
        ({"lags": build_unused_rules(alert("Lag", "Deployment/kafka", (100.0, None)))}, ""),
        (
            {
                "lags": build_unused_rules(
                    alert("Lag", "Deployment/kafka", (1100.0, 1200.0)), alert("Lag", "", (1300.0, None))
                ),
                "calm": build_unused_rules(),
                "work": build_unused_rules(alert("Idle", "Deployment/ad", (1100.0, None))),
            },
            "Lag, Lag on Deployment/kafka (pack 'lags'); Idle on Deployment/ad (pack 'work')",
        ),
    ],
    ids=["no other pack", "chronic", "two packs"],
)
def test_silent_alert_names_packs_whose_rules_fire(build_unused_rules, reported):
    (silent,) = incident_alerts.check_fired(history(), Expect(alerts=(ERRORS,)), 1000.0, {ERRORS: 480})
    found = missing_alerts.explain_silence(silent, build_unused_rules, 1000.0)
    assert reported in found.observed
    assert (found == silent) != bool(reported)
    assert ("write `alertPacks: [default, lags]`" in found.fix) == bool(reported)


def test_quiet_distinguishes_expected_chronic_and_background_alerts():
    expect = Expect(alerts=(ERRORS,), background=(BackgroundAlert(name="Watchdog", reason="always on"),))
    noisy = history(
        alert("HighRequestErrorRate", "Deployment/frontend", (50.0, 90.0)),
        alert("Watchdog", "", (0.0, None)),
        alert("Throttled", "Deployment/ad", (0.0, None)),
    )
    assert codes(control_runs.check_quiet(noisy, expect, 0.0, 360.0)) == ["SK302", "SK303"]
    assert codes(control_runs.check_control(noisy, expect, 0.0, 360.0)) == ["SK307", "SK307"]
    assert (
        control_runs.check_quiet(noisy, Expect(alerts=(ERRORS,), background=expect.background), 100.0, 110.0)[0].code
        == "SK303"
    )
    promised, other = control_runs.check_control(noisy, expect, 0.0, 360.0)
    assert promised.fix == "use a rule with a longer `for`, or another alert"
    assert "add {name: Throttled, entity: Deployment/ad, reason: …} to expect.background" in other.fix


@pytest.mark.parametrize(
    ("spans", "expected"),
    [([], ["SK330"]), ([(0.0, None)], []), ([(200.0, 230.0)], []), ([(0.0, 50.0)], ["SK330"])],
    ids=["never", "always", "for a while", "before it began"],
)
def test_declared_background_alert_fires_without_fault(spans, expected):
    expect = Expect(alerts=(ERRORS,), background=(BackgroundAlert(name="Watchdog", reason="always on"),))
    seen = history(*([alert("Watchdog", "", *spans)] if spans else []))
    assert codes(control_runs.check_unused_background(seen, expect, 100.0, 460.0)) == expected


@pytest.mark.parametrize(("began", "expected"), [(0.0, []), (150.0, ["SK307"])], ids=["fired before", "fires since"])
@pytest.mark.parametrize("done", [{"harmless": ["calm"]}, {"sham": True}], ids=["a distractor", "a rollout"])
def test_alert_after_an_action_is_no_background(done, began, expected):
    expect = Expect(alerts=(ERRORS,), background=(BackgroundAlert(name="Watchdog", reason="always on"),))
    seen = history(alert("Watchdog", "", (began, None)))
    assert codes(control_runs.check_control(seen, expect, 100.0, 460.0, **done)) == expected
    assert codes(control_runs.check_control(seen, expect, 100.0, 460.0)) == []


def test_forbidden_alerts_break_and_undeclared_ones_warn():
    expect = Expect(alerts=(ERRORS, AlertExpectation(name="KubePodNotReady", alert_class="MustNotFire")))
    seen = history(FRONTEND, alert("KubePodNotReady", "Deployment/cart", (1300.0, 1400.0)), CART)
    assert codes(incident_alerts.check_forbidden(seen, expect, 1000.0, 2000.0)) == ["SK321", "SK325"]
    assert codes(incident_alerts.check_forbidden(seen, expect, 1500.0, 2000.0)) == ["SK325"]


def test_healed_alert_breaks_hold_and_still_firing():
    expect = Expect(alerts=(ERRORS,))
    healed = history(alert("HighRequestErrorRate", "Deployment/frontend", (1200.0, 1500.0)))
    assert incident_alerts.check_held(history(FRONTEND), expect, 2000.0) == []
    assert codes(incident_alerts.check_held(healed, expect, 2000.0)) == ["SK305"]
    assert incident_alerts.check_held(healed, expect, 2000.0, 600.0) == [], "of a fault that recurs"
    assert codes(incident_alerts.check_held(healed, expect, 2200.0, 600.0)) == ["SK305"]
    assert (
        incident_alerts.check_still_firing(history(FRONTEND), expect, 2000.0, code="SK431", procedure="restart") == []
    )
    assert codes(incident_alerts.check_still_firing(healed, expect, 2000.0, code="SK431", procedure="restart")) == [
        "SK431"
    ]


def test_one_remaining_symptom_proves_decoy_failed():
    other = AlertExpectation(name="NoRequestsReceived")
    seen = history(FRONTEND, alert("NoRequestsReceived", "Deployment/cart", (1200.0, 1500.0)))
    assert (
        incident_alerts.check_still_firing(seen, Expect(alerts=(ERRORS, other)), 2000.0, code="SK431", procedure="x")
        == []
    )


LATENCY = AlertExpectation(name="Latency", alert_class="MayFire")
CHRONIC = BackgroundAlert(name="Latency", reason="always on")


@pytest.mark.parametrize(
    ("expect", "spans", "expected"),
    [
        pytest.param(Expect(), [(1200.0, 1300.0)], ["SK307"], id="undeclared"),
        pytest.param(Expect(alerts=(LATENCY,)), [(1200.0, 1300.0)], [], id="may fire and passes"),
        pytest.param(Expect(alerts=(LATENCY,)), [(1200.0, None)], ["SK307"], id="may fire and lasts"),
        pytest.param(Expect(background=(CHRONIC,)), [(100.0, None)], [], id="on all the time"),
        pytest.param(Expect(background=(CHRONIC,)), [(100.0, 200.0), (1200.0, None)], [], id="was on before"),
        pytest.param(Expect(background=(CHRONIC,)), [(1200.0, 1300.0)], [], id="said to be chronic, and passes"),
        pytest.param(Expect(background=(CHRONIC,)), [(1200.0, None)], ["SK307"], id="said to be chronic, and new"),
        pytest.param(Expect(), [(100.0, 200.0)], [], id="over before"),
    ],
)
def test_alerts_without_incident_must_not_last(expect, spans, expected):
    seen = history(alert("Latency", "Deployment/ad", *spans))
    assert codes(control_runs.check_no_incident(seen, expect, 1000.0, 2000.0)) == expected


@pytest.mark.parametrize(
    ("pending", "firing", "over"),
    [
        ((), (), 100.0),
        ((), ((40.0, 90.0),), 100.0),
        ((), ((40.0, 160.0),), 160.0),
        (((20.0, 115.0),), ((115.0, 160.0),), 160.0),
        (((20.0, 130.0),), (), 130.0),
        (((20.0, None),), (), None),
        (((20.0, 115.0),), ((115.0, None),), None),
        (((105.0, 115.0),), ((115.0, None),), 100.0),
    ],
    ids=["nothing", "before", "firing", "pending, then firing", "pending", "still pending", "still firing", "later"],
)
def test_startup_end_is_after_startup_alerts(pending, firing, over):
    spans = {"pending": pending, "firing": firing}
    made = {field: tuple(Interval(start=a, end=b) for a, b in each) for field, each in spans.items()}
    seen = history(AlertTimeline(name="Slow", entity=Reference("Deployment", "cart"), **made))
    assert control_runs.find_startup_end(seen, Expect(), 100.0) == over
    chronic = Expect(background=(BackgroundAlert(name="Slow", reason="it always does"),))
    assert control_runs.find_startup_end(seen, chronic, 100.0) == 100.0

"""Findings about missing alerts."""

import pytest

from scenario_kit.judge.alerts.missing_alerts import UnusedRules, check_unnoticed, explain_silence
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Finding, Interval, Severity
from scenario_kit.model.authored.scenario import Expect

MISSING = Finding(code="SK322", severity=Severity.ERROR, message="no", observed="nothing", fix="f")


def history(**firing):
    timelines = tuple(
        AlertTimeline(name=name, firing=tuple(Interval(start=a, end=b) for a, b in spans))
        for name, spans in firing.items()
    )
    return AlertHistory(start=0.0, end=2000.0, timelines=timelines)


@pytest.mark.parametrize(
    ("alert_class", "firing", "noticed"),
    [
        (None, {}, False),
        (None, {"A": [(1001.0, 1100.0)]}, True),
        (None, {"A": [(1000.0, None)]}, False),
        (None, {"A": [(500.0, 600.0)], "B": [(1500.0, None)]}, True),
        ("MustFire", {}, True),
        ("MayFire", {}, False),
        ("MustNotFire", {}, False),
    ],
)
def test_incident_without_must_fire_needs_any_alert(alert_class, firing, noticed):
    alerts = (AlertExpectation(name="A", alert_class=alert_class),) if alert_class else ()
    found = check_unnoticed(history(**firing), Expect(alerts=alerts), 1000.0)
    assert [(f.code, f.severity) for f in found] == ([] if noticed else [("SK322", Severity.ERROR)])


def test_rules_of_other_packs_are_listed_with_a_fix():
    beside = {
        "slow": UnusedRules(history(Slow=[(1100.0, None)], Late=[(1200.0, None)]), ("red", "slow")),
        "disk": UnusedRules(history(Full=[(1100.0, None)]), ("red", "disk")),
        "none": UnusedRules(history(), ("none",)),
    }
    found = explain_silence(MISSING, beside, 1000.0)
    assert (found.code, found.severity, found.message) == ("SK322", Severity.ERROR, "no")
    assert found.observed.startswith("nothing; ")
    assert found.observed.endswith("Full (pack 'disk'); Late, Slow (pack 'slow')")
    assert "`alertPacks: [red, disk]`" in found.fix


@pytest.mark.parametrize(
    ("firing", "reported"),
    [
        ([(1100.0, None)], True),
        ([(500.0, 600.0), (1100.0, 1200.0)], True),
        ([(900.0, None)], False),
        ([(1000.0, None)], False),
        ([(500.0, 600.0)], False),
        ([], False),
    ],
)
def test_silence_is_explained_by_alerts_since_incident(firing, reported):
    found = explain_silence(MISSING, {"p": UnusedRules(history(A=firing), ("p",))}, 1000.0)
    assert (found != MISSING) is reported

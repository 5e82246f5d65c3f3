"""Tests of what counts as the same incident on a real node and in a lab."""

import pytest

from scenario_kit.model import AlertHistory, AlertTimeline, Interval, Reference
from tools.realnode import comparison
from tools.realnode.comparison import (
    EDGE_SECONDS,
    ONSET_BAND,
    RECOVERY_BAND,
    ComparedAlert,
    Episode,
    KnownDifference,
    Measurement,
    compare_episodes,
    format_comparison,
    list_unexplained,
    measure,
)


def history(*firing, name="High", entity="Deployment/desk", end=1000.0):
    intervals = tuple(Interval(start=start, end=stop) for start, stop in firing)
    return AlertHistory(
        start=0,
        end=end,
        timelines=(AlertTimeline(name=name, entity=Reference.parse(entity) if entity else None, firing=intervals),),
    )


def build_comparison(real, twin):
    return ComparedAlert(scenario="s", alert="High", entity="e", real=real, twin=twin)


def build_measurement(onset=90.0, recovery=45.0, seconds=240.0):
    return Measurement(onset=onset, recovery=recovery, seconds=seconds)


def test_onset_counts_from_injection_and_recovery_from_repair():
    found = measure(Episode(100, 300, history((190, 345))))
    assert found == {("High", "Deployment/desk"): Measurement(onset=90, recovery=45, seconds=155)}


def test_pods_of_a_workload_are_merged():
    found = measure(Episode(100, 300, history((190, 220), (160, 330))))
    assert found["High", "Deployment/desk"] == Measurement(onset=60, recovery=30, seconds=170)


def test_unresolved_alert_has_no_recovery():
    assert measure(Episode(100, 300, history((190, None))))["High", "Deployment/desk"].recovery is None


@pytest.mark.parametrize("interval", [(50, 340), (300, 340), (310, 340)])
def test_alerts_outside_the_episode_are_ignored(interval):
    assert measure(Episode(100, 300, history(interval))) == {}


def test_episodes_are_compared_over_equal_time():
    real = Episode(100, 300, history((290, 340)))
    twin = Episode(1000, 1100, history((1090, 1140), end=2000))
    (row,) = compare_episodes("s", real, twin)
    assert row.real is None
    assert row.twin is not None


@pytest.mark.parametrize(
    ("real", "twin", "differs"),
    [
        (build_measurement(), build_measurement(), ()),
        (build_measurement(), build_measurement(onset=90 + ONSET_BAND), ()),
        (build_measurement(), build_measurement(onset=91 + ONSET_BAND), ("onset",)),
        (build_measurement(), build_measurement(recovery=45 + RECOVERY_BAND), ()),
        (build_measurement(), build_measurement(recovery=46 + RECOVERY_BAND), ("recovery",)),
        (build_measurement(), build_measurement(recovery=None), ("recovery",)),
        (build_measurement(onset=300, recovery=0), build_measurement(recovery=200), ("onset", "recovery")),
        (build_measurement(), None, ("alert",)),
        (None, build_measurement(), ("alert",)),
        (None, build_measurement(seconds=EDGE_SECONDS - 1), ()),
    ],
)
def test_differences_beyond_the_band_are_listed(real, twin, differs):
    assert build_comparison(real, twin).differences == differs


@pytest.mark.parametrize(
    ("real", "twin", "overbooked", "explained"),
    [
        (build_measurement(onset=200), build_measurement(), True, True),
        (build_measurement(onset=200), build_measurement(), False, False),
        (build_measurement(), build_measurement(onset=200), True, False),
        (build_measurement(recovery=300), build_measurement(), True, False),
        (None, build_measurement(), True, False),
    ],
)
def test_busy_machine_explains_late_onsets_only(real, twin, overbooked, explained):
    unexplained = list_unexplained([build_comparison(real, twin)], overbooked=overbooked)
    assert (unexplained == []) == explained


def test_known_difference_applies_to_its_scenario_only(monkeypatch):
    known = KnownDifference("a", "High", "alert", "the twin has no clouds")
    monkeypatch.setattr(comparison, "KNOWN", (known,))
    rows = [
        ComparedAlert(scenario=name, alert=known.alert, entity="e", real=build_measurement(), twin=None)
        for name in (known.scenario, "another")
    ]
    assert list_unexplained(rows, overbooked=False) == [f"another: alert of {known.alert} on e"]


def test_difference_of_an_overloaded_machine_needs_one(monkeypatch):
    known = KnownDifference("s", "High", "alert", "it waits for its turn", overbooked=True)
    monkeypatch.setattr(comparison, "KNOWN", (known,))
    row = build_comparison(build_measurement(), None)
    assert list_unexplained([row], overbooked=True) == []
    assert list_unexplained([row], overbooked=False) == ["s: alert of High on e"]


def test_table_has_a_row_per_alert():
    text = format_comparison([build_comparison(build_measurement(), None)])
    assert text.splitlines()[-1] == "| s | High | e | 90, – | 45, – | alert |"

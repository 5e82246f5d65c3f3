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


def compared(real, twin):
    return ComparedAlert(scenario="s", alert="High", entity="e", real=real, twin=twin)


def measured(onset=90.0, recovery=45.0, seconds=240.0):
    return Measurement(onset=onset, recovery=recovery, seconds=seconds)


def test_onset_counts_from_injection_and_recovery_from_repair():
    found = measure(Episode(100, 300, history((190, 345))))
    assert found == {("High", "Deployment/desk"): Measurement(onset=90, recovery=45, seconds=155)}


def test_pods_of_a_workload_are_one():
    found = measure(Episode(100, 300, history((190, 220), (160, 330))))
    assert found["High", "Deployment/desk"] == Measurement(onset=60, recovery=30, seconds=170)


def test_what_goes_on_has_no_recovery():
    assert measure(Episode(100, 300, history((190, None))))["High", "Deployment/desk"].recovery is None


@pytest.mark.parametrize("interval", [(50, 340), (300, 340), (310, 340)])
def test_alerts_outside_the_episode_are_ignored(interval):
    assert measure(Episode(100, 300, history(interval))) == {}


def test_both_are_looked_at_for_the_same_time():
    real = Episode(100, 300, history((290, 340)))
    twin = Episode(1000, 1100, history((1090, 1140), end=2000))
    (row,) = compare_episodes("s", real, twin)
    assert row.real is None
    assert row.twin is not None


@pytest.mark.parametrize(
    ("real", "twin", "differs"),
    [
        (measured(), measured(), ()),
        (measured(), measured(onset=90 + ONSET_BAND), ()),
        (measured(), measured(onset=91 + ONSET_BAND), ("onset",)),
        (measured(), measured(recovery=45 + RECOVERY_BAND), ()),
        (measured(), measured(recovery=46 + RECOVERY_BAND), ("recovery",)),
        (measured(), measured(recovery=None), ("recovery",)),
        (measured(onset=300, recovery=0), measured(recovery=200), ("onset", "recovery")),
        (measured(), None, ("alert",)),
        (None, measured(), ("alert",)),
        (None, measured(seconds=EDGE_SECONDS - 1), ()),
    ],
)
def test_what_is_beyond_the_band(real, twin, differs):
    assert compared(real, twin).differences == differs


@pytest.mark.parametrize(
    ("real", "twin", "overbooked", "explained"),
    [
        (measured(onset=200), measured(), True, True),
        (measured(onset=200), measured(), False, False),
        (measured(), measured(onset=200), True, False),
        (measured(recovery=300), measured(), True, False),
        (None, measured(), True, False),
    ],
)
def test_a_busy_machine_explains_late_onsets_only(real, twin, overbooked, explained):
    unexplained = list_unexplained([compared(real, twin)], overbooked=overbooked)
    assert (unexplained == []) == explained


def test_a_known_difference_is_one_of_its_scenario_only(monkeypatch):
    known = KnownDifference("a", "High", "alert", "the twin has no clouds")
    monkeypatch.setattr(comparison, "KNOWN", (known,))
    rows = [
        ComparedAlert(scenario=name, alert=known.alert, entity="e", real=measured(), twin=None)
        for name in (known.scenario, "another")
    ]
    assert list_unexplained(rows, overbooked=False) == [f"another: alert of {known.alert} on e"]


def test_the_table_has_a_row_for_each():
    text = format_comparison([compared(measured(), None)])
    assert text.splitlines()[-1] == "| s | High | e | 90, – | 45, – | alert |"

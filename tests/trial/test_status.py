"""Conditions follow the API conventions."""

import msgspec

from scenario_kit.trial.status import TrialStatus, set_condition


def test_transition_time_moves_only_with_the_status():
    first = set_condition((), "AppReady", "False", "Waiting", "", 1)
    old = tuple(msgspec.structs.replace(c, last_transition_time="2020-01-01T00:00:00Z") for c in first)
    same = set_condition(old, "AppReady", "False", "StillWaiting", "x", 2)
    moved = set_condition(old, "AppReady", "True", "Ready", "", 2)
    assert same[0].last_transition_time == "2020-01-01T00:00:00Z"
    assert (same[0].reason, same[0].observed_generation) == ("StillWaiting", 2)
    assert moved[0].last_transition_time > "2020-01-01T00:00:00Z"


def test_conditions_are_sorted_by_first_use():
    status = TrialStatus().with_condition("Succeeded", "True", "A", "").with_condition("AppReady", "True", "B", "")
    assert [c.type for c in status.conditions] == ["AppReady", "Succeeded"]


def test_status_round_trips_through_json():
    status = TrialStatus(started_at=15.0).with_condition("AppReady", "True", "B", "")
    assert TrialStatus.from_json(status.to_json()) == status

"""Estimates of a campaign's duration on a wall clock."""

import msgspec
import pytest

from scenario_kit.campaign import PlannedTrial, get_plan, plan_trials
from scenario_kit.campaign.planning.duration import Duration, estimate_campaign, estimate_trial, format_duration
from scenario_kit.catalog import Catalog
from scenario_kit.load import load_scenario
from scenario_kit.model import TrialStep
from scenario_kit.model.results.trial import StepKind
from scenario_kit.render import resolve

CATALOG = Catalog()
FILE = next(path for path in CATALOG.scenarios() if path.parent.name == "cart-scaled-to-zero")
SAMPLE = resolve(load_scenario(FILE).scenario, CATALOG, "app", beside=FILE)
WINDOWS = SAMPLE.windows


def step(kind, **more):
    return estimate_trial([TrialStep(kind=kind, **more)], SAMPLE)


@pytest.mark.parametrize("kind", StepKind.__args__)
def test_every_step_has_a_duration_within_its_deadline(kind):
    found = step(kind)
    assert 0 < found.expected <= found.longest


@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        ("expectQuiet", {}, WINDOWS.quiet),
        ("expectQuiet", {"seconds": 77}, 77),
        ("hold", {}, WINDOWS.hold),
        ("expectStillFiring", {}, WINDOWS.resolve),
        ("expectUnresolved", {}, WINDOWS.still_firing + WINDOWS.clear),
    ],
)
def test_step_duration_is_its_rule_window(kind, more, expected):
    assert step(kind, **more).expected == expected


def test_expect_alerts_lasts_until_the_deadline_at_most():
    within = max(e.within_seconds for e in SAMPLE.expect.alerts if e.alert_class == "MustFire")
    assert step("expectAlerts").longest == within


def test_without_alerts_nothing_is_waited_for():
    quiet = msgspec.structs.replace(SAMPLE, expect=msgspec.structs.replace(SAMPLE.expect, alerts=()))
    assert estimate_trial([TrialStep(kind="expectAlerts")], quiet) == Duration(0, 0)


def test_longer_rule_windows_lengthen_a_trial():
    slow = tuple(msgspec.structs.replace(r, for_seconds=r.for_seconds + 600) for r in SAMPLE.rules)
    slower = msgspec.structs.replace(SAMPLE, rules=slow)
    quiet = [TrialStep(kind="expectQuiet", seconds=60)]
    assert estimate_trial(quiet, slower).longest == estimate_trial(quiet, SAMPLE).longest + 600


def plan(*lengths):
    steps = [(TrialStep(kind="expectUnresolved", seconds=s),) for s in lengths]
    return [PlannedTrial(purpose=f"repeat-{i}", describe="", steps=s, seed=i) for i, s in enumerate(steps, start=1)]


@pytest.mark.parametrize(
    ("parallel", "expected"), [(1, 110), (2, 60), (3, 50), (9, 50)], ids=["alone", "two", "three", "many"]
)
def test_parallel_trials_take_as_long_as_the_fullest_worker(parallel, expected):
    found = estimate_campaign(get_plan("try"), plan(50, 40, 20), SAMPLE, parallel)
    assert found == Duration(expected, expected)


def test_longest_campaign_uses_every_planned_repeat():
    found = estimate_campaign(get_plan("standard"), plan(10, 10, 10, 10, 10), SAMPLE, 1)
    assert found == Duration(50, 100)


def test_catalogue_plan_takes_a_few_hours_at_most():
    found = estimate_campaign(get_plan("quick"), plan_trials(get_plan("quick"), SAMPLE, 1), SAMPLE, 2)
    assert 30 * 60 < found.expected < 4 * 3600
    assert found.expected < found.longest < 24 * 3600


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "1 min"), (61, "1 min"), (3600, "1 h"), (7860, "2 h 11 min"), (90000, "25 h")]
)
def test_duration_format(seconds, text):
    assert format_duration(seconds) == text

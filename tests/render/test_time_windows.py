"""Windows from rules: the formulas of docs/plans.md on small numbers."""

import pytest

from scenario_kit.model import AlertExpectation, AlertRule, Windows
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.render import compute_windows


def rule(name, for_seconds, range_seconds=0):
    return AlertRule(name=name, expr="up", for_seconds=for_seconds, range_seconds=range_seconds)


ERRORS, SILENCE, NOT_READY = rule("Errors", 180, 120), rule("Silence", 300, 300), rule("NotReady", 300)


def expect(**classes):
    return Expect(alerts=tuple(AlertExpectation(name=n, alert_class=c) for n, c in classes.items()))


@pytest.mark.parametrize(
    ("rules", "expectation", "expected"),
    [
        # docs/plans.md: `for: 2m` gives a quiet window of 180 s, `for: 5m` one of 360 s
        ([rule("A", 120)], None, Windows(quiet=180, hold=180, still_firing=150, clear=180, resolve=1080)),
        ([rule("A", 300)], None, Windows(quiet=360, hold=360, still_firing=330, clear=360, resolve=1260)),
        (
            [ERRORS, SILENCE, NOT_READY],
            expect(Errors="MustFire"),
            Windows(quiet=360, hold=360, still_firing=330, clear=360, resolve=1380),
        ),
        (
            [ERRORS, SILENCE, NOT_READY],
            expect(Errors="MustFire", Silence="MustNotFire"),
            Windows(quiet=360, hold=660, still_firing=330, clear=360, resolve=1380),
        ),
        (
            [ERRORS, SILENCE, NOT_READY],
            expect(Errors="MayFire", Silence="MustFire"),
            Windows(quiet=360, hold=660, still_firing=630, clear=660, resolve=1860),
        ),
        (
            [ERRORS, SILENCE, NOT_READY],
            expect(Silence="MustNotFire"),
            Windows(quiet=360, hold=660, still_firing=630, clear=660, resolve=1860),
        ),
        ([], None, Windows(quiet=60, hold=60, still_firing=30, clear=60, resolve=960)),
    ],
)
def test_windows(rules, expectation, expected):
    assert compute_windows(rules, expectation) == expected


def test_alert_of_several_rules_uses_the_longest_window():
    twice = [rule("Errors", 60), rule("Errors", 180, 120)]
    assert compute_windows(twice, expect(Errors="MustFire")).still_firing == 330


def test_windows_include_the_period_of_a_recurring_fault():
    rules = [ERRORS, SILENCE, NOT_READY]
    once = compute_windows(rules, expect(Errors="MustFire"))
    again = compute_windows(rules, expect(Errors="MustFire"), 900)
    assert again.quiet == once.quiet
    for window in ("hold", "still_firing", "clear", "resolve"):
        assert getattr(again, window) == getattr(once, window) + 900
    assert (once.period, again.period) == (0, 900)

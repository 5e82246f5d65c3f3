"""Estimate the wall-clock duration of a campaign in advance: from rules, windows, plan and deadlines. Pure.

Two numbers are given. *expected* is what it takes where everything goes as promised; *longest* is the sum of the
deadlines, by which the last trial has ended in any case (docs/plans.md).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.campaign.planning.plans import Plan, PlannedTrial
from scenario_kit.model import Runbook, TrialStep
from scenario_kit.model.authored.alert_rule import DEADLINE_SLACK, compute_alert_deadline, find_slowest
from scenario_kit.model.grid import GRID_SECONDS, TRAFFIC_SECONDS
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.trial.deploy import CLEAN_DEADLINE, READY_DEADLINE

#: Seconds that a rollout, an undo or the removal of an app usually takes on a real cluster.
_ROLLOUT: Final = 60
#: Seconds that an app usually needs until all of it is ready, its images being there.
_START: Final = 180
#: Seconds after which undoing one procedure is given up, and its workloads are no longer waited for.
_UNDO: Final = 420
#: Seconds in which Chaos Mesh has to inject one experiment.
_INJECTION: Final = 120
#: Seconds that a repaired workload has for a restart, for staying up after it, and an alert for ending after that.
_LASTING: Final = 600 + 120 + 300
#: Seconds that an alert has for ending after the labels are repaired, beyond its rule's range.
_ENDING: Final = 300
_LOOK: Final = 60


class Duration(NamedTuple):
    """Seconds on a wall clock: what is expected, and the longest that deadlines allow."""

    expected: float
    longest: float

    def __add__(self, other: Duration) -> Duration:  # type: ignore[override]
        """Return one after the other."""
        return Duration(self.expected + other.expected, self.longest + other.longest)


def estimate_campaign(plan: Plan, planned: Sequence[PlannedTrial], runbook: Runbook, parallel: int) -> Duration:
    """Estimate a campaign of which ``parallel`` trials run at once.

    The longest one needs every repeat that the plan may ask for. Trials that infrastructure ends are not counted.
    """
    trials = [estimate_trial(each.steps, runbook) for each in planned]
    repeat = next((t for t, p in zip(trials, planned, strict=True) if is_repeat(p.purpose)), Duration(0, 0))
    further = [repeat] * (plan.looks[-1].n - plan.looks[0].n)
    return Duration(
        _schedule((t.expected for t in trials), parallel), _schedule((t.longest for t in [*trials, *further]), parallel)
    )


def _schedule(lengths: Iterable[float], parallel: int) -> float:
    """Return when the last of some trials ends, if each begins, in this order, as soon as one of the places is free."""
    places = [0.0] * max(1, parallel)
    for length in lengths:
        heapq.heapreplace(places, places[0] + length)
    return max(places)


def estimate_trial(steps: Iterable[TrialStep], runbook: Runbook) -> Duration:
    """Estimate a trial, step by step."""
    total = Duration(0, 0)
    for step in steps:
        total += _STEPS[step.kind](step, runbook)
    return total


def _estimate_quiet(step: TrialStep, runbook: Runbook) -> Duration:
    """Alerts of the app's start may have to clear before."""
    length = step.seconds or runbook.windows.quiet
    return Duration(length, length + find_slowest(runbook.rules) + DEADLINE_SLACK)


def _estimate_injection(step: TrialStep, runbook: Runbook) -> Duration:
    chosen = [f for f in runbook.faults if (not step.faults or f.name in step.faults) and f.name not in step.except_]
    delay = max((f.start.after_seconds or 0 for f in chosen), default=0)
    longest = DEADLINE_SLACK + find_slowest(runbook.rules) + runbook.windows.period
    waits = sum(longest for f in chosen if f.start.on_alert is not None)
    proofs = sum(max((c.within_seconds for c in f.effect), default=0) + _INJECTION for f in chosen)
    return Duration(delay + waits / 2 + _ROLLOUT * len(chosen), delay + waits + proofs)


def _estimate_alerts(step: TrialStep, runbook: Runbook) -> Duration:
    del step
    expected = [e for e in runbook.expect.alerts if e.alert_class == "MustFire"]
    period = runbook.windows.period
    due = [compute_alert_deadline(runbook.rules, e.name, e.within_seconds, period=period) for e in expected]
    usual = [period + find_slowest(runbook.rules, e.name) + 2 * GRID_SECONDS for e in expected]
    longest = max(due, default=0)
    return Duration(min(max(usual, default=0), longest), longest)


def _estimate_hold(step: TrialStep, runbook: Runbook) -> Duration:
    length = step.seconds or runbook.windows.hold
    return Duration(length, length + sum(c.within_seconds for c in runbook.expect.checks))


def _estimate_change(step: TrialStep, runbook: Runbook) -> Duration:
    named = [p for p in runbook.procedures if (p.use, p.name) == (step.use, step.name)]
    waits = sum(c.until.within_seconds for p in named for c in p.solution.changes if c.until is not None)
    return Duration(_ROLLOUT, _UNDO + waits)


def _estimate_still_firing(step: TrialStep, runbook: Runbook) -> Duration:
    """Changes that repair nothing are observed until the end of the window in which a slow repair would show."""
    windows = runbook.windows
    if step.seconds:
        return Duration(step.seconds, step.seconds)
    return Duration(windows.resolve, windows.resolve + windows.clear)


def _estimate_clearance(step: TrialStep, runbook: Runbook) -> Duration:
    """A solution has to last: it is looked at for as long again, and the workloads that it repaired are restarted."""
    windows = runbook.windows
    longest = step.seconds or windows.resolve
    usual = min(windows.clear + TRAFFIC_SECONDS, longest)
    slowest = find_slowest(runbook.rules)
    if step.use == "Fix":
        return Duration(usual, longest + slowest + _ENDING)
    if step.use != "Solution":
        return Duration(usual, longest)
    return Duration(
        max(usual, slowest) + windows.clear + _ROLLOUT, longest + 2 * windows.clear + 2 * slowest + _LASTING
    )


def _estimate_unresolved(step: TrialStep, runbook: Runbook) -> Duration:
    length = step.seconds or runbook.windows.still_firing + runbook.windows.clear
    return Duration(length, length)


def _fix_duration(expected: float, longest: float) -> Callable[[TrialStep, Runbook], Duration]:
    return lambda step, runbook: Duration(expected, longest)  # noqa: ARG005 - as long for every step of its kind


_STEPS: Final[Mapping[str, Callable[[TrialStep, Runbook], Duration]]] = {
    "deploy": _fix_duration(_START, READY_DEADLINE),
    "expectQuiet": _estimate_quiet,
    "inject": _estimate_injection,
    "expectAlerts": _estimate_alerts,
    "hold": _estimate_hold,
    "change": _estimate_change,
    "undoChange": _fix_duration(_ROLLOUT, _UNDO),
    "expectCleared": _estimate_clearance,
    "expectStillFiring": _estimate_still_firing,
    "expectUnresolved": _estimate_unresolved,
    "expectNoLeaks": _fix_duration(_LOOK / 4, _LOOK),
    "teardown": _fix_duration(_ROLLOUT, CLEAN_DEADLINE),
    "expectClean": _fix_duration(_LOOK / 4, _LOOK),
}


def format_duration(seconds: float) -> str:
    """Format a duration as people say it: ``40 min``, ``2 h 10 min``."""
    minutes = max(1, round(seconds / 60))
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest else "") if part)

"""Check alert histories in which nothing may fire: before injection, in controls, without an incident. Pure.

See docs/plans.md. Times are seconds on the trial's clock. Functions that begin with `check_` return findings; none
means that the phase passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenario_kit.judge.alerts.expectations import (
    describe_since,
    format_alert,
    is_background,
    is_chronic,
    is_distractor_alert,
    list_by_class,
    list_firing,
    matches,
    select_timelines,
)
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Finding, Interval, Severity
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import Expect


def check_quiet(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Check that no undeclared alert fires before injection; a must-fire alert is an error, any other a warning."""
    findings = []
    for timeline in list_firing(history, start, end):
        if is_background(expect, timeline):
            continue
        must = any(timeline in select_timelines(e, [timeline]) for e in list_by_class(expect, "MustFire"))
        findings.append(
            Finding(
                code="SK302" if must else "SK303",
                severity=Severity.ERROR if must else Severity.WARNING,
                message=f"{name_alert(timeline)} fires before anything was injected",
                observed=f"firing {describe_since(timeline, start, start)}",
                expected="no alert in the quiet window",
                why="a background alert says nothing about the fault",
                fix="choose an alert that the healthy app does not raise, or list it under expect.background",
            )
        )
    return findings


def find_startup_end(history: AlertHistory, expect: Expect, start: float) -> float | None:
    """Return when the alerts that the app's startup raised have ended; None while any is still active.

    These are the alerts pending or firing at ``start``, without declared background alerts. Returns ``start`` if there
    are none.
    """
    ends = [
        interval.end
        for timeline in history.timelines
        if not is_background(expect, timeline)
        for interval in _list_startup_intervals(timeline, start)
    ]
    known = [end for end in ends if end is not None]
    return None if len(known) < len(ends) else max((start, *known))


def _list_startup_intervals(timeline: AlertTimeline, start: float) -> Iterator[Interval]:
    """Yield intervals that span ``start``; a firing interval counts from when it became pending."""
    begun = {p.end: p.start for p in timeline.pending}
    yield from (p for p in timeline.pending if p.start <= start and (p.end is None or p.end > start))
    for stretch in timeline.firing:
        if begun.get(stretch.start, stretch.start) <= start and (stretch.end is None or stretch.end > start):
            yield stretch


def check_control(
    history: AlertHistory,
    expect: Expect,
    start: float,
    end: float,
    *,
    harmless: Sequence[str] = (),
    own: Sequence[AlertExpectation] = (),
    sham: bool = False,
) -> list[Finding]:
    """Check that no alert fires in a control run.

    Args:
        harmless: distractors that were injected.
        own: alerts declared for these distractors.
        sham: only the workload restarts that the injection causes were performed.

    If anything was done at ``start``, a background alert counts as one only if it fired before.
    """
    made = ", ".join(harmless)
    done = "no fault was injected"
    if made or sham:
        done = f"nothing but {made} was injected" if made else "workloads were only restarted, as the fault does"
    return [
        build_finding(
            "SK307",
            message=f"{name_alert(timeline)} fires although {done}",
            observed=f"firing {describe_since(timeline, start, start)} in the control run",
            expected="a control run without alerts",
            why="the distractor does harm" if made else "the alert does not depend on the fault",
            fix="use a milder distractor, declare the alert on its own object (MayFire, `after`), or make it a Cause"
            if made
            else _suggest_fix(expect, timeline, sham),
        )
        for timeline in list_firing(history, start, end)
        if not (is_chronic(history, expect, timeline, start) if made or sham else is_background(expect, timeline))
        and not is_distractor_alert(own, expect, timeline)
    ]


def check_unused_background(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Report declared background alerts that never fire in a run without the fault."""
    seen = list_firing(history, start, end)
    return [
        build_finding(
            "SK330",
            message=f"{name_alert(known)} is declared as a background alert, and never fires",
            observed="not firing at any time in the run without the fault",
            expected="an alert that the healthy app raises",
            fix="remove it from expect.background; alerts of the fault belong under expect.alerts",
        )
        for known in expect.background
        if not any(matches(known, timeline) for timeline in seen)
    ]


def _suggest_fix(expect: Expect, timeline: AlertTimeline, sham: bool) -> str:
    """Suggest a fix for an alert of the healthy app; a must-fire alert cannot be declared as background."""
    if sham or any(select_timelines(e, [timeline]) for e in list_by_class(expect, "MustFire")):
        return "use a rule with a longer `for`, or another alert"
    known = format_alert(timeline, "reason: …")
    return f"add {known} to expect.background if the app raises it anyway, or use a rule with a longer `for`"


def check_no_incident(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Check that only background alerts, or transient MayFire alerts, fire in a scenario without an incident.

    ``start`` is the injection, ``end`` the end of the hold. A background alert must have fired before the injection.
    """
    findings = []
    for timeline in list_firing(history, start, end):
        if is_chronic(history, expect, timeline, start):
            continue
        allowed = is_background(expect, timeline) or any(
            select_timelines(e, [timeline]) for e in list_by_class(expect, "MayFire")
        )
        if not allowed:
            findings.append(
                _report_unexpected(timeline, f"{name_alert(timeline)} fires although there is no incident", start)
            )
        elif timeline.firing_at(end):
            findings.append(
                _report_unexpected(timeline, f"{name_alert(timeline)} fires and does not resolve: an incident", start)
            )
    return findings


def _report_unexpected(timeline: AlertTimeline, message: str, start: float) -> Finding:
    return build_finding(
        "SK307",
        message=message,
        observed=f"firing {describe_since(timeline, start, start)}",
        expected="no alert, or a MayFire alert that resolves by itself",
        why="an alert that pages the on-call engineer is an incident",
        fix="choose the outcome Incident or Benign, or another distractor",
    )

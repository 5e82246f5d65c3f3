"""Alert histories of an app in which nothing is broken, or in which nothing comes of it (docs/plans.md). Pure.

Before the injection, in controls, and in scenarios that are no incident. Times are seconds on the trial's clock. Every
function but one returns findings; none means that the phase held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenario_kit.judge.alerts.expectations import (
    describe_since,
    format_alert,
    is_background,
    is_beside,
    is_chronic,
    label,
    label_expectation,
    list_by_class,
    list_firing,
    matches,
    select_timelines,
)
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Finding, Interval, Severity
from scenario_kit.model.authored.scenario import Expect


def check_quiet(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Check before injection: what must fire later must not fire now; anything else that fires is chronic and
    undeclared.
    """
    findings = []
    for timeline in list_firing(history, start, end):
        if is_background(expect, timeline):
            continue
        must = any(timeline in select_timelines(e, [timeline]) for e in list_by_class(expect, "MustFire"))
        findings.append(
            Finding(
                code="SK302" if must else "SK303",
                severity=Severity.ERROR if must else Severity.WARNING,
                message=f"{label(timeline)} fires before anything was injected",
                observed=f"firing {describe_since(timeline, start, start)}",
                expected="no alert in the quiet window",
                why="a background alert says nothing about the fault",
                fix="choose an alert that the healthy app does not raise, or list it under expect.background",
            )
        )
    return findings


def find_start_end(history: AlertHistory, expect: Expect, start: float) -> float | None:
    """Find when that was over which the start of the app set off, as services fail while those come up that they need.

    It is what was pending or firing at ``start`` already, but for alerts that are declared as chronic. ``start`` where
    there was nothing, None while some of it fires or is pending.
    """
    ends = [
        interval.end
        for timeline in history.timelines
        if not is_background(expect, timeline)
        for interval in _set_off(timeline, start)
    ]
    known = [end for end in ends if end is not None]
    return None if len(known) < len(ends) else max((start, *known))


def _set_off(timeline: AlertTimeline, start: float) -> Iterator[Interval]:
    """Return stretches that had begun by ``start`` and went on; a firing one began when it became pending."""
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
    """Return a run without the fault, with the ``harmless`` ones alone, or with the rollout alone that injecting brings
    with it (``sham``): nothing may fire at any time.

    Where something was done from ``start`` on, only that is chronic which fired before. ``own`` are the alerts that the
    harmless ones are declared to raise.
    """
    made = ", ".join(harmless)
    done = "no fault was injected"
    if made or sham:
        done = f"nothing but {made} was injected" if made else "workloads were only restarted, as the fault does"
    return [
        build_finding(
            "SK307",
            message=f"{label(timeline)} fires although {done}",
            observed=f"firing {describe_since(timeline, start, start)} in the control run",
            expected="a control run without alerts",
            why="then a distractor does harm" if made else "then the fault is not shown to be what makes it fire",
            fix="use a milder distractor, declare the alert on its own object (MayFire, `after`), or make it a Cause"
            if made
            else _suggest_fix(expect, timeline, sham),
        )
        for timeline in list_firing(history, start, end)
        if not (is_chronic(history, expect, timeline, start) if made or sham else is_background(expect, timeline))
        and not is_beside(own, expect, timeline)
    ]


def check_never_on(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Return what is said to be chronically on, and never fires in a run without the fault."""
    seen = list_firing(history, start, end)
    return [
        build_finding(
            "SK330",
            message=f"{label_expectation(known)} is declared as a background alert, and never fires",
            observed="not firing at any time of the run without the fault",
            expected="an alert that the healthy app raises",
            fix="drop it from expect.background; what the fault raises belongs under expect.alerts",
        )
        for known in expect.background
        if not any(matches(known, timeline) for timeline in seen)
    ]


def _suggest_fix(expect: Expect, timeline: AlertTimeline, sham: bool) -> str:
    """Suggest what helps against an alert that the healthy app raises: what is promised cannot be background."""
    if sham or any(select_timelines(e, [timeline]) for e in list_by_class(expect, "MustFire")):
        return "use a rule with a longer `for`, or another alert"
    known = format_alert(timeline, "reason: …")
    return f"add {known} to expect.background if the app raises it anyway, or use a rule with a longer `for`"


def check_nothing(history: AlertHistory, expect: Expect, start: float, end: float) -> list[Finding]:
    """Return where there is no incident, no alert fires but those that are chronic, and those that may fire and pass
    again.

    ``start`` is the injection, ``end`` that of the hold. Chronic is only what fired before the injection as well.
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
                _report_unexpected(timeline, f"{label(timeline)} fires although there is no incident", start)
            )
        elif timeline.firing_at(end):
            findings.append(
                _report_unexpected(timeline, f"{label(timeline)} fires and does not pass, which is an incident", start)
            )
    return findings


def _report_unexpected(timeline: AlertTimeline, message: str, start: float) -> Finding:
    return build_finding(
        "SK307",
        message=message,
        observed=f"firing {describe_since(timeline, start, start)}",
        expected="no alert, or one that may fire and passes by itself",
        why="whoever is paged by an alert has an incident",
        fix="choose the outcome Incident or Benign, or another distractor",
    )

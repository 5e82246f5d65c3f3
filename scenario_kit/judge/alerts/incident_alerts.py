"""Alert histories of an incident against its expectations, phase by phase (docs/plans.md). Pure.

All times are seconds on the trial's clock. Every function returns findings; none means that the phase held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenario_kit.judge.alerts.expectations import (
    describe_since,
    format_alert,
    is_declared,
    label,
    label_expectation,
    list_by_class,
    list_firing,
    select_timelines,
)
from scenario_kit.judge.alerts.missing_alerts import NO_ALERT_FIX
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, AlertHistory, Finding, Severity
from scenario_kit.model.authored.scenario import Expect


def list_pending(history: AlertHistory, expect: Expect, injected_at: float) -> list[AlertExpectation]:
    """List the must-fire expectations that have not fired since injection."""
    return [
        e
        for e in list_by_class(expect, "MustFire")
        if all(t.onset(injected_at) is None for t in select_timelines(e, history.timelines))
    ]


def check_fired(
    history: AlertHistory,
    expect: Expect,
    injected_at: float,
    deadlines: dict[AlertExpectation, float],
    *,
    counted_from: float | None = None,
) -> list[Finding]:
    """Check after injection that each must-fire alert fires before its deadline, on its entity.

    With several faults the deadlines may count from a later injection than the first one, ``counted_from``.
    """
    zero = injected_at if counted_from is None else counted_from
    findings = []
    for expectation in list_by_class(expect, "MustFire"):
        within = deadlines[expectation]
        onsets = [
            o for t in select_timelines(expectation, history.timelines) if (o := t.onset(injected_at)) is not None
        ]
        if onsets and min(onsets) <= zero + within:
            continue
        late = min(onsets) - zero if onsets else None
        findings.append(_report_missing(history, expectation, injected_at, within, late))
    return findings


def _report_missing(
    history: AlertHistory, expectation: AlertExpectation, injected_at: float, within: float, late: float | None
) -> Finding:
    elsewhere = [t for t in history.timelines if t.name == expectation.name and t.onset(injected_at) is not None]
    others = [t for t in history.timelines if t.name != expectation.name and t.onset(injected_at) is not None]
    if late is not None:
        return build_finding(
            "SK322",
            message=f"{label_expectation(expectation)} fired too late",
            observed=f"{late:.0f} s after injection",
            expected=f"within {within:.0f} s",
            fix=f"withinSeconds: {propose_deadline(late)}",
            why="",
        )
    if elsewhere:
        places = ", ".join(sorted(t.entity or "(no entity)" for t in elsewhere))
        named = sorted(t.entity for t in elsewhere if t.entity)
        return build_finding(
            "SK326",
            message=f"{expectation.name} fired, but not on {expectation.entity}",
            observed=f"it fired on {places}",
            expected=f"{expectation.name} on {expectation.entity} within {within:.0f} s",
            why="a solver is sent to the entity of the alert",
            fix=f"write `entity: {named[0]}`" if named else "leave `entity` out: the alert names no entity",
        )
    observed = ", ".join(sorted({label(t) for t in others})) or "no alert fired at all"
    return build_finding(
        "SK322",
        message=f"must-fire {label_expectation(expectation)} did not fire",
        observed=observed,
        expected=f"{label_expectation(expectation)} within {within:.0f} s of injection",
        why="without its alert the incident goes unnoticed",
        fix="expect an alert that fires (see observed), or make the fault stronger, or its target a busier one"
        if others
        else NO_ALERT_FIX,
    )


def check_forbidden(
    history: AlertHistory, expect: Expect, start: float, end: float, *, closed: bool = False
) -> list[Finding]:
    """Check from injection to the end of hold that no must-not-fire alert fires; undeclared alerts are noted.

    ``closed`` refuses them: the scenario claims that it knows every alert.
    """
    findings = []
    for timeline in list_firing(history, start, end):
        if any(select_timelines(e, [timeline]) for e in list_by_class(expect, "MustNotFire")):
            findings.append(
                build_finding(
                    "SK321",
                    message=f"must-not-fire {label(timeline)} fired",
                    observed=f"firing {describe_since(timeline, start, start)} after injection",
                    expected="not firing from injection to the end of hold",
                    why="the scenario promises that this symptom is absent",
                    fix="declare it MayFire or MustFire, or narrow it with `entity`",
                )
            )
        elif closed and not is_declared(expect, timeline):
            findings.append(
                build_finding(
                    "SK327",
                    message=f"undeclared alert {label(timeline)} fired",
                    observed=f"firing {describe_since(timeline, start, start)} after injection",
                    expected="only declared alerts, as the incident is silent"
                    if expect.silent
                    else "only declared alerts, as the outcome is Benign",
                    fix=f"add {format_alert(timeline, 'class: MayFire')} to expect.alerts",
                )
            )
        elif not is_declared(expect, timeline):
            findings.append(
                build_finding(
                    "SK325",
                    severity=Severity.WARNING,
                    message=f"{label(timeline)} fired and no expectation speaks of it",
                    observed=f"firing {describe_since(timeline, start, start)} after injection",
                    expected="every alert of the incident declared",
                    fix=f"add {format_alert(timeline, 'class: MayFire')} to expect.alerts",
                    why="",
                )
            )
    return findings


def check_held(history: AlertHistory, expect: Expect, at: float) -> list[Finding]:
    """Check at the end of hold that each must-fire alert still fires: the fault lasts while nobody acts."""
    return [
        build_finding(
            "SK305",
            message=f"{label_expectation(e)} stopped firing although nobody acted",
            observed=_describe_last(e, history),
            expected="still firing at the end of the hold window",
            why="an incident that heals by itself rewards doing nothing",
            fix="use a fault that persists, or a shorter-lived expectation (class: MayFire)",
        )
        for e in list_by_class(expect, "MustFire")
        if not any(t.firing_at(at) for t in select_timelines(e, history.timelines))
    ]


def check_still_firing(
    history: AlertHistory, expect: Expect, since: float, *, code: str, procedure: str
) -> list[Finding]:
    """Check after a decoy, or a repair that leaves a cause, that the set as a whole has not cleared.

    ``since`` is when an alert that only dipped would have been back; one that fires then, or later, is enough.
    """
    expectations = list_by_class(expect, "MustFire")
    if not expectations or any(_fires_after(e, history, since) for e in expectations):
        return []
    spared = code == "SK403"
    return [
        build_finding(
            code,
            message=f"with '{procedure}' repaired, a labelled cause is left, but its alerts cleared"
            if spared
            else f"'{procedure}' cleared every must-fire alert",
            observed="; ".join(_describe_last(e, history) for e in expectations),
            expected="at least one of them still firing",
            why="a cause that nobody needs to repair is none"
            if spared
            else "what clears the symptoms is a fix: either it is a solution, or the labelled cause is not the cause",
            fix="drop the label, or declare the causes Conjunctive (groundTruth.causesJoin)"
            if spared
            else "list it under solutions, or correct the ground truth",
        )
    ]


def check_left_firing(history: AlertHistory, expect: Expect, since: float, left: Sequence[str]) -> list[Finding]:
    """Return where only the faults of ``left`` are in force, every alert that counts from one of them is theirs.

    ``since`` is as it is for `still_firing`.
    """
    return [
        build_finding(
            "SK410",
            message=f"{label_expectation(e)} counts after '{e.after}', and clears although that is not repaired",
            observed=_describe_last(e, history),
            expected=f"firing for as long as '{e.after}' is in force",
            why="the file says that this fault raises it",
            fix="write `after` of the fault that raises it, or leave it out",
        )
        for e in list_by_class(expect, "MustFire")
        if e.after in left and not _fires_after(e, history, since)
    ]


def _fires_after(expectation: AlertExpectation, history: AlertHistory, since: float) -> bool:
    return any(t.fires_within(since, history.end) for t in select_timelines(expectation, history.timelines))


def _describe_last(expectation: AlertExpectation, history: AlertHistory) -> str:
    ends = [i.end for t in select_timelines(expectation, history.timelines) for i in t.firing if i.end is not None]
    if not ends:
        return f"{label_expectation(expectation)} never fired"
    return f"{label_expectation(expectation)} last fired at {max(ends) - history.start:.0f} s"


def measure_delay(injections: Mapping[str, float], after: str) -> float:
    """Measure how long after the first injection a deadline begins to count: with that of ``after``, or the last.

    ``injections`` are the times of the first change of each fault; without any, nothing is delayed.
    """
    zero = injections.get(after) if after else max(injections.values(), default=None)
    return 0.0 if zero is None else zero - min(injections.values())


def propose_deadline(onset: float) -> int:
    """Propose a deadline: ``max(2 × p95, p95 + 60 s)`` rounded up to 30 s; one run is its own p95."""
    return int(-(-max(2 * onset, onset + 60) // 30) * 30)

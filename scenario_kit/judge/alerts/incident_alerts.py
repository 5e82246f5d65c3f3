"""Check the alert history of an incident against its expectations, phase by phase (docs/plans.md). Pure.

Times are seconds on the trial's clock. Functions that begin with `check_` return findings; none means that the phase
passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenario_kit.judge.alerts.expectations import (
    describe_since,
    format_alert,
    is_declared,
    list_by_class,
    list_firing,
    select_timelines,
)
from scenario_kit.judge.alerts.missing_alerts import NO_ALERT_FIX
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, AlertHistory, Finding, Severity
from scenario_kit.model.authored.alert_rule import name_alert
from scenario_kit.model.authored.scenario import Expect


def list_pending(history: AlertHistory, expect: Expect, injected_at: float) -> list[AlertExpectation]:
    """List the must-fire expectations that have not fired since the injection."""
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
    """Check that each must-fire alert fires on its entity before its deadline.

    Deadlines count from ``counted_from``, which with several faults may be later than the first injection.
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
    other_entities = [t for t in history.timelines if t.name == expectation.name and t.onset(injected_at) is not None]
    others = [t for t in history.timelines if t.name != expectation.name and t.onset(injected_at) is not None]
    if late is not None:
        return build_finding(
            "SK322",
            message=f"{name_alert(expectation)} fired too late",
            observed=f"{late:.0f} s after injection",
            expected=f"within {within:.0f} s",
            fix=f"withinSeconds: {propose_deadline(late)}",
            why="",
        )
    if other_entities:
        places = ", ".join(sorted(t.entity or "(no entity)" for t in other_entities))
        named = sorted(t.entity for t in other_entities if t.entity)
        return build_finding(
            "SK326",
            message=f"{expectation.name} fired, but not on {expectation.entity}",
            observed=f"it fired on {places}",
            expected=f"{expectation.name} on {expectation.entity} within {within:.0f} s",
            why="a solver starts at the entity of the alert",
            fix=f"write `entity: {named[0]}`" if named else "omit `entity`: the alert names no entity",
        )
    observed = ", ".join(sorted({name_alert(t) for t in others})) or "no alert fired at all"
    return build_finding(
        "SK322",
        message=f"must-fire {name_alert(expectation)} did not fire",
        observed=observed,
        expected=f"{name_alert(expectation)} within {within:.0f} s of injection",
        why="without its alert the incident goes unnoticed",
        fix="expect an alert that fires (see observed), make the fault stronger, or choose a busier target"
        if others
        else NO_ALERT_FIX,
    )


def check_forbidden(
    history: AlertHistory, expect: Expect, start: float, end: float, *, closed: bool = False
) -> list[Finding]:
    """Check that no must-not-fire alert fires from injection to the end of hold; undeclared alerts are warnings.

    If ``closed``, the scenario claims to declare every alert, and undeclared ones are errors.
    """
    findings = []
    for timeline in list_firing(history, start, end):
        if any(select_timelines(e, [timeline]) for e in list_by_class(expect, "MustNotFire")):
            findings.append(
                build_finding(
                    "SK321",
                    message=f"must-not-fire {name_alert(timeline)} fired",
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
                    message=f"undeclared alert {name_alert(timeline)} fired",
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
                    message=f"undeclared alert {name_alert(timeline)} fired",
                    observed=f"firing {describe_since(timeline, start, start)} after injection",
                    expected="every alert of the incident declared",
                    fix=f"add {format_alert(timeline, 'class: MayFire')} to expect.alerts",
                    why="",
                )
            )
    return findings


def check_held(history: AlertHistory, expect: Expect, at: float, period: float = 0.0) -> list[Finding]:
    """Check that each must-fire alert still fires at the end of hold: the fault persists until it is repaired.

    One of a fault that recurs may resolve in between; it must have fired within the last ``period``.
    """
    return [
        build_finding(
            "SK305",
            message=f"{name_alert(e)} stopped firing without a repair",
            observed=_describe_last(e, history),
            expected="still firing at the end of the hold window"
            + (f", or in the {period:.0f} s before" if period else ""),
            why="an incident that heals by itself rewards doing nothing",
            fix="use a fault that persists, or a shorter-lived expectation (class: MayFire)",
        )
        for e in list_by_class(expect, "MustFire")
        if not any(
            t.firing_at(at) or (period and t.fires_within(at - period, at))
            for t in select_timelines(e, history.timelines)
        )
    ]


def check_still_firing(
    history: AlertHistory, expect: Expect, since: float, *, code: str, procedure: str
) -> list[Finding]:
    """Check after a decoy, or a partial repair, that at least one must-fire alert is still firing.

    ``since`` leaves time for an alert that only dipped to come back; firing at any time after it is enough.
    """
    expectations = list_by_class(expect, "MustFire")
    if not expectations or any(_fires_after(e, history, since) for e in expectations):
        return []
    spared = code == "SK403"
    return [
        build_finding(
            code,
            message=f"the alerts cleared after '{procedure}', although a labelled cause was not repaired"
            if spared
            else f"'{procedure}' cleared every must-fire alert",
            observed="; ".join(_describe_last(e, history) for e in expectations),
            expected="at least one of them still firing",
            why="a cause that needs no repair is not a cause"
            if spared
            else "what clears the symptoms is a repair: it is a solution, or the labelled cause is wrong",
            fix="remove the label, or declare the causes Conjunctive (groundTruth.causesJoin)"
            if spared
            else "list it under solutions, or correct the ground truth",
        )
    ]


def check_left_firing(
    history: AlertHistory,
    expect: Expect,
    since: float,
    left: Sequence[str],
    attributed: Sequence[AlertExpectation] = (),
) -> list[Finding]:
    """Check that, while only the faults in ``left`` are active, each alert that counts from one of them fires.

    ``attributed`` are alerts that only the propagation explains by them; ``since`` is as in `check_still_firing`.
    """
    counted = [
        build_finding(
            "SK410",
            message=f"{name_alert(e)} counts from '{e.after}', but clears while that is not repaired",
            observed=_describe_last(e, history),
            expected=f"firing as long as '{e.after}' is active",
            why="`after` declares that this fault raises the alert",
            fix="set `after` to the fault that raises it, or remove it",
        )
        for e in list_by_class(expect, "MustFire")
        if e.after in left and not _fires_after(e, history, since)
    ]
    names = ", ".join(f"'{name}'" for name in left)
    return counted + [
        build_finding(
            "SK410",
            message=f"only {names} leads to {name_alert(e)}, which clears while that is not repaired",
            observed=_describe_last(e, history),
            expected=f"firing as long as {names} is active",
            why="then another cause raises the alert, from which no edge leads to it",
            fix=f"let the propagation lead to {e.entity} from the cause that raises the alert",
        )
        for e in attributed
        if not _fires_after(e, history, since)
    ]


def _fires_after(expectation: AlertExpectation, history: AlertHistory, since: float) -> bool:
    return any(t.fires_within(since, history.end) for t in select_timelines(expectation, history.timelines))


def _describe_last(expectation: AlertExpectation, history: AlertHistory) -> str:
    ends = [i.end for t in select_timelines(expectation, history.timelines) for i in t.firing if i.end is not None]
    if not ends:
        return f"{name_alert(expectation)} never fired"
    return f"{name_alert(expectation)} last fired at {max(ends) - history.start:.0f} s"


def measure_delay(injections: Mapping[str, float], after: str) -> float:
    """Return the seconds from the first injection to that of fault ``after``, or to the last one if it is empty.

    ``injections`` holds the time of the first change of each fault; the result is 0 if it is empty.
    """
    zero = injections.get(after) if after else max(injections.values(), default=None)
    return 0.0 if zero is None else zero - min(injections.values())


def propose_deadline(onset: float) -> int:
    """Propose a deadline: ``max(2 × p95, p95 + 60 s)``, rounded up to 30 s; ``onset`` serves as p95 of a single run."""
    return int(-(-max(2 * onset, onset + 60) // 30) * 30)

"""Steps that look at alerts: *expectQuiet*, *expectAlerts*, *hold*, *expectStillFiring*."""

from __future__ import annotations

from typing import Final

import msgspec

from scenario_kit.judge import alerts
from scenario_kit.judge.resolved import Served
from scenario_kit.model import AlertExpectation, Finding, Step
from scenario_kit.model.scenario import Expect
from scenario_kit.observe import traffic
from scenario_kit.trial.context import TICK, Baseline, Context

#: Success is measured over this many seconds (design §5, Resolved).
TRAFFIC_WINDOW: Final = 300
#: How far time moves between two looks while waiting for alerts, in seconds.
_LOOK: Final = 60
#: Added to `for` and rate window where the author gives no deadline: flush, scrape, and the app's own delay.
_SLACK: Final = 240


def stretch(context: Context, start: float, seconds: float) -> float:
    """Let time pass to ``start + seconds``; a wall clock is looked at on the way, a virtual one is not."""
    end = start + seconds
    while (now := context.clock.now()) < end:
        context.wait(end if context.virtual else min(end, now + TICK))
        if not context.virtual:
            context.history()
    return end


def expect_quiet(context: Context, step: Step, start: float, *, control: bool) -> list[Finding]:
    """Nothing fires while nothing is broken; the traffic of the last minutes becomes the baseline."""
    end = stretch(context, start, step.seconds or context.runbook.windows.quiet)
    history = context.history()
    served = served_between(context, max(start, end - TRAFFIC_WINDOW), end)
    context.save_baseline(msgspec.structs.replace(context.baseline() or Baseline(), served=served))
    judge = alerts.control if control else alerts.quiet
    return judge(history, context.runbook.expect, start, end)


def served_between(context: Context, start: float, end: float) -> Served:
    """Requests and errors at the entry; None where Prometheus has no series."""
    measured = traffic(context.metrics, context.namespace, context.runbook.app, start, end)
    return Served(seconds=end - start, requests=measured.requests, errors=measured.errors)


def deadlines(context: Context) -> dict[AlertExpectation, float]:
    """Seconds after injection by which each must-fire alert is due; the rule decides where the author does not."""
    longest = {r.name: r.for_seconds + r.range_seconds for r in context.runbook.rules}
    return {
        e: float(e.within_seconds or longest.get(e.name, 0) + _SLACK)
        for e in context.runbook.expect.alerts
        if e.alert_class == "MustFire"
    }


def expect_alerts(context: Context, start: float) -> list[Finding]:
    """Each must-fire alert comes before its deadline. Looks are spaced, so a virtual hour costs few queries."""
    expect = context.runbook.expect
    first = context.injected_at() or start
    counted = {e: at for e in expect.alerts if (at := _counted_from(context, e, start)) is not None}
    due = {e: seconds for e, seconds in deadlines(context).items() if e in counted}
    since = {e: counted[e] if e.after else first for e in due}
    while True:
        history = context.history()
        now = context.clock.now()
        waiting = [
            e
            for e in due
            if now < counted[e] + due[e] and alerts.pending_must_fire(history, _only(expect, e), since[e])
        ]
        if not waiting:
            break
        context.wait(
            min(context.clock.now() + (_LOOK if context.virtual else TICK), max(counted[e] + due[e] for e in waiting))
        )
    history = context.history()
    findings = [
        f for e in due for f in alerts.fired(history, _only(expect, e), since[e], {e: due[e]}, counted_from=counted[e])
    ]
    return findings + alerts.forbidden(history, expect, first, history.end)


def _counted_from(context: Context, expectation: AlertExpectation, start: float) -> float | None:
    """The injection from which a deadline counts: that of its fault, else the latest one.

    None where the program does not inject that fault: then nothing is demanded of its alert.
    """
    if expectation.after:
        return context.injected_at(expectation.after)
    return context.last_injected_at() or start


def next_look(context: Context, start: float) -> float:
    """When to look again: on a grid from the start of the step, so that an interrupted step looks at the same times."""
    spacing = _LOOK if context.virtual else TICK
    return start + (int(context.clock.now() - start) // spacing + 1) * spacing


def _only(expect: Expect, expectation: AlertExpectation) -> Expect:
    return msgspec.structs.replace(expect, alerts=(expectation,))


def hold(context: Context, step: Step, start: float) -> list[Finding]:
    """Nobody acts: what fires keeps firing, and what must not fire does not."""
    end = stretch(context, start, step.seconds or context.runbook.windows.hold)
    history = context.history()
    injected = context.injected_at() or start
    expect = context.runbook.expect
    return alerts.held(history, expect, end) + alerts.forbidden(history, expect, injected, end)


def expect_still_firing(context: Context, step: Step, start: float, code: str) -> list[Finding]:
    """After a decoy the symptoms are back, or never went, once every window that could show it has passed."""
    end = stretch(context, start, step.seconds or context.runbook.windows.still_firing)
    return alerts.still_firing(context.history(), context.runbook.expect, end, code=code, procedure=step.name)

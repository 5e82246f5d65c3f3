"""Steps that evaluate alerts: *expectQuiet*, *expectAlerts*, *hold*, *expectStillFiring*."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from scenario_kit.errors import InfrastructureError, ScenarioKitError
from scenario_kit.judge.alerts import control_runs, incident_alerts, missing_alerts
from scenario_kit.judge.alerts.expectations import list_attributed_alerts, list_distractor_alerts, restrict_to_faults
from scenario_kit.judge.alerts.propagation_coverage import check_unexplained, find_explained
from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, CheckResult, Finding, TrialStep
from scenario_kit.model.authored.alert_rule import DEADLINE_SLACK, compute_alert_deadline, find_slowest
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.grid import ALERT_POLL_SECONDS
from scenario_kit.model.kubernetes.status import is_stopping
from scenario_kit.observe import measure_traffic
from scenario_kit.observe.placement import map_placement
from scenario_kit.trial.alerts import extended_wait
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.checks import answer_signs, await_checks, check_undone_checks_fail
from scenario_kit.trial.engine.context import TICK, TRAFFIC_WINDOW, TrialContext
from scenario_kit.trial.investigation import symptoms
from scenario_kit.trial.investigation.silent_hops import measure_passages


def await_interval(context: TrialContext, start: float, seconds: float) -> float:
    """Wait until ``start + seconds``. On a wall clock, evaluate alerts on the way."""
    end = start + seconds
    while (now := context.clock.now()) < end:
        context.wait(end if context.virtual else min(end, now + TICK))
        if not context.virtual:
            context.history()
    return end


def expect_quiet(context: TrialContext, step: TrialStep, index: int, start: float) -> list[Finding]:
    """Check that nothing fires without a fault, and record the traffic of the last minutes as the baseline.

    The quiet window starts once alerts caused by the app's start have cleared. Alerts that outlast their rule's time
    are findings.

    After an injection, or in a program without one, the step is a control: any alert is a finding.
    """
    injections = [i for i, s in enumerate(context.spec.steps) if s.kind == "inject"]
    made = [f.name for i in injections if i < index for f in context.chosen_faults(context.spec.steps[i])]
    if not made and step.use != "Sham":
        start = _await_up(context, start)
    end = await_interval(context, start, step.seconds or context.runbook.windows.quiet)
    history, expect = context.history(), context.runbook.expect
    if made:
        since, own = context.injected_at() or start, list_distractor_alerts(expect, map(context.runbook.fault, made))
        return control_runs.check_control(history, expect, since, end, harmless=made, own=own)
    if step.use == "Sham":
        return control_runs.check_control(history, expect, start, end, sham=True)
    served = measure_served(context, max(start, end - TRAFFIC_WINDOW), end)
    if served.requests is None:  # a broken telemetry pipeline would look quiet
        raise InfrastructureError(
            f"no request at the entry '{context.runbook.app.entry}' was measured while it was quiet"
        )
    known = msgspec.structs.replace(context.baseline() or Baseline(), served=served)
    if any(s.kind == "hold" for s in context.spec.steps):
        pods = symptoms.list_pods(context)
        seen, placed = tuple(symptoms.look(context, pods)), map_placement(pods, context.runbook.app)
        known = msgspec.structs.replace(known, signs=seen, placement=placed)
    context.save_baseline(known)
    if injections:
        return control_runs.check_quiet(history, expect, start, end)
    return [
        *control_runs.check_control(history, expect, start, end),
        *control_runs.check_unused_background(history, expect, start, end),
    ]


def _await_up(context: TrialContext, start: float) -> float:
    """Wait until the alerts of the app's start have cleared; return that time, or ``start`` if they do not clear in
    time.
    """
    limit = start + find_slowest(context.runbook.rules) + DEADLINE_SLACK
    while (calm := control_runs.find_startup_end(context.history(), context.runbook.expect, start)) is None:
        if context.clock.now() >= limit:
            return start
        context.wait(min(context.clock.now() + (ALERT_POLL_SECONDS if context.virtual else TICK), limit))
    return calm


def measure_served(context: TrialContext, start: float, end: float) -> EntryTraffic:
    """Measure requests and errors at the entry (None without series); seconds are scaled to the usual load."""
    measured = measure_traffic(context.metrics, context.namespace, context.runbook.app, start, end)
    seconds = (end - start) * noise.measure_offered(context, start, end)
    return EntryTraffic(seconds=seconds, requests=measured.requests, errors=measured.errors)


def compute_deadlines(context: TrialContext) -> dict[AlertExpectation, float]:
    """Compute the deadline of each must-fire alert in seconds after injection; the default follows from its rule."""
    rules, period = context.runbook.rules, context.runbook.windows.period
    return {
        e: float(compute_alert_deadline(rules, e.name, e.within_seconds, period=period))
        for e in context.runbook.expect.alerts
        if e.alert_class == "MustFire"
    }


def expect_alerts(context: TrialContext, start: float) -> list[Finding]:
    """Check that each must-fire alert fires before its deadline, with evaluations spaced so that a virtual hour costs
    few queries.
    """
    expect = context.runbook.expect
    first = context.injected_at() or start
    counted = {e: at for e in expect.alerts if (at := _find_counted_from(context, e, start)) is not None}
    due = {e: seconds for e, seconds in compute_deadlines(context).items() if e in counted}
    since = {e: counted[e] if e.after else first for e in due}
    while True:
        history = context.history()
        now = context.clock.now()
        waiting = [
            e
            for e in due
            if now < counted[e] + due[e] and incident_alerts.list_pending(history, _restrict_to(expect, e), since[e])
        ]
        if not waiting:
            break
        context.wait(
            min(
                context.clock.now() + (ALERT_POLL_SECONDS if context.virtual else TICK),
                max(counted[e] + due[e] for e in waiting),
            )
        )
    _look_on(context, {e: since[e] for e in due})
    history = context.history()
    findings = [
        f
        for e in due
        for f in incident_alerts.check_fired(
            history, _restrict_to(expect, e), since[e], {e: due[e]}, counted_from=counted[e]
        )
    ]
    if findings and not any(t.onset(first) is not None for t in history.timelines):
        beside = _judge_other_packs(context)
        findings = [missing_alerts.explain_silence(f, beside, first) for f in findings]
    runbook, demanded = context.runbook, msgspec.structs.replace(expect, alerts=tuple(due))
    edges = runbook.ground_truth.propagation  # a draft may have none yet: SK116
    if runbook.outcome == "Incident" and edges and all(fault.scope == "Namespace" for fault in runbook.faults):
        known = find_explained(runbook.faults, edges, runbook.app)
        findings += check_unexplained(history, demanded, first, known)
    closed = runbook.outcome == "Benign" or expect.silent
    return findings + incident_alerts.check_forbidden(history, expect, first, history.end, closed=closed)


def _judge_other_packs(context: TrialContext) -> Mapping[str, missing_alerts.UnusedRules]:
    """Evaluate the rules of other packs. They explain a missing alert and do not affect the verdict."""
    try:
        return context.beside()
    except ScenarioKitError:
        return {}


def _look_on(context: TrialContext, since: Mapping[AlertExpectation, float]) -> None:
    """If an expected alert is missing, wait for late or other alerts until every rule could have fired.

    This does not change the verdict, but makes the finding precise. Virtual time only: on a wall clock it would take a
    quarter of an hour.
    """
    history, expect = context.history(), context.runbook.expect
    if context.virtual and any(incident_alerts.list_pending(history, _restrict_to(expect, e), since[e]) for e in since):
        longest = context.runbook.windows.period + find_slowest(context.runbook.rules) + DEADLINE_SLACK
        await_interval(context, max(since.values()), longest)


def _find_counted_from(context: TrialContext, expectation: AlertExpectation, start: float) -> float | None:
    """Find the injection that a deadline counts from: that of its fault, else the latest one.

    None if the program does not inject that fault; its alert is then not expected.
    """
    if expectation.after:
        return context.injected_at(expectation.after)
    return context.last_injected_at() or start


def choose_next_look(context: TrialContext, start: float) -> float:
    """Return the next evaluation time, on a grid from the start of the step so that a resumed step evaluates at the
    same times.
    """
    spacing = ALERT_POLL_SECONDS if context.virtual else TICK
    return start + (int(context.clock.now() - start) // spacing + 1) * spacing


def _restrict_to(expect: Expect, expectation: AlertExpectation) -> Expect:
    return msgspec.structs.replace(expect, alerts=(expectation,))


def hold(context: TrialContext, step: TrialStep, start: float) -> tuple[list[Finding], list[CheckResult]]:
    """Check that, without intervention, firing alerts keep firing, forbidden ones stay silent, and the scenario's own
    checks hold.

    A benign fault may end in the meantime, but must not raise undeclared alerts; without an incident nothing fires.
    """
    while step.forever:
        context.history()
        pass_time(context, start)
    results = await_checks(context, context.runbook.expect.checks)
    end = await_interval(context, start, step.seconds or context.runbook.windows.hold)
    history = context.history()
    known = context.baseline() or Baseline()
    found = tuple(symptoms.find_new(context, known.signs))
    context.save_baseline(msgspec.structs.replace(known, found=found, passages=measure_passages(context, end)))
    injected = context.injected_at() or start
    expect, outcome = context.runbook.expect, context.runbook.outcome
    findings = [*(_report_unexpected(r) for r in results if r.answer != "True"), *check_undone_checks_fail(context)]
    if outcome == "NoIncident":
        return [*findings, *control_runs.check_no_incident(history, expect, injected, end)], results
    if outcome == "Incident":
        findings += incident_alerts.check_held(history, expect, end, context.runbook.windows.period)
        # A program without expectAlerts only observes the fault: no alert is a valid result.
        expects_alerts = any(s.kind == "expectAlerts" for s in context.spec.steps) and not expect.silent
        if expects_alerts and (quiet := missing_alerts.check_unnoticed(history, expect, injected)):
            beside = _judge_other_packs(context)
            findings += [missing_alerts.explain_silence(f, beside, injected) for f in quiet]
    return findings + incident_alerts.check_forbidden(
        history, expect, injected, end, closed=outcome == "Benign" or expect.silent
    ), results


def pass_time(context: TrialContext, start: float) -> None:
    """Wait for the next evaluation.

    A live scenario in virtual time waits until its world is advanced from outside, or a pod is deleted: time passes
    until it has ended, because whoever deletes it (or its namespace) with kubectl waits for that, and would forever.
    """
    if not context.virtual:
        context.wait(choose_next_look(context, start))
        return
    before = context.clock.now()
    while context.clock.now() == before:
        context.idle(0.3)
        context.settle()
        if any(map(is_stopping, context.contents("Pod"))):
            context.wait(before + TICK)


def _report_unexpected(result: CheckResult) -> Finding:
    return build_finding(
        "SK328",
        message=f"an expected check does not hold: {result.describe}",
        observed=result.observed,
        expected=result.expected,
        why="the scenario promises it while the fault is in force",
        fix="correct the check under expect.checks, or give it more time (withinSeconds)",
    )


#: Finding code for a procedure that clears the alerts, by use.
_STILL: Final = {"Decoy": "SK431", "Fix": "SK402", "Undo": "SK402"}


def expect_still_firing(context: TrialContext, step: TrialStep, start: float) -> list[Finding]:
    """Check after a decoy that the symptoms persist or return.

    A restart resets what has to build up (a leak, a full pool, a rare latency). If the symptoms are not back by the end
    of the window, wait for as long as they took to develop, as after a solution (``resolution.durability``). Check
    again at the end of the resolve window, as a slow repair is also a repair. With ``faults``, only alerts explained by
    these count: their cause was left alone.
    """
    runbook = context.runbook
    windows = runbook.windows
    end = await_interval(context, start, step.seconds or windows.still_firing)
    expect = runbook.expect
    if step.faults:
        left = [runbook.fault(name) for name in step.faults]
        expect = restrict_to_faults(expect, left, runbook.ground_truth.propagation)
    leaves_causes = bool(step.faults) and step.use == "Fix"
    attributed = _list_attributed(context, step) if leaves_causes else []
    code = "SK403" if leaves_causes else _STILL[step.use]

    def cleared(at: float) -> list[Finding]:
        since = at - windows.period
        if runbook.expect.silent:
            return _find_gone(context, step, code)
        history = context.history()
        found = incident_alerts.check_still_firing(history, expect, since, code=code, procedure=step.name)
        if step.use == "Undo":
            return [_report_unlabelled(context, step, each) for each in found]
        if found or not leaves_causes:
            return found
        return incident_alerts.check_left_firing(history, runbook.expect, since, step.faults, attributed)

    again = extended_wait.compute_recurrence_time(context, start)
    if (found := cleared(end)) and not step.seconds and start + again > end:
        await_interval(context, start, again)
        found = cleared(end)
    if found or step.seconds:
        return found
    last = await_interval(context, start, windows.resolve)
    if not cleared(last):
        return []
    # An alert that is briefly inactive, or that is still building up again, has not cleared.
    await_interval(context, last, max(again, windows.clear))
    return cleared(last)


def _list_attributed(context: TrialContext, step: TrialStep) -> list[AlertExpectation]:
    """List the alerts that the propagation attributes to the faults that are left, if these are left as a whole."""
    runbook = context.runbook
    done = [s for s in context.spec.steps if s.kind == "change" and s.use == "Fix"]
    repaired = {name for s in done for name in runbook.procedure(s.use, s.name).solution.fixes}
    if repaired & set(step.faults):
        return []
    left = [runbook.fault(name) for name in step.faults]
    others = [f for f in runbook.faults if f.name not in step.faults]
    return list_attributed_alerts(runbook.expect, left, others, runbook.ground_truth.propagation)


def _find_gone(context: TrialContext, step: TrialStep, code: str) -> list[Finding]:
    """Check that something of a silent incident still shows after a procedure that repairs nothing."""
    results = answer_signs(context)
    if any(each.answer != "False" for each in results):
        return []
    found = build_finding(
        code,
        message=f"'{step.name}' ended everything that shows the incident",
        observed="; ".join(f"{each.describe}: {each.observed}" for each in results),
        expected="at least one of these checks still true",
        why="what ends the symptoms is a fix: either it is a solution, or the labelled cause is not the cause",
        fix="list it under solutions, or correct the ground truth",
    )
    return [_report_unlabelled(context, step, found) if step.use == "Undo" else found]


def _report_unlabelled(context: TrialContext, step: TrialStep, finding: Finding) -> Finding:
    """Report an unlabelled object whose undo alone clears the alerts."""
    before = next(s for s in reversed(context.spec.steps) if s.kind == "change" and s.name == step.name)
    return msgspec.structs.replace(
        finding,
        message=f"undoing only what fault '{before.faults[0]}' did to {step.name} clears every must-fire alert",
        why="an object whose repair ends the incident is a cause, and no label names it",
        fix=f"give {step.name} the role Cause in the fault type and label it; with `causesJoin: Conjunctive` where it "
        "takes all of them",
    )

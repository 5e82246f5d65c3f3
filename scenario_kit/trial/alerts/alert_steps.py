"""Steps that look at alerts: *expectQuiet*, *expectAlerts*, *hold*, *expectStillFiring*."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from scenario_kit.errors import InfrastructureError, ScenarioKitError
from scenario_kit.judge.alerts import control_runs, incident_alerts, missing_alerts
from scenario_kit.judge.alerts.expectations import list_distractor_alerts, restrict_to_faults
from scenario_kit.judge.alerts.propagation_coverage import check_unexplained, find_explained
from scenario_kit.judge.repair.resolved import EntryTraffic
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertExpectation, CheckResult, Finding, TrialStep
from scenario_kit.model.authored.alert_rule import DEADLINE_SLACK, compute_alert_deadline, find_slowest
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.grid import LOOK_SECONDS
from scenario_kit.observe import measure_traffic
from scenario_kit.observe.placement import map_placement
from scenario_kit.trial.alerts import extended_wait
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.checks import await_checks, prove_gone
from scenario_kit.trial.engine.context import TICK, TRAFFIC_WINDOW, TrialContext
from scenario_kit.trial.investigation import symptoms
from scenario_kit.trial.investigation.silent_hops import measure_passages


def await_stretch(context: TrialContext, start: float, seconds: float) -> float:
    """Let time pass to ``start + seconds``; a wall clock is looked at on the way, a virtual one is not."""
    end = start + seconds
    while (now := context.clock.now()) < end:
        context.wait(end if context.virtual else min(end, now + TICK))
        if not context.virtual:
            context.history()
    return end


def expect_quiet(context: TrialContext, step: TrialStep, index: int, start: float) -> list[Finding]:
    """Check that nothing fires while nothing is broken; the traffic of the last minutes becomes the baseline.

    It counts from when that has faded which the start of the app set off. What has not faded after the time that its
    rule may take is held against the scenario.

    Once something was injected, or where nothing will be, it is a control: what fires is held against the scenario.
    """
    injections = [i for i, s in enumerate(context.spec.steps) if s.kind == "inject"]
    made = [f.name for i in injections if i < index for f in context.chosen_faults(context.spec.steps[i])]
    if not made and step.use != "Sham":
        start = _await_up(context, start)
    end = await_stretch(context, start, step.seconds or context.runbook.windows.quiet)
    history, expect = context.history(), context.runbook.expect
    if made:
        since, own = context.injected_at() or start, list_distractor_alerts(expect, map(context.runbook.fault, made))
        return control_runs.check_control(history, expect, since, end, harmless=made, own=own)
    if step.use == "Sham":
        return control_runs.check_control(history, expect, start, end, sham=True)
    served = measure_served(context, max(start, end - TRAFFIC_WINDOW), end)
    if served.requests is None:  # a pipeline that delivers nothing would look like peace
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
        *control_runs.check_never_on(history, expect, start, end),
    ]


def _await_up(context: TrialContext, start: float) -> float:
    """Await when the app is up and the alerts of its start are over; ``start`` where they do not end in time."""
    limit = start + find_slowest(context.runbook.rules) + DEADLINE_SLACK
    while (calm := control_runs.find_start_end(context.history(), context.runbook.expect, start)) is None:
        if context.clock.now() >= limit:
            return start
        context.wait(min(context.clock.now() + (LOOK_SECONDS if context.virtual else TICK), limit))
    return calm


def measure_served(context: TrialContext, start: float, end: float) -> EntryTraffic:
    """Measure requests and errors at the entry, None where Prometheus has no series; seconds are those of the usual
    load.
    """
    measured = measure_traffic(context.metrics, context.namespace, context.runbook.app, start, end)
    seconds = (end - start) * noise.measure_offered(context, start, end)
    return EntryTraffic(seconds=seconds, requests=measured.requests, errors=measured.errors)


def compute_deadlines(context: TrialContext) -> dict[AlertExpectation, float]:
    """Compute seconds after injection by which each must-fire alert is due; the rule decides where the
    author does not.
    """
    rules = context.runbook.rules
    return {
        e: float(compute_alert_deadline(rules, e.name, e.within_seconds))
        for e in context.runbook.expect.alerts
        if e.alert_class == "MustFire"
    }


def expect_alerts(context: TrialContext, start: float) -> list[Finding]:
    """Check that each must-fire alert comes before its deadline. Looks are spaced, so a virtual hour costs
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
                context.clock.now() + (LOOK_SECONDS if context.virtual else TICK),
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
    closed = runbook.outcome == "Benign"
    return findings + incident_alerts.check_forbidden(history, expect, first, history.end, closed=closed)


def _judge_other_packs(context: TrialContext) -> Mapping[str, missing_alerts.UnusedRules]:
    """Return what the rules of other packs say. They help whoever corrects a promise, and have no part in
    the verdict.
    """
    try:
        return context.beside()
    except ScenarioKitError:
        return {}


def _look_on(context: TrialContext, since: Mapping[AlertExpectation, float]) -> None:
    """Look up where a promised alert did not come, see what comes instead, or how late: until every rule has had its
    time.

    That changes no verdict, but whoever has to correct the promise learns what is true. A virtual clock only: on a real
    one it would cost a quarter of an hour.
    """
    history, expect = context.history(), context.runbook.expect
    if context.virtual and any(incident_alerts.list_pending(history, _restrict_to(expect, e), since[e]) for e in since):
        await_stretch(context, max(since.values()), find_slowest(context.runbook.rules) + DEADLINE_SLACK)


def _find_counted_from(context: TrialContext, expectation: AlertExpectation, start: float) -> float | None:
    """Find the injection from which a deadline counts: that of its fault, else the latest one.

    None where the program does not inject that fault: then nothing is demanded of its alert.
    """
    if expectation.after:
        return context.injected_at(expectation.after)
    return context.last_injected_at() or start


def choose_next_look(context: TrialContext, start: float) -> float:
    """Choose when to look again: on a grid from the start of the step, so that an interrupted step looks at the same
    times.
    """
    spacing = LOOK_SECONDS if context.virtual else TICK
    return start + (int(context.clock.now() - start) // spacing + 1) * spacing


def _restrict_to(expect: Expect, expectation: AlertExpectation) -> Expect:
    return msgspec.structs.replace(expect, alerts=(expectation,))


def hold(context: TrialContext, step: TrialStep, start: float) -> tuple[list[Finding], list[CheckResult]]:
    """Check, while nobody acts, that what fires keeps firing and what must not fire does not; the scenario's own checks
    hold.

    What is benign may pass meanwhile, but shows nothing that was not declared; where there is no incident, nothing
    fires at all.
    """
    while step.forever:
        context.history()
        pass_time(context, start)
    results = await_checks(context, context.runbook.expect.checks)
    end = await_stretch(context, start, step.seconds or context.runbook.windows.hold)
    history = context.history()
    known = context.baseline() or Baseline()
    found = tuple(symptoms.find_new(context, known.signs))
    context.save_baseline(msgspec.structs.replace(known, found=found, passages=measure_passages(context, end)))
    injected = context.injected_at() or start
    expect, outcome = context.runbook.expect, context.runbook.outcome
    findings = [*(_report_unexpected(r) for r in results if r.answer != "True"), *prove_gone(context)]
    if outcome == "NoIncident":
        return [*findings, *control_runs.check_nothing(history, expect, injected, end)], results
    if outcome == "Incident":
        findings += incident_alerts.check_held(history, expect, end)
        # Whoever only wants to see what a fault does has not asked for alerts: that there are none is the answer.
        asked = any(s.kind == "expectAlerts" for s in context.spec.steps)
        if asked and (quiet := missing_alerts.check_unnoticed(history, expect, injected)):
            beside = _judge_other_packs(context)
            findings += [missing_alerts.explain_silence(f, beside, injected) for f in quiet]
    return findings + incident_alerts.check_forbidden(
        history, expect, injected, end, closed=outcome == "Benign"
    ), results


def pass_time(context: TrialContext, start: float) -> None:
    """Let time pass. A live scenario in virtual time stands still until somebody advances its world: the solver sets
    the pace.
    """
    if not context.virtual:
        context.wait(choose_next_look(context, start))
        return
    before = context.clock.now()
    while context.clock.now() == before:
        context.idle(0.3)
        context.settle()


def _report_unexpected(result: CheckResult) -> Finding:
    return build_finding(
        "SK328",
        message=f"an expected check does not hold: {result.describe}",
        observed=result.observed,
        expected=result.expected,
        why="the scenario promises it while the fault is in force",
        fix="correct the check under expect.checks, or give it more time (withinSeconds)",
    )


#: The finding for a procedure after which nothing fires any more, by its use.
_STILL: Final = {"Decoy": "SK431", "Fix": "SK402", "Undo": "SK402"}


def expect_still_firing(context: TrialContext, step: TrialStep, start: float) -> list[Finding]:
    """Check after a decoy that the symptoms are back, or never went, once every window that could show it has passed.

    A restart sets back what has to build up (a leak, a full pool, a latency that few requests meet): where they are not
    back by then, they are waited for as long as they took to come at first, as they are after a solution (`lasting`).
    They are asked for again when a solution would have had to resolve the incident: what repairs it slowly repairs it.
    With ``faults``, the question is about the alerts that these explain: their cause was left alone.
    """
    runbook = context.runbook
    windows = runbook.windows
    end = await_stretch(context, start, step.seconds or windows.still_firing)
    expect = runbook.expect
    if step.faults:
        left = [runbook.fault(name) for name in step.faults]
        expect = restrict_to_faults(expect, left, runbook.ground_truth.propagation)
    code = "SK403" if step.faults and step.use == "Fix" else _STILL[step.use]

    def cleared(since: float) -> list[Finding]:
        history = context.history()
        found = incident_alerts.check_still_firing(history, expect, since, code=code, procedure=step.name)
        if step.use == "Undo":
            return [_report_unlabelled(context, step, each) for each in found]
        return found or incident_alerts.check_left_firing(history, runbook.expect, since, step.faults)

    again = extended_wait.compute_recurrence_time(context, start)
    if (found := cleared(end)) and not step.seconds and start + again > end:
        await_stretch(context, start, again)
        found = cleared(end)
    if found or step.seconds:
        return found
    last = await_stretch(context, start, windows.resolve)
    if not cleared(last):
        return []
    # What is off for a moment has not cleared, nor has what takes as long to come back as it took to come.
    await_stretch(context, last, max(again, windows.clear))
    return cleared(last)


def _report_unlabelled(context: TrialContext, step: TrialStep, finding: Finding) -> Finding:
    """Report what is told where undoing one object that no label names clears the alerts."""
    before = next(s for s in reversed(context.spec.steps) if s.kind == "change" and s.name == step.name)
    return msgspec.structs.replace(
        finding,
        message=f"undoing only what fault '{before.faults[0]}' did to {step.name} clears every must-fire alert",
        why="an object without which the incident ends is a cause of it, and no label names it",
        fix=f"give {step.name} the role Cause in the fault type and label it; with `causesJoin: Conjunctive` where it "
        "takes all of them",
    )

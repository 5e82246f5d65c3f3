"""Step *inject*: inject faults as the scenario stages them, and verify the effect of each.

Injected faults are known from receipts, verified ones from the trial's progress, so the step resumes after a crash
without verifying anything twice.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scenario_kit.changes import NoEffect, is_settled
from scenario_kit.errors import InfrastructureError, Rejected
from scenario_kit.load.rules import build_finding
from scenario_kit.model import AlertHistory, Check, CheckResult, Fault, Finding, TrialStep
from scenario_kit.model.authored.alert_rule import compute_alert_deadline, name_alert
from scenario_kit.model.grid import ALERT_POLL_SECONDS
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.observe import symptoms
from scenario_kit.trial import effects
from scenario_kit.trial.engine.checks import answer_check
from scenario_kit.trial.engine.context import TICK, TrialContext
from scenario_kit.trial.engine.progress import FaultProgress
from scenario_kit.trial.injection.apply_fault import STEP, apply_fault
from scenario_kit.trial.injection.resync import resync
from scenario_kit.trial.injection.staging import Situation, is_due, waits_for
from scenario_kit.trial.investigation.symptoms import list_pods

__all__ = ["STEP", "inject"]


def inject(context: TrialContext, step: TrialStep, index: int, start: float) -> tuple[list[Finding], list[CheckResult]]:
    """Inject each fault when it is due; one without effect ends the step.

    Faults overlap: one may wait for its start while another is being verified.
    """
    broken = bool(context.chosen_faults(step))
    if broken:
        resync(context)
    stage = _InjectStep(context, step, index, start)
    while True:
        findings = stage.advance()
        if findings:
            return findings, stage.checks
        if broken:
            resync(context)
        if stage.complete:
            return stage.remarks, stage.checks
        context.wait(stage.next_look())


class _InjectStep:
    """One inject step. Its state is in the cluster; only the current alert history is kept in memory."""

    def __init__(self, context: TrialContext, step: TrialStep, index: int, start: float) -> None:
        self._context = context
        self._index = index
        self._start = start
        self._chosen = context.chosen_faults(step)
        self._progress = context.progress()
        self._history: AlertHistory | None = None

    @property
    def complete(self) -> bool:
        """Whether the effect of every fault of the step was verified."""
        return all((p := self._of(f)) is not None and p.effective_at is not None for f in self._chosen)

    @property
    def checks(self) -> list[CheckResult]:
        """The results of the effect checks that hold, fault by fault."""
        known = [p for f in self._chosen if (p := self._of(f)) is not None]
        return [p.checks[position] for p in known for position in sorted(p.checks, key=int)]

    @property
    def remarks(self) -> list[Finding]:
        """Findings on faults whose checks failed although other evidence shows their effect."""
        return [finding for f in self._chosen if (p := self._of(f)) is not None for finding in p.remarks]

    def advance(self) -> list[Finding]:
        """Inject due faults and verify those in force, until nothing more can be done at the current time."""
        self._history = None
        while True:
            before = self._progress
            for fault in self._chosen:
                if findings := self._fault(fault):
                    return findings
            if self._progress == before:
                return self._report_missed()

    def _fault(self, fault: Fault) -> list[Finding]:
        progress = self._of(fault)
        if progress is None:
            begun = self._begun(fault)
            if not (begun or is_due(fault.start, fault.name, self._situation())):
                return []
            if not begun and not self._progress.faults:
                if self._proven_already(fault):
                    return [report_unproven(fault)]
                if foregone := self._promised_already():
                    return foregone
            try:
                apply_fault(self._context, fault, self._index)
            except NoEffect as nothing:
                return [report_without_effect(fault, nothing.message, "a change of the object")]
            except Rejected as refused:
                return [_report_refused(fault, refused)]
            progress = FaultProgress(step=self._index, injected_at=self._context.clock.now())
            self._note(fault, progress)
        return [] if progress.effective_at is not None else self._prove(fault, progress)

    def _proven_already(self, fault: Fault) -> bool:
        """Return whether all effect checks hold before the injection."""
        context, now = self._context, self._context.clock.now()
        checks = context.engine.resolve_checks(fault.effect)
        results = (answer_check(context, check, now) for check in checks)
        return bool(checks) and all(result.answer == "True" for result in results)

    def _promised_already(self) -> list[Finding]:
        """Check before the first fault that expected checks are false, or true if marked `stays`."""
        context, now = self._context, self._context.clock.now()
        if context.runbook.outcome == "NoIncident":
            return []  # no fault that they could show
        results = [
            (check, answer_check(context, check, now))
            for check in context.engine.resolve_checks(context.runbook.expect.checks)
        ]
        return [reported for check, result in results if (reported := _report_premature(check, result)) is not None]

    def _prove(self, fault: Fault, progress: FaultProgress) -> list[Finding]:
        context, now = self._context, self._context.clock.now()
        answers, failed = dict(progress.checks), list[tuple[Check, CheckResult]]()
        checks = context.engine.resolve_checks(fault.effect)  # a check on several nodes expands to one per node
        for position, check in enumerate(checks):
            deadline = progress.injected_at + check.within_seconds
            if str(position) in answers:
                continue
            result = answer_check(context, check, now)
            if result.answer == "True":
                answers[str(position)] = result
            elif now >= deadline:
                failed.append((check, result))
        if failed:
            return self._judge_failed(fault, progress, failed)
        proven = len(answers) == len(checks)
        if answers != progress.checks or proven:
            at = now if proven else None
            self._note(fault, msgspec.structs.replace(progress, checks=answers, effective_at=at))
        return []

    def _judge_failed(
        self, fault: Fault, progress: FaultProgress, failed: Sequence[tuple[Check, CheckResult]]
    ) -> list[Finding]:
        """Distinguish a fault without effect from one whose effect its checks miss."""
        context, now = self._context, self._context.clock.now()
        _blame_injector(context, fault)
        others = [f for f in context.runbook.faults if f.name != fault.name and self._of(f) is not None]
        working = [f.name for f in others if (p := self._of(f)) is not None and p.effective_at is not None]
        checks, results = [check for check, _ in failed], [result for _, result in failed]
        seen = effects.find_effects(context, fault, checks, progress.injected_at, beside=bool(others))
        if seen and (working or not others):
            remark = effects.warn(fault, results, seen, working)
            self._note(fault, msgspec.structs.replace(progress, remarks=(remark,), effective_at=now))
            return []
        if seen and any(self._may_still_hold(other, now) for other in others):
            return []
        hindered = _explain_hindered(context, fault)
        fix = _explain_outlived(context, fault) or _explain_masked([f.name for f in others])
        return [report_without_effect(fault, f"{r.describe}: {r.observed}{hindered}", r.expected, fix) for r in results]

    def _may_still_hold(self, fault: Fault, now: float) -> bool:
        """Return whether a fault in force is unverified and still within its deadlines."""
        progress = self._of(fault)
        if progress is None or progress.effective_at is not None:
            return False
        return now < progress.injected_at + max((c.within_seconds for c in fault.effect), default=0)

    def next_look(self) -> float:
        """Return the next time at which a check, an alert or a start time can change."""
        now = self._context.clock.now()
        looks = []
        for fault in self._chosen:
            progress = self._of(fault)
            if progress is not None:
                looks += [now + TICK] if progress.effective_at is None else []
            elif waits_for(fault.start) == "Time":
                looks.append(self._start + (fault.start.after_seconds or 0))
            elif waits_for(fault.start) == "Alert":
                spacing = ALERT_POLL_SECONDS if self._context.virtual else TICK
                looks.append(self._start + (int(now - self._start) // spacing + 1) * spacing)
        return min(looks, default=now + TICK)

    def _report_missed(self) -> list[Finding]:
        """Report faults whose start alert did not fire before its deadline."""
        context = self._context
        base = max(context.last_injected_at() or self._start, self._start)
        findings = []
        for fault in self._chosen:
            alert = fault.start.on_alert
            if alert is None or self._of(fault) is not None:
                continue
            within = compute_alert_deadline(
                context.runbook.rules, alert.name, alert.within_seconds, period=context.runbook.windows.period
            )
            if context.clock.now() >= base + within:
                findings.append(_report_never_started(fault, name_alert(alert), within, self._alerts()))
        return findings

    def _of(self, fault: Fault) -> FaultProgress | None:
        """Return the progress of a fault in force, whichever step injected it."""
        known = self._progress.faults.get(fault.name)
        if known is None or known.step == self._index or self._context.engine.list_active(fault.group):
            return known
        return None  # injected by an earlier step and removed since

    def _begun(self, fault: Fault) -> bool:
        group = fault.group
        recorded = self._context.engine.list_receipts(group)
        return any(r.group == group and r.ordinal // STEP == self._index for r in recorded)

    def _note(self, fault: Fault, progress: FaultProgress) -> None:
        known = self._context.progress()  # includes what a resync has saved
        self._progress = msgspec.structs.replace(
            known,
            faults={**self._progress.faults, fault.name: progress},
            proofs=known.proofs + (progress.effective_at is not None),
        )
        self._context.save_progress(self._progress)

    def _situation(self) -> Situation:
        known = {f.name: p for f in self._context.runbook.faults if (p := self._of(f)) is not None}
        return Situation(
            now=self._context.clock.now(),
            zero=self._start,
            injected=known,
            effective=[name for name, p in known.items() if p.effective_at is not None],
            expected={*known, *(f.name for f in self._chosen)},
            history=self._alerts,
        )

    def _alerts(self) -> AlertHistory:
        """Return the current alert history, cached until the next advance."""
        if self._history is None or self._history.end < self._context.clock.now():
            self._history = self._context.history()
        return self._history


def _blame_injector(context: TrialContext, fault: Fault) -> None:
    """Raise if infrastructure is unhealthy: a missing effect is then not the scenario's fault."""
    if fault.experiments and (problems := context.health()):
        raise InfrastructureError("; ".join(problems))


def _explain_hindered(context: TrialContext, fault: Fault) -> str:
    """Explain what keeps pods of the target from running, often the actual reason for a missing effect."""
    workload = fault.target.groupless
    why = symptoms.explain_hindered(list_pods(context), context.runbook.app, workload)
    return f"; pods of {workload} wait: {'; '.join(why)}" if why else ""


def _explain_outlived(context: TrialContext, fault: Fault) -> str:
    """Return the fix for old pods that keep serving because new ones never become ready."""
    written = {c.operation.about(None) for c in fault.changes if c.operation.patches}
    waiting = ((o["kind"], o["metadata"]["name"]) for o in context.contents(*WORKLOADS) if not is_settled(o))
    stuck = sorted("/".join(each) for each in waiting if each in written)
    if not stuck or fault.rollout.drop_old:
        return ""
    return (
        f"add `rollout: {{dropOld: true}}` to fault '{fault.name}': new pods of {' and '.join(stuck)} do not become "
        "ready, so the rollout leaves the old ones in service"
    )


def _explain_masked(others: Sequence[str]) -> str:
    """Return the fix where other faults in force may mask this one."""
    if not others:
        return ""
    named = " and ".join(f"'{name}'" for name in others)
    return (
        f"start it before {named} if it is masked, or drop it; otherwise choose parameters "
        "that differ more from what the app already has"
    )


def report_without_effect(fault: Fault, observed: str, expected: str, fix: str = "") -> Finding:
    """Report a fault without effect."""
    return build_finding(
        "SK304",
        message=f"injecting '{fault.name}' ({fault.type} on {fault.target}) has no measurable effect",
        observed=observed,
        expected=expected,
        fix=fix or "choose parameters that differ more from what the app already has, or a target with traffic",
    )


def report_unproven(fault: Fault) -> Finding:
    """Report a fault whose effect checks hold in the healthy app."""
    return build_finding(
        "SK304",
        message=f"every effect check of '{fault.name}' ({fault.type}) holds before it is injected",
        observed="; ".join(c.describe or "a check without description" for c in fault.effect) + ": true",
        expected="a check that is false while nothing is broken",
        why="a check that is true anyway does not show an effect",
        fix=f"let `effect` of fault type '{fault.type}' check what only the fault causes",
    )


def _report_premature(check: Check, result: CheckResult) -> Finding | None:
    """Report an expected check with the wrong result before the fault; None if it is right."""
    if check.stays == (result.answer == "True") or (result.answer == "Unknown" and not check.stays):
        return None
    if check.stays:
        message = f"an expected check marked `stays` is not true before the fault: {result.describe}"
        expected, fix = result.expected, "correct the check, or remove `stays` if the fault makes it true"
    else:
        message = f"an expected check holds before the fault: {result.describe}"
        expected = "false while nothing is broken"
        fix = "check what only the fault causes, or write `stays: true` if it should keep holding"
    why = "a check that holds without the fault shows nothing about it"
    observed = result.observed or result.answer
    return build_finding("SK141", message=message, observed=observed, expected=expected, why=why, fix=fix)


def _report_refused(fault: Fault, refusal: Rejected) -> Finding:
    return build_finding(
        "SK121",
        message=f"injecting '{fault.name}' ({fault.type} on {fault.target}) is refused by {refusal.by}",
        observed=refusal.message,
        expected="changes that the cluster accepts",
        why="a change that is refused breaks nothing",
        fix="choose parameters that are valid for this object",
    )


def _report_never_started(fault: Fault, desired: str, within: float, history: AlertHistory) -> Finding:
    firing = sorted({name_alert(t) for t in history.timelines if t.firing_at(history.end)})
    return build_finding(
        "SK331",
        message=f"fault '{fault.name}' never started: {desired}, for which it waits, did not fire",
        observed=f"firing after {within:.0f} s: {', '.join(firing) or 'nothing'}",
        expected=f"{desired} within {within:.0f} s of the injection before it",
    )

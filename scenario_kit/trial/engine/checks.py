"""Waiting for checks: each must become true before its own deadline; unknown is not true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from scenario_kit.load.rules import build_finding
from scenario_kit.model import Check, CheckResult, Finding
from scenario_kit.model.authored.change import Until
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.observe import evaluate_check
from scenario_kit.trial.engine.context import TICK, TrialContext

#: What is changed by these faults stays changed until somebody takes it back.
_LASTING: Final = ("Object", "Workload", "Pod")


def answer_check(context: TrialContext, check: Check, now: float) -> CheckResult:
    """Return the answer to a check on the app of this trial."""
    return evaluate_check(
        check, context.cluster, context.metrics, context.namespace, now, others=context.runbook.namespaces
    )


def await_checks(context: TrialContext, checks: Sequence[Check]) -> list[CheckResult]:
    """Let time pass until every check was true once, or its deadline is over; the last answer of each."""
    checks = context.engine.placed(checks)
    start = context.clock.now()
    results: dict[int, CheckResult] = {}
    while True:
        now = context.clock.now()
        for index, check in enumerate(checks):
            known = results.get(index)
            if known is None or (known.answer != "True" and now <= start + check.within_seconds):
                results[index] = answer_check(context, check, now)
        waiting = [i for i, r in results.items() if r.answer != "True" and now < start + checks[i].within_seconds]
        if not waiting:
            return [results[i] for i in range(len(checks))]
        context.wait(now + TICK)


def await_until(context: TrialContext, until: Until) -> CheckResult:
    """Let time pass until the check after a change is true, or the deadline of the change is over.

    It is a pause, not a proof: whether the change did what it was made for is asked elsewhere.
    """
    return await_checks(context, [msgspec.structs.replace(until.check, within_seconds=until.within_seconds)])[0]


def prove_gone(context: TrialContext) -> list[Finding]:
    """Return a finding for each fault that is in force although everything that is to prove it gone is true."""
    now, injected = context.clock.now(), {r.group for r in context.engine.done(FAULT_GROUPS)}
    findings = []
    for fault in context.runbook.faults:
        checks = context.engine.placed(fault.undone)
        if not checks or fault.group not in injected or fault.persistence not in _LASTING:
            continue
        results = [answer_check(context, check, now) for check in checks]
        if all(result.answer == "True" for result in results):
            findings.append(
                build_finding(
                    "SK129",
                    message=f"what is to prove that fault '{fault.name}' is gone holds while it is in force",
                    observed="; ".join(f"{r.describe}: {r.observed}" for r in results),
                    expected="a check under `undone` that fails for as long as the fault is in force",
                    why="what is not proven to be gone spoils the next trial",
                    fix=f"let a check under `undone` of the fault type '{fault.type}' ask about what it changes",
                )
            )
    return findings

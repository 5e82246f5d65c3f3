"""Wait for checks, each with its own deadline; Unknown is not True."""

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

#: Persistence of faults that last until they are undone.
_LASTING: Final = ("Object", "Workload", "Pod")


def answer_check(context: TrialContext, check: Check, now: float) -> CheckResult:
    """Evaluate a check against the app of this trial."""
    return evaluate_check(
        check, context.cluster, context.metrics, context.namespace, now, others=context.runbook.namespaces
    )


def await_checks(context: TrialContext, checks: Sequence[Check]) -> list[CheckResult]:
    """Wait until every check was true once or its deadline has passed; return the last result of each."""
    checks = context.engine.resolve_checks(checks)
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


def answer_signs(context: TrialContext) -> list[CheckResult]:
    """Evaluate the checks that show a silent incident, now; none where alerts tell of it."""
    now = context.clock.now()
    return [answer_check(context, check, now) for check in context.engine.resolve_checks(context.runbook.expect.signs)]


def await_until(context: TrialContext, until: Until) -> CheckResult:
    """Wait until the check after a change is true or its deadline has passed.

    This only delays the next change; effect checks verify the change itself.
    """
    return await_checks(context, [msgspec.structs.replace(until.check, within_seconds=until.within_seconds)])[0]


def check_undone_checks_fail(context: TrialContext) -> list[Finding]:
    """Report each fault in force whose `undone` checks all pass."""
    now, injected = context.clock.now(), {r.group for r in context.engine.list_active(FAULT_GROUPS)}
    findings = []
    for fault in context.runbook.faults:
        checks = context.engine.resolve_checks(fault.undone)
        if not checks or fault.group not in injected or fault.persistence not in _LASTING:
            continue
        results = [answer_check(context, check, now) for check in checks]
        if all(result.answer == "True" for result in results):
            findings.append(
                build_finding(
                    "SK129",
                    message=f"the `undone` checks of fault '{fault.name}' pass while it is in force",
                    observed="; ".join(f"{r.describe}: {r.observed}" for r in results),
                    expected="an `undone` check that fails while the fault is in force",
                    why="a fault that is not verified as undone contaminates the next trial",
                    fix=f"let an `undone` check of fault type '{fault.type}' check what the fault changes",
                )
            )
    return findings

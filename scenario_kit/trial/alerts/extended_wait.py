"""For how long an incident that was only put off has to be waited for."""

from __future__ import annotations

from scenario_kit.judge.repair import resolved
from scenario_kit.judge.repair.capacity_relief import find_raised
from scenario_kit.judge.repair.collateral_changes import Write
from scenario_kit.trial.engine.context import TrialContext

#: Groups of receipts of what is tried against an incident.
_TRIED = ("Solution/", "Fix/", "Decoy/")


def compute_recurrence_time(context: TrialContext, repaired: float) -> float:
    """Compute seconds from the repair until whatever was only put off is back: it takes longer where there is more to
    fill.
    """
    expect, injected = context.runbook.expect, context.injected_at() or repaired
    writes = [Write(e.prior, e.after) for group in _TRIED for r in context.engine.done(group) for e in r.entries]
    factor = find_raised(context.runbook.objects, writes)
    return resolved.compute_recurrence_wait(context.history(), expect, injected, repaired, factor)

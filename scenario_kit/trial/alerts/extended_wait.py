"""The time that a postponed incident needs to recur."""

from __future__ import annotations

from scenario_kit.judge.repair import resolution
from scenario_kit.judge.repair.capacity_relief import measure_capacity_factor
from scenario_kit.judge.repair.collateral_changes import Write
from scenario_kit.trial.engine.context import TrialContext

#: Receipt groups of interventions against an incident.
_TRIED = ("Solution/", "Fix/", "Decoy/")


def compute_recurrence_time(context: TrialContext, repaired: float) -> float:
    """Compute the seconds from the repair until a postponed incident would recur: more headroom takes longer."""
    expect, injected = context.runbook.expect, context.injected_at() or repaired
    writes = [Write(e.prior, e.after) for group in _TRIED for r in context.engine.list_active(group) for e in r.entries]
    factor = measure_capacity_factor(context.runbook.objects, writes)
    return resolution.compute_recurrence_wait(context.history(), expect, injected, repaired, factor)

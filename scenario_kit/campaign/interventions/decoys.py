"""Which decoys can be tried together with repairs, and which need a trial of their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from scenario_kit.campaign.interventions.label_interventions import LeftOut
from scenario_kit.campaign.interventions.programs import list_by_use
from scenario_kit.model import Change, Procedure, Runbook, TrialStep


def find_independent_decoys(runbook: Runbook, repair: Sequence[TrialStep]) -> list[Procedure]:
    """Return decoys that create revisions of what the repair rolls back: it would return to one of these."""
    steps = [s for s in repair if s.kind == "change" and s.use != "RemoveFault"]
    changes = [c for s in steps for c in runbook.procedure(s.use, s.name).solution.changes]
    rolled = {c.operation.about(None) for c in changes if c.operation.rolls_back}
    return [
        decoy
        for decoy in list_by_use(runbook, "Decoy")
        if any(
            c.target and c.operation.creates_revision and c.operation.about(None) in rolled
            for c in decoy.solution.changes
        )
    ]


def find_separate_decoys(runbook: Runbook, claim: LeftOut) -> list[Procedure]:
    """Return decoys that can be tried after some causes were repaired: those that change none of the same objects."""
    decoys = list_by_use(runbook, "Decoy")
    return [d for d in decoys if not _list_overlaps(claim, d)]


def find_overlapping_decoys(runbook: Runbook, claim: LeftOut) -> list[Procedure]:
    """Return decoys that change the same objects as the repair of other causes, but leave them there."""
    decoys = [(d, _list_overlaps(claim, d)) for d in list_by_use(runbook, "Decoy")]
    return [d for d, overlaps in decoys if overlaps and all(_keeps_target(c) for c in overlaps)]


def _list_overlaps(claim: LeftOut, decoy: Procedure) -> list[Change]:
    done = {c.target for cause in claim.repaired for c in cause.fix.solution.changes}
    return [c for c in decoy.solution.changes if not c.operation.restarts and c.target in done]


def _keeps_target(change: Change) -> bool:
    return change.operation.overwrites and not change.operation.deletes

"""Check that a repair leaves the rest of the app unchanged."""

from __future__ import annotations

from scenario_kit.judge.repair.collateral_changes import Write, find_alterations, find_restrictions
from scenario_kit.judge.repair.resolution import Resolution
from scenario_kit.model.authored.fault import FAULT_GROUPS
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.model.results.incident_objects import list_involved
from scenario_kit.trial.engine import noise
from scenario_kit.trial.engine.context import TrialContext


def check_integrity(context: TrialContext) -> Resolution:
    """Check that the app differs from its deployed state only where a fault changed it."""
    runbook = context.runbook
    kinds = {
        (r.kind, r.group, r.namespace) for o in runbook.objects if (r := make_object_reference(o, context.namespace))
    }
    now = [o for kind, group, namespace in sorted(kinds) for o in context.cluster.list(kind, namespace, group=group)]
    done = [*context.engine.list_receipts(FAULT_GROUPS), *context.engine.list_receipts(noise.GROUP)]
    writes = [Write(e.prior, e.after) for r in done for e in r.entries]
    parts = list_involved(runbook.faults, runbook.expect, runbook.ground_truth.propagation)
    problems = find_alterations(runbook.app, runbook.objects, now, writes, parts)
    others = [r for r in context.engine.list_active() if r not in done]
    made = [e.after for r in others for e in r.entries if e.prior is None and e.after is not None]
    known = [*runbook.objects, *(obj for write in writes for obj in write if obj is not None)]
    problems += find_restrictions(made, known)
    return Resolution(answer="False" if problems else "True", reasons=tuple(problems))

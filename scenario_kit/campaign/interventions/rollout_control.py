"""The sham control (docs/plans.md): the restarts that injecting brings with it, without the change itself. Pure.

A fault that rolls a workload also disturbs it for a moment. If that moment alone raised an alert, the alert would say
nothing about the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from scenario_kit.model import Change, Fault, Procedure, Runbook, Solution

USE: Final = "Sham"
NAME: Final = "rollout"


def build_rollout_control(runbook: Runbook) -> Procedure | None:
    """Build the rollouts of a scenario's faults as a procedure; None where injecting replaces no pod of a workload."""
    thorough: dict[str, bool] = {}
    for fault in runbook.faults:
        for target, drops in _find_rollouts(fault):
            thorough[target] = thorough.get(target, False) or drops
    if not thorough:
        return None
    changes = tuple(Change.from_json({"restart": {"target": t, "dropOld": drops}}) for t, drops in thorough.items())
    return Procedure(use=USE, name=NAME, solution=Solution(name=NAME, description="", changes=changes))


def add_rollout_control(runbook: Runbook) -> Runbook:
    """Return the runbook with that procedure among its own."""
    found = build_rollout_control(runbook)
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, found)) if found else runbook


def _find_rollouts(fault: Fault) -> Iterator[tuple[str, bool]]:
    """Find workloads whose pods injecting replaces, and whether all of the old ones go first."""
    for change in fault.changes:
        yield from change.operation.list_rollouts(fault.rollout.drop_old)
    if fault.rollout.reconnect == "Callers":
        yield from ((caller, True) for caller in fault.callers)

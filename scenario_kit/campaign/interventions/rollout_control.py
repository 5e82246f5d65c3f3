"""The sham control (docs/plans.md): the restarts that an injection causes, without the change itself. Pure.

A rollout disturbs a workload for a moment. An alert raised by that alone would say nothing about the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from scenario_kit.model import Change, Fault, Procedure, Runbook, Solution

USE: Final = "Sham"
NAME: Final = "rollout"


def build_rollout_control(runbook: Runbook) -> Procedure | None:
    """Build the rollouts of the faults as a procedure; None if the injection replaces no pods."""
    thorough: dict[str, bool] = {}
    for fault in runbook.faults:
        for target, drops in _find_rollouts(fault):
            thorough[target] = thorough.get(target, False) or drops
    if not thorough:
        return None
    changes = tuple(Change.from_json({"restart": {"target": t, "dropOld": drops}}) for t, drops in thorough.items())
    return Procedure(use=USE, name=NAME, solution=Solution(name=NAME, description="", changes=changes))


def add_rollout_control(runbook: Runbook) -> Runbook:
    """Add that procedure to a runbook."""
    found = build_rollout_control(runbook)
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, found)) if found else runbook


def _find_rollouts(fault: Fault) -> Iterator[tuple[str, bool]]:
    """Yield workloads whose pods the injection replaces, and whether all old ones are deleted first."""
    for change in fault.changes:
        yield from change.operation.list_rollouts(fault.rollout.drop_old)
    if fault.rollout.reconnect == "Callers":
        yield from ((caller, True) for caller in fault.callers)

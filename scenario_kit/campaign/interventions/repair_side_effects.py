"""Find side effects of a cause's repair on other objects (docs/validator.md). Pure.

If the repair that a fault declares for a cause also undoes what the fault did to another object, clearing the alerts
does not prove the label: the other object might be the cause. So that part of the repair is tried alone, and must not
help. The same holds for causes that are conjunctive with it: each must be repairable without the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign.interventions.label_interventions import CauseRepair, find_repairs
from scenario_kit.model import Change, Procedure, Runbook
from scenario_kit.model.authored.app import FlagStore

#: Suffix of the names of these procedures.
BESIDE: Final = ":beside"


class SideEffect(NamedTuple):
    """A cause, the part of its repair that affects other objects, and the causes to repair first."""

    cause: CauseRepair
    part: Procedure
    others: tuple[CauseRepair, ...]


def find_side_effects(runbook: Runbook) -> list[SideEffect]:
    """Return every answer whose repair also undoes what the fault did to other objects, in order."""
    found: dict[str, SideEffect] = {}
    for causes in find_repairs(runbook):
        for cause in causes:
            if (part := _build_partial_repair(runbook, cause)) is not None:
                found.setdefault(cause.fix.name, SideEffect(cause, part, tuple(c for c in causes if c is not cause)))
    return list(found.values())


def add_side_effects(runbook: Runbook) -> Runbook:
    """Add these partial repairs to the procedures of a runbook."""
    parts = tuple(each.part for each in find_side_effects(runbook))
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, *parts))


def _build_partial_repair(runbook: Runbook, cause: CauseRepair) -> Procedure | None:
    """Return a repair without its changes to the cause; None if the rest does not undo anything of the fault."""
    fault = runbook.fault(cause.fault)
    flags = runbook.app.flags
    fix = cause.fix.solution.changes
    changes = [c for c in fix if c.operation.about(flags) != cause.entity.bare]
    if all(c.operation.runs_command or c.operation.restarts for c in fix):
        return None  # a repair by commands is within the cause
    ran = any(c.operation.runs_command for c in changes) and any(c.operation.runs_command for c in fault.changes)
    if not ran and _find_touched(fault.changes, flags).isdisjoint(_find_touched(changes, flags)):
        return None
    name = f"{cause.fix.name}{BESIDE}"
    solution = msgspec.structs.replace(cause.fix.solution, name=name, changes=tuple(changes))
    return Procedure(use="Fix", name=name, solution=solution)


def _find_touched(changes: Iterable[Change], flags: FlagStore | None) -> set[tuple[str, str]]:
    """Return the objects of the changes, except for restarts, which do not write anything."""
    return {about for c in changes if not c.operation.restarts and (about := c.operation.about(flags)) is not None}

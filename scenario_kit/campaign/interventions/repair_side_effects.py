"""What the repair of a cause does beside that cause (docs/validator.md). Pure.

A fault says itself how its causes are repaired. Where such a repair also takes back what the fault did to another
object, that it clears the alerts says nothing about the label: the other object could be the cause. So that part of it
is tried alone, and must not help. That holds for what joins conjunctively with the cause, too: each has to be repaired
without the other, or naming it would be an answer that nothing shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign.interventions.label_interventions import CauseRepair, find_repairs
from scenario_kit.model import Change, Procedure, Runbook
from scenario_kit.model.authored.app import FlagStore
from scenario_kit.model.kubernetes.reference import strip_reference

#: Ends the names of these procedures; they begin like the repair of which they are a part.
BESIDE: Final = ":beside"


class SideEffect(NamedTuple):
    """A cause, the part of its repair that is about other objects, and what has to be repaired for that to show."""

    cause: CauseRepair
    part: Procedure
    others: tuple[CauseRepair, ...]


def find_side_effects(runbook: Runbook) -> list[SideEffect]:
    """Find every answer whose repair also takes back what the fault did to other objects, in their order."""
    found: dict[str, SideEffect] = {}
    for causes in find_repairs(runbook):
        for cause in causes:
            if (part := _build_partial_repair(runbook, cause)) is not None:
                found.setdefault(cause.fix.name, SideEffect(cause, part, tuple(c for c in causes if c is not cause)))
    return list(found.values())


def add_side_effects(runbook: Runbook) -> Runbook:
    """Return the runbook with those parts among its procedures."""
    parts = tuple(each.part for each in find_side_effects(runbook))
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, *parts))


def _build_partial_repair(runbook: Runbook, cause: CauseRepair) -> Procedure | None:
    """Build what is left of a repair without what it does to the cause; None where nothing of that undoes the fault."""
    fault = runbook.fault(cause.fault)
    flags = runbook.app.flags
    fix = cause.fix.solution.changes
    changes = [c for c in fix if c.operation.about(flags) != strip_reference(cause.entity)]
    if all(c.operation.runs_command or c.operation.restarts for c in fix):
        return None  # what only a command can repair is inside of the cause
    ran = any(c.operation.runs_command for c in changes) and any(c.operation.runs_command for c in fault.changes)
    if not ran and _find_touched(fault.changes, flags).isdisjoint(_find_touched(changes, flags)):
        return None
    name = f"{cause.fix.name}{BESIDE}"
    solution = msgspec.structs.replace(cause.fix.solution, name=name, changes=tuple(changes))
    return Procedure(use="Fix", name=name, solution=solution)


def _find_touched(changes: Iterable[Change], flags: FlagStore | None) -> set[tuple[str, str]]:
    """Find what the changes are about, but for restarts: these write nothing, and take nothing back."""
    return {about for c in changes if not c.operation.restarts and (about := c.operation.about(flags)) is not None}

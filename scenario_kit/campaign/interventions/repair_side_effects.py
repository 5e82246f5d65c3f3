"""Split a cause's repair into what it does to the cause and what it does to other objects (docs/validator.md). Pure.

If the repair that a fault declares for a cause also changes other objects, clearing the alerts does not prove it.
The other object might be the cause: that part of the repair is tried alone, and must not help. Or it might be a second
cause without a label: the repair is also tried without that part, and must suffice. The same holds for causes that are
conjunctive with it: each must be repairable without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from scenario_kit.campaign.interventions.label_interventions import CauseRepair, find_repairs, list_answers
from scenario_kit.lint.simulation.applied_changes import apply_changes
from scenario_kit.model import Change, Fault, Object, Procedure, Runbook
from scenario_kit.model.results.trial import APART
from scenario_kit.render.objects.lookup import look_up

#: Suffix of the names of the parts on other objects.
BESIDE: Final = ":beside"
#: Kinds whose objects change others themselves, so that what these became is damage by the cause.
_ACTING: Final = ("CronJob", "Job")
#: Kinds whose objects may repair data that the cause damaged, and then end.
_PASSING: Final = ("CronJob", "Job", "Pod")


class SideEffect(NamedTuple):
    """A cause, a part of its repair, and the causes to repair first."""

    cause: CauseRepair
    part: Procedure
    others: tuple[CauseRepair, ...]


def find_side_effects(runbook: Runbook) -> list[SideEffect]:
    """Return the part of each answer's repair that changes other objects, in order."""
    return _collect(runbook, _select_beside, BESIDE)


def find_own_repairs(runbook: Runbook) -> list[SideEffect]:
    """Return each answer's repair without the part that changes unlabelled objects, where there is one, in order."""
    return _collect(runbook, _select_own, APART)


def add_side_effects(runbook: Runbook) -> Runbook:
    """Add these partial repairs to the procedures of a runbook."""
    parts = tuple(each.part for each in (*find_side_effects(runbook), *find_own_repairs(runbook)))
    return msgspec.structs.replace(runbook, procedures=(*runbook.procedures, *parts))


def _collect(
    runbook: Runbook, select: Callable[[Runbook, CauseRepair], Sequence[Change]], suffix: str
) -> list[SideEffect]:
    found: dict[str, SideEffect] = {}
    for causes in find_repairs(runbook):
        for cause in causes:
            if changes := select(runbook, cause):
                name = f"{cause.fix.name}{suffix}"
                solution = msgspec.structs.replace(cause.fix.solution, name=name, changes=tuple(changes))
                others = tuple(c for c in causes if c is not cause)
                found.setdefault(
                    cause.fix.name, SideEffect(cause, Procedure(use="Fix", name=name, solution=solution), others)
                )
    return list(found.values())


def _select_beside(runbook: Runbook, cause: CauseRepair) -> list[Change]:
    """Return a repair's changes to other objects; none if these do not take back anything of the fault.

    Restarts alone are a cheat, which is tried anyway; but where the fault ran a command in a store, they take it back.
    """
    fix, flags = cause.fix.solution.changes, runbook.app.flags
    beside = [c for c in fix if c.operation.about(flags) != cause.entity.bare]
    return beside if not _is_whole(fix) and _list_taken_back(runbook, cause, beside) else []


def _select_own(runbook: Runbook, cause: CauseRepair) -> list[Change]:
    """Return a repair without what it takes back at objects without a label; none if that is nothing, or everything.

    Its restarts stay, as processes read what was repaired; not those of stores in which the fault ran a command. What
    it creates stays unless the cause is as before without it: then it can only make up for something else.
    """
    fix, flags = cause.fix.solution.changes, runbook.app.flags
    if _is_whole(fix) or cause.entity.kind in _ACTING:
        return []
    labelled = {each.entity.bare for each in list_answers(runbook)}
    beside = [c for c in fix if c.operation.about(flags) not in labelled]
    taken = _list_taken_back(runbook, cause, beside)
    own = [c for c in fix if c not in taken]
    created = [c for c in own if c in beside and _makes_lasting(c)]
    if created and _is_restored(runbook, cause, kept := [c for c in own if c not in created]):
        own = kept
    return own if len(own) < len(fix) and any(c.operation.about(flags) in labelled for c in own) else []


def _makes_lasting(change: Change) -> bool:
    """Return whether a change creates an object that stays."""
    return change.operation.creates and (change.operation.manifest or {}).get("kind") not in _PASSING


def _is_restored(runbook: Runbook, cause: CauseRepair, changes: Sequence[Change]) -> bool:
    """Return whether these changes undo all that the fault wrote to a cause, as far as rendered objects show it."""
    broken = _apply(runbook, runbook.objects, runbook.fault(cause.fault).changes)
    stages = (runbook.objects, broken, _apply(runbook, broken, changes))
    healthy, wrong, repaired = (look_up(objects, cause.entity, runbook.namespace) for objects in stages)
    return healthy != wrong and healthy == repaired


def _apply(runbook: Runbook, objects: Sequence[Object], changes: Sequence[Change]) -> Sequence[Object]:
    applied = list(apply_changes(objects, changes, runbook.app, runbook.namespace))
    return applied[-1].after if applied else objects


def _list_taken_back(runbook: Runbook, cause: CauseRepair, changes: Sequence[Change]) -> list[Change]:
    """Return the changes that take back something of the fault: at the objects that it wrote, or in its stores."""
    fault, flags = runbook.fault(cause.fault), runbook.app.flags
    written = {c.operation.about(flags) for c in fault.changes if not c.operation.restarts} - {None}
    ran = any(c.operation.runs_command for c in fault.changes)
    stores = _list_stores(runbook, fault)

    def takes_back(change: Change) -> bool:
        if change.operation.runs_command:
            return ran
        if change.operation.on_nodes:  # whose names are known to the cluster only
            return any(c.operation.on_nodes for c in fault.changes)
        about = change.operation.about(flags)
        return about in stores if change.operation.restarts else about in written

    return [change for change in changes if takes_back(change)]


def _is_whole(fix: Sequence[Change]) -> bool:
    """Return whether a repair removes the fault, or consists of commands and restarts, which are within the cause."""
    return any(c.operation.fault for c in fix) or all(c.operation.runs_command or c.operation.restarts for c in fix)


def _list_stores(runbook: Runbook, fault: Fault) -> set[tuple[str, str]]:
    """Return the workloads in which a fault ran a command."""
    clients = [runbook.app.client(name) for c in fault.changes if (name := c.operation.name_client())]
    stores = [runbook.app.component(client.store) for client in clients if client is not None]
    return {store.workload.bare for store in stores if store is not None}

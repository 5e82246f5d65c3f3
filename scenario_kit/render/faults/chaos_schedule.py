"""A fault of Chaos Mesh that comes again and again: a Schedule starts the experiment anew, and is then the cause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from scenario_kit.model import Change, Fault, Object, Solution
from scenario_kit.model.authored.check import Check, ObjectCheck
from scenario_kit.model.authored.scenario import Recurrence
from scenario_kit.model.chaos.kinds import GROUP, ONE_SHOT, SCHEDULE, schedule_key
from scenario_kit.render.templating.authoring_error import build_error

#: Schedules follow the wall clock, so they make nothing of virtual time.
WALL_CLOCK: Final = "wall-clock"
#: What hurts for less than this cannot be told from a restart, by the effect checks of faults.
_SHORTEST: Final = 180


def make_recurring(fault: Fault, recurrence: Recurrence) -> Fault:
    """Make the fault with a Schedule in place of its experiment, wherever it speaks of it.

    Each time, the Schedule selects the pods of the moment. What the fault is proven by gets one period more of time.

    Raises:
        AuthoringError: the fault is none of Chaos Mesh, or the times do not fit it.
    """
    if len(fault.experiments) != 1:
        raise build_error(
            "SK304",
            f"fault '{fault.name}': {fault.type} cannot recur",
            expected="a fault that is one experiment of Chaos Mesh",
            fix=f"leave out `recurrence` of fault '{fault.name}'",
        )
    experiment = fault.experiments[0]
    _demand(fault, experiment, recurrence)
    old = f"{experiment['kind']}.{GROUP}/{experiment['metadata']['name']}"
    new = f"{SCHEDULE}.{GROUP}/{experiment['metadata']['name']}"
    moved = Fault.from_json(_rename_references(fault.to_json(), old, new))
    changes = tuple(_schedule_change(c, recurrence) for c in moved.changes)
    stop = next(e.fix for e in moved.causes if e.ref == new)
    return msgspec.structs.replace(
        moved,
        changes=changes,
        effect=tuple(_extend_deadline(c, new, recurrence.every_seconds) for c in moved.effect),
        mitigation="Native",
        persistence="Object",
        solutions=moved.solutions or (_build_stop(fault.name, stop),),
        requires=(*moved.requires, WALL_CLOCK),
    )


def require_wall_clock(faults: Iterable[Fault], clock: str) -> None:
    """Demand that the faults may run by this clock, ``Wall`` or ``Virtual``.

    Raises:
        AuthoringError: one of them follows the wall clock, so that virtual time would pass it by.
    """
    for fault in faults:
        if clock != "Wall" and WALL_CLOCK in fault.requires:
            raise build_error(
                "SK304",
                f"fault '{fault.name}' recurs by the wall clock and cannot run in virtual time",
                observed=f"a trial in {clock.lower()} time",
                expected="a live scenario, by the wall clock",
                why="it would seldom or never come while virtual time flies, and the trial would prove nothing",
                fix="apply the scenario with kubectl, or leave out `recurrence` while it is tried and verified",
            )


def _demand(fault: Fault, experiment: Object, recurrence: Recurrence) -> None:
    passing = experiment["spec"].get("action") in ONE_SHOT
    lasts = recurrence.for_seconds
    if passing and lasts:
        wrong, fix = "is over at once, so it has no `forSeconds`", "leave out recurrence.forSeconds"
    elif not passing and not lasts:
        wrong, fix = "lasts, so it needs `forSeconds`", "say in recurrence.forSeconds how long it lasts each time"
    elif lasts and lasts < _SHORTEST:
        wrong, fix = "could not be proven in so short a time", f"choose forSeconds of {_SHORTEST} at least"
    elif lasts >= recurrence.every_seconds:
        wrong, fix = "would come again before it is over", "choose forSeconds below everySeconds"
    else:
        return
    raise build_error("SK304", f"fault '{fault.name}': {fault.type} {wrong}", fix=fix)


def _rename_references(document: Any, old: str, new: str) -> Any:
    if isinstance(document, dict):
        return {k: _rename_references(v, old, new) for k, v in document.items()}
    if isinstance(document, list | tuple):
        return [_rename_references(v, old, new) for v in document]
    return new if document == old else document


def _schedule_change(change: Change, recurrence: Recurrence) -> Change:
    experiment = change.operation.experiment
    if experiment is None:
        return change
    spec = dict(experiment["spec"])
    if recurrence.for_seconds:
        spec["duration"] = f"{recurrence.for_seconds}s"
    schedule = {
        **experiment,
        "kind": SCHEDULE,
        "spec": {
            "schedule": f"@every {recurrence.every_seconds}s",
            "type": experiment["kind"],
            "concurrencyPolicy": "Forbid",
            "historyLimit": 1,
            schedule_key(experiment["kind"]): spec,
        },
    }
    return change.edit_manifest(lambda _: schedule)


def _extend_deadline(check: Check, schedule: str, seconds: int) -> Check:
    """Return the deadline with one period more; the time of the Schedule's last start stands for the experiment's
    status.
    """
    later = msgspec.structs.replace(check, within_seconds=check.within_seconds + seconds)
    if check.object is None or check.object.ref != schedule:
        return later
    return msgspec.structs.replace(later, object=ObjectCheck(ref=schedule, path="status.time", exists=True))


def _build_stop(fault: str, changes: tuple[Change, ...]) -> Solution:
    return Solution(
        name="stop-recurrence", fixes=(fault,), description="Delete the object that starts it again", changes=changes
    )

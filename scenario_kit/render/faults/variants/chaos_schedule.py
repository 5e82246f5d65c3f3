"""Recurring chaos experiments, rendered as a Chaos Mesh Schedule, which becomes the root cause."""

from __future__ import annotations

from typing import Final

import msgspec

from scenario_kit.model import Change, Fault, Object, Reference, Solution
from scenario_kit.model.authored.check import Check, ObjectCheck
from scenario_kit.model.authored.scenario import Recurrence
from scenario_kit.model.chaos.kinds import GROUP, ONE_SHOT, SCHEDULE, schedule_key
from scenario_kit.model.json_document import replace_texts
from scenario_kit.render.templating.authoring_error import build_error

#: Minimum duration in seconds; effect checks cannot distinguish a shorter outage from a restart.
_MIN_SECONDS: Final = 180


def make_recurring(fault: Fault, recurrence: Recurrence) -> Fault:
    """Replace the experiment of a fault, and all references to it, with a Schedule.

    The Schedule selects pods again at each start. Effect checks get one more period to succeed.

    Raises:
        AuthoringError: the fault is not a single chaos experiment, or the times do not suit it.
    """
    if len(fault.experiments) != 1:
        raise build_error(
            "SK304",
            f"fault '{fault.name}': {fault.type} cannot recur",
            expected="a fault with exactly one Chaos Mesh experiment",
            fix=f"remove `recurrence` from fault '{fault.name}'",
        )
    experiment = fault.experiments[0]
    _check_times(fault, experiment, recurrence)
    old = Reference(experiment["kind"], experiment["metadata"]["name"], group=GROUP)
    new = Reference(SCHEDULE, old.name, group=GROUP)
    scheduled = Fault.from_json(replace_texts(fault.to_json(), lambda text: new if text == old else text))
    changes = tuple(_schedule_change(c, recurrence) for c in scheduled.changes)
    # A type that blames another object, or repairs nothing, is reported by the rules about labels.
    stop = next((e.fix for e in scheduled.causes if e.ref == new), ())
    return msgspec.structs.replace(
        scheduled,
        changes=changes,
        effect=tuple(_extend_deadline(c, new, recurrence.every_seconds) for c in scheduled.effect),
        mitigation="Native",
        persistence="Object",
        solutions=scheduled.solutions or ((_build_stop(fault.name, stop),) if stop else ()),
    )


def _check_times(fault: Fault, experiment: Object, recurrence: Recurrence) -> None:
    one_shot = experiment["spec"].get("action") in ONE_SHOT
    lasts = recurrence.for_seconds
    if one_shot and lasts:
        wrong, fix = "is a one-shot action and has no `forSeconds`", "remove recurrence.forSeconds"
    elif not one_shot and not lasts:
        wrong, fix = "needs `forSeconds`", "set recurrence.forSeconds to the duration of each occurrence"
    elif lasts and lasts < _MIN_SECONDS:
        wrong, fix = "is too short to be verified", f"set forSeconds to at least {_MIN_SECONDS}"
    elif lasts >= recurrence.every_seconds:
        wrong, fix = "would start again before it ends", "set forSeconds below everySeconds"
    else:
        return
    raise build_error("SK304", f"fault '{fault.name}': {fault.type} {wrong}", fix=fix)


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


def _extend_deadline(check: Check, schedule: Reference, seconds: int) -> Check:
    """Extend a check's deadline by one period; a check of the experiment's status reads instead what was started."""
    later = msgspec.structs.replace(check, within_seconds=check.within_seconds + seconds)
    if check.object is None or check.object.ref != schedule:
        return later
    return msgspec.structs.replace(later, object=ObjectCheck(ref=schedule, path="status.active[0].name", exists=True))


def _build_stop(fault: str, changes: tuple[Change, ...]) -> Solution:
    return Solution(
        name="stop-recurrence", fixes=(fault,), description="Delete the object that starts it again", changes=changes
    )

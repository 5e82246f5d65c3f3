"""Programs: which steps a trial of each purpose consists of (design §5, validation.md §4 and §7). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.judge.expectations import same_entity
from scenario_kit.model import Entity, Fault, Procedure, Runbook, Step

_START: Final = (Step(kind="deploy"), Step(kind="expectQuiet"))
_BREAK: Final = (Step(kind="inject"), Step(kind="expectAlerts"))
_END: Final = (Step(kind="teardown"), Step(kind="expectClean"))


def live() -> tuple[Step, ...]:
    """A Scenario that was applied: broken until somebody resolves it; deleting the object cleans up."""
    return (*_START, *_BREAK, Step(kind="expectCleared", forever=True))


def paired(decoys: Sequence[Procedure], solution: Procedure | None) -> tuple[Step, ...]:
    """The paired repeat: quiet, broken, held; each decoy tried and undone; then the solution."""
    steps: list[Step] = [*_START, *_BREAK, Step(kind="hold")]
    for decoy in decoys:
        steps += [
            Step(kind="change", use="Decoy", name=decoy.name),
            Step(kind="expectStillFiring", use="Decoy", name=decoy.name),
            Step(kind="undoChange", use="Decoy", name=decoy.name),
        ]
    if solution is not None:
        steps += [
            Step(kind="change", use="Solution", name=solution.name),
            Step(kind="expectCleared", use="Solution", name=solution.name),
        ]
    return (*steps, *_END)


def solve(solution: Procedure) -> tuple[Step, ...]:
    """A further solution, on an app that nothing else was tried on."""
    return (
        *_START,
        *_BREAK,
        Step(kind="change", use="Solution", name=solution.name),
        Step(kind="expectCleared", use="Solution", name=solution.name),
        *_END,
    )


def control(seconds: int) -> tuple[Step, ...]:
    """The no-fault control: as long as a repeat is from quiet to the end of hold, and nothing may fire."""
    return (Step(kind="deploy"), Step(kind="expectQuiet", seconds=seconds), *_END)


def fix_only(fixes: Sequence[Procedure]) -> tuple[Step, ...]:
    """The label intervention: repairing just what is labelled must resolve the incident."""
    changes = [Step(kind="change", use="Fix", name=f.name) for f in fixes]
    names = ", ".join(f.name for f in fixes)
    return (*_START, *_BREAK, *changes, Step(kind="expectCleared", use="Fix", name=names), *_END)


def fix_others(fixes: Sequence[Procedure]) -> tuple[Step, ...]:
    """The counter-intervention: repairing everything but what is labelled must not clear the alerts."""
    changes = [Step(kind="change", use="Fix", name=f.name) for f in fixes]
    names = ", ".join(f.name for f in fixes)
    return (*_START, *_BREAK, *changes, Step(kind="expectStillFiring", use="Fix", name=names), *_END)


def labelled(runbook: Runbook) -> tuple[list[Procedure], list[Procedure]]:
    """The fixes of the labelled causes, and those of every other cause that the faults wrote.

    A fix exists per cause entity of each fault, named ``<fault>:<position among its causes>``.
    """
    ours: list[Procedure] = []
    others: list[Procedure] = []
    for fault in runbook.faults:
        if fault.role == "Distractor":
            continue
        for position, entity in enumerate(fault.causes):
            fix = _fix(runbook, f"{fault.name}:{position}")
            if fix is not None:
                (ours if _is_labelled(runbook, fault, entity) else others).append(fix)
    return ours, others


def _fix(runbook: Runbook, name: str) -> Procedure | None:
    return next((p for p in runbook.procedures if p.use == "Fix" and p.name == name), None)


def _is_labelled(runbook: Runbook, fault: Fault, entity: Entity) -> bool:
    return any(
        cause.fault == fault.name and (not cause.entity or same_entity(cause.entity, entity.ref))
        for cause in runbook.ground_truth.root_causes
    )


def of_use(runbook: Runbook, use: str) -> list[Procedure]:
    """The procedures of one use, in the author's order."""
    return [p for p in runbook.procedures if p.use == use]

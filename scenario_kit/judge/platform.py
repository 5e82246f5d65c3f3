"""Which parts of a platform a trial rests on. Pure.

A part that a trial does not use may be missing or broken: it says nothing about the scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scenario_kit.model import Change, Check, Runbook, TrialStep, Value
from scenario_kit.model.chaos.kinds import GROUP

#: Steps that read alerts or traffic.
_MEASURING: Final = (
    "expectQuiet", "expectAlerts", "hold", "expectStillFiring", "expectCleared", "expectUnresolved",
)  # fmt: skip


class PlatformNeeds(Value, frozen=True, kw_only=True):
    """What a trial needs beside the API server: whatever injects ``chaos``, and the ``metrics`` of Prometheus."""

    chaos: bool = True
    metrics: bool = True


def find_platform_needs(runbook: Runbook, steps: Iterable[TrialStep]) -> PlatformNeeds:
    """Find what a program of steps needs for a runbook.

    Chaos Mesh is needed where a fault, a procedure, noise or the app itself has an object of it, and Prometheus where a
    step reads alerts or traffic, or a check asks it.
    """
    changes = tuple(_list_changes(runbook))
    objects = (*runbook.objects, *(m for c in changes if (m := c.operation.manifest)))
    named = (c.operation.ref for c in changes)
    chaos = any(str(o.get("apiVersion")).startswith(f"{GROUP}/") for o in objects)
    chaos = chaos or any(ref is not None and ref.group == GROUP for ref in named)
    queries = any(check.query is not None for check in _list_checks(runbook, changes))
    return PlatformNeeds(chaos=chaos, metrics=queries or any(step.kind in _MEASURING for step in steps))


def _list_changes(runbook: Runbook) -> Iterator[Change]:
    for fault in runbook.faults:
        yield from (*fault.changes, *fault.undo)
    for procedure in runbook.procedures:
        yield from procedure.solution.changes
    for source in runbook.noise:
        yield from source.changes


def _list_checks(runbook: Runbook, changes: Iterable[Change]) -> Iterator[Check]:
    for fault in runbook.faults:
        yield from (*fault.effect, *fault.undone)
    yield from runbook.expect.checks
    yield from (change.until.check for change in changes if change.until is not None)

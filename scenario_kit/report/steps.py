"""Table rows of a trial's steps; consecutive skipped steps share a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from scenario_kit.model import StepStatus


class StepRow(NamedTuple):
    """A row: step names, start and duration in seconds (relative to the trial's start), outcome and message."""

    name: str
    at: float
    took: float | None
    outcome: str
    message: str


def build_step_rows(steps: Iterable[StepStatus], start: float) -> Iterator[StepRow]:
    """Yield a row per step, and one per run of skipped steps."""
    for skipped, run in groupby(steps, key=lambda step: step.outcome == "Skipped"):
        group = list(run)
        if skipped and len(group) > 1:
            names = ", ".join(step.step for step in group)
            yield StepRow(f"{len(group)} steps", group[0].started_at - start, None, "Skipped", names)
            continue
        for step in group:
            took = step.finished_at - step.started_at if step.finished_at is not None else None
            yield StepRow(step.step, step.started_at - start, took, step.outcome, step.message)

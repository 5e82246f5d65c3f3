"""The steps of a trial as rows: what ran one by one, what was skipped in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from scenario_kit.model import StepStatus


class StepRow(NamedTuple):
    """One row: the steps, seconds since the start of the trial, seconds that it took, its outcome, its message."""

    name: str
    at: float
    took: float | None
    outcome: str
    message: str


def build_step_rows(steps: Iterable[StepStatus], start: float) -> Iterator[StepRow]:
    """Yield a row for each step, and one for each run of steps that were skipped."""
    for skipped, run in groupby(steps, key=lambda step: step.outcome == "Skipped"):
        group = list(run)
        if skipped and len(group) > 1:
            names = ", ".join(step.step for step in group)
            yield StepRow(f"{len(group)} steps", group[0].started_at - start, None, "Skipped", names)
            continue
        for step in group:
            took = step.finished_at - step.started_at if step.finished_at is not None else None
            yield StepRow(step.step, step.started_at - start, took, step.outcome, step.message)

"""Detection metrics with control runs, which expose solvers that always claim an incident."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from scenario_kit.model.base import Value
from scenario_kit.scoring.statistics.estimate import Estimate, estimate_mean


class DetectionRun(NamedTuple):
    """One run: whether there was an incident, and whether one was claimed (None without a usable answer)."""

    name: str
    incident: bool
    claimed: bool | None


class DetectionSummary(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Detection metrics. Runs without a usable answer count as wrong, except for hallucination.

    Estimates without runs are None.
    """

    incidents: int
    controls: int
    sensitivity: Estimate | None = None
    specificity: Estimate | None = None
    hallucination_rate: Estimate | None = None
    accuracy: Estimate | None = None


def summarise_detection(runs: Iterable[DetectionRun]) -> DetectionSummary:
    """Compute sensitivity, specificity, ORCA-bench's hallucination rate (controls with a claim), and accuracy."""
    all_runs = list(runs)
    incidents = [run for run in all_runs if run.incident]
    controls = [run for run in all_runs if not run.incident]
    return DetectionSummary(
        incidents=len(incidents), controls=len(controls),
        sensitivity=_estimate_share(incidents, lambda run: run.claimed is True),
        specificity=_estimate_share(controls, lambda run: run.claimed is False),
        hallucination_rate=_estimate_share(controls, lambda run: run.claimed is True),
        accuracy=_estimate_share(all_runs, lambda run: run.claimed is run.incident),
    )  # fmt: skip


def _estimate_share(runs: Sequence[DetectionRun], is_met: Callable[[DetectionRun], bool]) -> Estimate | None:
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run.name, []).append(float(is_met(run)))
    return estimate_mean(values)

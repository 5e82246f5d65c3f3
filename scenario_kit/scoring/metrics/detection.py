"""Detection with control runs: who always claims an incident is right about incidents and wrong about quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from scenario_kit.model.base import Value
from scenario_kit.scoring.statistics.estimate import Estimate, estimate_mean


class DetectionRun(NamedTuple):
    """One run: whether there was an incident, and whether one was claimed; None where there is no usable answer."""

    name: str
    incident: bool
    claimed: bool | None


class DetectionSummary(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Runs without a usable answer are wrong everywhere; only for hallucination they claim nothing.

    Estimates are None where there are no such runs.
    """

    incidents: int
    controls: int
    sensitivity: Estimate | None = None
    specificity: Estimate | None = None
    hallucination_rate: Estimate | None = None
    accuracy: Estimate | None = None


def summarise_detection(runs: Iterable[DetectionRun]) -> DetectionSummary:
    """Summarise detection: the share of incidents detected, of controls left alone, of controls with a claimed incident
    (ORCA-bench's hallucination rate), and of all runs that are right.
    """
    kept = list(runs)
    incidents = [run for run in kept if run.incident]
    controls = [run for run in kept if not run.incident]
    return DetectionSummary(
        incidents=len(incidents), controls=len(controls),
        sensitivity=_estimate_share(incidents, lambda run: run.claimed is True),
        specificity=_estimate_share(controls, lambda run: run.claimed is False),
        hallucination_rate=_estimate_share(controls, lambda run: run.claimed is True),
        accuracy=_estimate_share(kept, lambda run: run.claimed is run.incident),
    )  # fmt: skip


def _estimate_share(runs: Sequence[DetectionRun], is_met: Callable[[DetectionRun], bool]) -> Estimate | None:
    values: dict[str, list[float]] = {}
    for run in runs:
        values.setdefault(run.name, []).append(float(is_met(run)))
    return estimate_mean(values)

"""Detection with control runs: who always claims an incident is right about incidents and wrong about quiet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scenario_kit.model.base import Value


class DetectionRun(NamedTuple):
    """One run: whether there was an incident, and whether one was claimed; None where there is no usable answer."""

    incident: bool
    claimed: bool | None


class DetectionSummary(Value, frozen=True, kw_only=True):
    """Runs without a usable answer are wrong everywhere; only for hallucination they claim nothing.

    Shares are None where there are no such runs.
    """

    incidents: int
    controls: int
    sensitivity: float | None = None
    specificity: float | None = None
    hallucination_rate: float | None = None
    accuracy: float | None = None


def summarise_detection(runs: Iterable[DetectionRun]) -> DetectionSummary:
    """Summarise detection: the share of incidents detected, of controls left alone, of controls with a claimed incident
    (ORCA-bench's hallucination rate), and of all runs that are right.
    """
    kept = list(runs)
    incidents = [run for run in kept if run.incident]
    controls = [run for run in kept if not run.incident]
    detected = sum(run.claimed is True for run in incidents)
    silent = sum(run.claimed is False for run in controls)
    return DetectionSummary(
        incidents=len(incidents), controls=len(controls),
        sensitivity=_compute_share(detected, len(incidents)), specificity=_compute_share(silent, len(controls)),
        hallucination_rate=_compute_share(sum(run.claimed is True for run in controls), len(controls)),
        accuracy=_compute_share(detected + silent, len(kept)),
    )  # fmt: skip


def _compute_share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

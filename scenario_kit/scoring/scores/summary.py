"""Aggregate scores over runs and incidents. Failed and missing runs count in every denominator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from scenario_kit import __version__
from scenario_kit.model.base import Value
from scenario_kit.scoring.graph.propagation import list_paths
from scenario_kit.scoring.metrics.complexity import compute_complexity
from scenario_kit.scoring.metrics.detection import DetectionRun, DetectionSummary, summarise_detection
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.scoring.scores.definitions import BY_KEY
from scenario_kit.scoring.scores.run_score import RunScore, TruthContext, score_run
from scenario_kit.scoring.scores.settings import ScoreSettings
from scenario_kit.scoring.statistics.estimate import Estimate, estimate_mean
from scenario_kit.scoring.statistics.pass_at_k import compute_pass_at_k
from scenario_kit.scoring.statistics.times import TimeSummary, summarise_times


class ScoreReport(Value, frozen=True, kw_only=True):
    """Scores of runs, aggregates and settings.

    ``pass_at_k`` has a value for each k up to the minimum number of runs per incident; ``without_answer`` counts
    missing, empty and invalid runs.
    """

    version: str
    settings: ScoreSettings
    runs: tuple[RunScore, ...]
    metrics: dict[str, Estimate]
    pass_at_k: dict[str, Estimate]
    times: dict[str, TimeSummary]
    detection: DetectionSummary
    complexity: dict[str, float]
    without_answer: int


#: Metrics that are 0 for runs without data as soon as any run has data.
_NOT_DONE: Final = (
    "mitigation", "safeguards.outcome", "coverage", "checklist", "checklist.passed", "root_cause_reasoning",
    "root_cause_reasoning_partial",
)  # fmt: skip


def score_runs(
    contexts: Mapping[str, TruthContext], records: Iterable[RunRecord], settings: ScoreSettings
) -> ScoreReport:
    """Score runs against the ground truths of their incidents, given by name in ``contexts``."""
    all_ = [*records]
    all_ += _list_missing(contexts, all_, settings.repeats)
    runs = _fill_failures([score_run(contexts[record.incident], record, settings) for record in all_])
    return ScoreReport(
        version=__version__, settings=settings, runs=runs, metrics=_estimate(runs, settings),
        pass_at_k=_estimate_pass_at_k(runs, settings.seed), times=_summarise_times(all_, runs, settings),
        detection=summarise_detection(DetectionRun(run.incident, not run.control, run.claimed) for run in runs),
        complexity={name: value for name, each in contexts.items() if (value := _measure_complexity(each)) is not None},
        without_answer=sum(run.state not in ("Answered", "Empty") or (run.state == "Empty" and not run.control)
                           for run in runs),
    )  # fmt: skip


def _list_missing(contexts: Mapping[str, TruthContext], records: Sequence[RunRecord], repeats: int) -> list[RunRecord]:
    """List placeholders for missing runs."""
    counts = dict.fromkeys(contexts, 0)
    for record in records:
        counts[record.incident] += 1
    return [
        RunRecord(incident=name, trial=f"missing-{i + 1}", problem="the run is missing")
        for name, count in counts.items() for i in range(repeats - count)
    ]  # fmt: skip


def _fill_failures(runs: Sequence[RunScore]) -> tuple[RunScore, ...]:
    """Fill missing metrics of failed runs with 0, so that they count in the denominator."""
    recorded = {key for run in runs for key in run.values}
    zeros = {key: 0.0 for key in _NOT_DONE if key in recorded}
    return tuple(
        run if run.control else msgspec.structs.replace(run, values=zeros | run.values) for run in runs
    )  # fmt: skip


def _estimate(runs: Sequence[RunScore], settings: ScoreSettings) -> dict[str, Estimate]:
    values: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        for key, value in run.values.items():
            values.setdefault(key, {}).setdefault(run.incident, []).append(value)
    found = {
        key: estimate_mean(values[key], settings.seed, share=metric.share)
        for key, metric in BY_KEY.items() if key in values
    }  # fmt: skip
    return {key: estimate for key, estimate in found.items() if estimate is not None}


def _group_runs(runs: Iterable[RunScore]) -> dict[str, list[RunScore]]:
    groups: dict[str, list[RunScore]] = {}
    for run in runs:
        groups.setdefault(run.incident, []).append(run)
    return groups


def _estimate_pass_at_k(runs: Sequence[RunScore], seed: int) -> dict[str, Estimate]:
    """Estimate pass@k over incidents without controls, which detection covers. pass@1 is a plain mean of runs."""
    groups = _group_runs(run for run in runs if not run.control)
    most = min(map(len, groups.values()), default=0)
    found = {}
    for k in range(1, most + 1):
        values = {
            name: [float(run.correct) for run in group] if k == 1
            else [compute_pass_at_k(len(group), sum(run.correct for run in group), k)]
            for name, group in groups.items()
        }  # fmt: skip
        estimate = estimate_mean(values, seed)
        assert estimate is not None  # every incident has a run
        found[str(k)] = estimate
    return found


def _summarise_times(
    records: Sequence[RunRecord], runs: Sequence[RunScore], settings: ScoreSettings
) -> dict[str, TimeSummary]:
    """Summarise the times to right results, for those that any record contains."""
    pairs = [(record, run) for record, run in zip(records, runs, strict=True) if not run.control]
    times = {
        "time_to_detection": [record.times.detection if run.claimed else None for record, run in pairs],
        "time_to_diagnosis": [record.times.diagnosis if run.correct else None for record, run in pairs],
        "time_to_mitigation": [record.times.mitigation if record.resolved else None for record, run in pairs],
        "time_to_escalation": [record.times.escalation for record, _ in pairs if record.escalation is not None],
    }
    recorded = {
        "time_to_detection": any(record.times.detection is not None for record, _ in pairs),
        "time_to_diagnosis": any(record.times.diagnosis is not None for record, _ in pairs),
        "time_to_mitigation": any(record.resolved is not None for record, _ in pairs),
        "time_to_escalation": any(record.times.escalation is not None for record, _ in pairs),
    }
    return {key: summarise_times(values, settings.cap, settings.seed) for key, values in times.items() if recorded[key]}


def _measure_complexity(context: TruthContext) -> float | None:
    """Compute the complexity from the longest path, the shortest repair and the number of kinds; None without a repair.

    The paper leaves the notion of a technology to experts; here it is a kind of object.
    """
    truth = context.index.truth
    if truth.steps is None or not context.index.roots:
        return None
    path = max(1, *(len(each) - 1 for each in list_paths(context.index)))
    return compute_complexity(path, truth.steps, len({group.kind.lower() for group in truth.groups}))

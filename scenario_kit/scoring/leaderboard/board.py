"""The leaderboard: every solver scored over the same incidents, and which incidents tell solvers apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from scenario_kit import __version__
from scenario_kit.model.base import Value
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.scoring.scores.run_score import RunScore, TruthContext
from scenario_kit.scoring.scores.settings import ScoreSettings
from scenario_kit.scoring.scores.summary import ScoreReport, score_runs
from scenario_kit.scoring.statistics.estimate import Estimate

#: The metric by which solvers are ranked: ITBench-AA's.
RANKED_BY: Final = "recall_gated_precision"
#: Further metrics of a row, if any run has them.
SHOWN: Final = (
    RANKED_BY, "root_cause_f1", "mitigation", "escalation.score", "turns", "tokens.total", "cost",
)  # fmt: skip
#: Solvers that blame the last change; incidents that they solve need no diagnosis.
TRIVIAL: Final = frozenset({"recent-change"})
#: Reference solvers, one with the answer and one that does nothing; irrelevant to difficulty.
REFERENCES: Final = frozenset({"oracle", "nop"})
UNNAMED: Final = "unnamed"


class LeaderboardRow(Value, frozen=True, kw_only=True):
    """One solver. ``rank`` is shared by solvers whose means are equal; ``exact`` is pass@1 of the whole diagnosis.

    ``solved`` has the share of exactly right runs of each incident, ``missing`` the runs that gave no answer.
    """

    rank: int
    solver: str
    models: tuple[str, ...] = ()
    runs: int
    missing: int
    metrics: dict[str, Estimate]
    exact: Estimate | None
    hallucination_rate: float | None = None
    solved: dict[str, float]


class IncidentRow(Value, frozen=True, kw_only=True):
    """One incident. ``solvers`` are those that got it exactly right in at least half of their runs.

    ``trivial`` says that one of them only looks at what changed last.
    """

    incident: str
    control: bool
    solvers: tuple[str, ...]
    trivial: bool


class Leaderboard(Value, frozen=True, kw_only=True):
    """Solvers from the best to the worst, and the incidents that all of them had."""

    version: str
    settings: ScoreSettings
    rows: tuple[LeaderboardRow, ...]
    incidents: tuple[IncidentRow, ...]


def build_leaderboard(
    contexts: Mapping[str, TruthContext], records: Iterable[RunRecord], settings: ScoreSettings
) -> Leaderboard:
    """Build the leaderboard of all solvers that have a record.

    Each is scored on every incident of ``contexts``. A missing run counts as failed, so that skipping
    difficult incidents does not help.
    """
    groups: dict[str, list[RunRecord]] = {}
    for record in records:
        groups.setdefault(record.solver or UNNAMED, []).append(record)
    reports = {solver: score_runs(contexts, runs, settings) for solver, runs in groups.items()}
    rows = [_build_row(solver, groups[solver], report) for solver, report in reports.items()]
    return Leaderboard(
        version=__version__, settings=settings, rows=rank_rows(rows),
        incidents=tuple(_build_incident(name, context, rows) for name, context in contexts.items()),
    )  # fmt: skip


def rank_rows(rows: Iterable[LeaderboardRow]) -> tuple[LeaderboardRow, ...]:
    """Rank rows by the mean that counts, then by the name; equal means share a rank, and the next rank counts them."""
    ordered = sorted(rows, key=lambda row: (-_read_mean(row), row.solver))
    means = [_read_mean(row) for row in ordered]
    return tuple(
        msgspec.structs.replace(row, rank=means.index(mean) + 1) for row, mean in zip(ordered, means, strict=True)
    )


def _read_mean(row: LeaderboardRow) -> float:
    estimate = row.metrics.get(RANKED_BY)
    return estimate.mean if estimate is not None else 0.0


def _build_row(solver: str, records: Sequence[RunRecord], report: ScoreReport) -> LeaderboardRow:
    rate = report.detection.hallucination_rate
    return LeaderboardRow(
        rank=0, solver=solver, models=tuple(sorted({record.model for record in records} - {""})),
        runs=len(report.runs), missing=report.without_answer,
        metrics={key: report.metrics[key] for key in SHOWN if key in report.metrics},
        exact=report.pass_at_k.get("1"), hallucination_rate=rate.mean if rate is not None else None,
        solved=_measure_solved(report.runs),
    )  # fmt: skip


def _measure_solved(runs: Iterable[RunScore]) -> dict[str, float]:
    found: dict[str, list[bool]] = {}
    for run in runs:
        found.setdefault(run.incident, []).append(run.correct)
    return {incident: sum(each) / len(each) for incident, each in found.items()}


def _build_incident(name: str, context: TruthContext, rows: Iterable[LeaderboardRow]) -> IncidentRow:
    solvers = tuple(sorted(row.solver for row in rows if row.solved.get(name, 0.0) >= 0.5))
    trivial = not context.control and bool(TRIVIAL & set(solvers))
    return IncidentRow(incident=name, control=context.control, solvers=solvers, trivial=trivial)

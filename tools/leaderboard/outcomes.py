"""Results of baselines on snapshots: one record per scenario, seed and solver."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenario_kit import __version__
from scenario_kit.cli.scoring.truths import load_contexts
from scenario_kit.model.base import Value
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.scores.run_score import score_run
from scenario_kit.scoring.scores.settings import ScoreSettings
from tools import records

#: Reference solvers: the first must always be correct, the second must never score.
CHECKS: Final = ("oracle", "nop")
#: A scenario that this baseline solves needs no diagnosis.
TRIVIAL: Final = "recent-change"


class SolvedScenario(NamedTuple):
    """The scenario and seed of a snapshot."""

    scenario: str
    seed: int


class BaselineOutcome(Value, frozen=True, kw_only=True):
    """The result of one run.

    Attributes:
        digest: digest of the scenario.
        correct: whether the claim is exactly right; in a control run, whether nothing was claimed.
        score: recall-gated precision; None in a control run, as is ``f1``.
        blamed: the entities that the answer claims.
        seconds: wall-clock duration.
    """

    scenario: str
    seed: int
    solver: str
    digest: str
    kit: str
    day: str
    control: bool
    correct: bool
    score: float | None = None
    f1: float | None = None
    blamed: tuple[str, ...] = ()
    turns: int = 0
    seconds: float = 0.0
    stop: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        """Scenario, seed and solver, which identify the run."""
        return self.scenario, self.seed, self.solver


def read_outcomes(path: Path) -> list[BaselineOutcome]:
    """Read all outcomes, the latest of each run."""
    return records.read(path, BaselineOutcome, lambda outcome: outcome.key)


def write_outcomes(path: Path, outcomes: Iterable[BaselineOutcome]) -> None:
    """Write outcomes in order, atomically."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    for outcome in sorted(outcomes, key=lambda each: each.key):
        records.append(new, outcome)
    new.replace(path)


def read_truth(folder: Path) -> dict[str, Any]:
    """Read the ground truth of a snapshot's scenario."""
    found: dict[str, Any] = json.loads((folder / "scenario_truth.json").read_text(encoding="utf-8"))
    return found


def collect_outcomes(solved: SolvedScenario, truth: Path, runs: Path, day: str) -> Iterator[BaselineOutcome]:
    """Yield the outcomes of one snapshot's runs, scored against its truth."""
    (context,) = load_contexts(truth, None, "")[0].values()
    own = read_truth(truth)
    for path in sorted(runs.rglob("record.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["scenario"]["id"] != context.index.truth.incident:
            continue
        score = score_run(context, read_run_record(read_source(path)), ScoreSettings())
        entities = (raw.get("answer") or {}).get("entities") or ()
        yield BaselineOutcome(
            scenario=solved.scenario, seed=solved.seed, solver=raw["agent"]["name"], digest=own["digest"],
            kit=__version__, day=day, control=context.control, correct=score.correct,
            score=score.values.get("recall_gated_precision"), f1=score.values.get("root_cause_f1"),
            blamed=tuple(each["name"] for each in entities if each.get("contributing_factor")),
            turns=raw["turns"], seconds=raw["wall_seconds"], stop=raw["stop_reason"],
        )  # fmt: skip


def find_solvers(outcomes: Iterable[BaselineOutcome]) -> Mapping[str, tuple[str, ...]]:
    """Return by scenario the baselines that are exactly right in at least half of their runs."""
    runs: dict[str, dict[str, list[bool]]] = {}
    for each in outcomes:
        if each.solver not in CHECKS:
            runs.setdefault(each.scenario, {}).setdefault(each.solver, []).append(each.correct)
    return {
        scenario: tuple(sorted(name for name, right in solvers.items() if 2 * sum(right) >= len(right)))
        for scenario, solvers in runs.items()
    }


def find_failed_checks(outcomes: Iterable[BaselineOutcome]) -> list[BaselineOutcome]:
    """Return the wrong results of reference solvers: an incorrect oracle, or a nop that scores."""
    failed = []
    for each in outcomes:
        if each.solver == "oracle" and not each.correct:
            failed.append(each)
        if each.solver == "nop" and (each.correct or bool(each.score)):
            failed.append(each)
    return failed

"""What a baseline made of a snapshot: one record for each scenario, seed and solver."""

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

#: Solvers that are no solvers: the first must be right everywhere, the second must get nothing anywhere.
CHECKS: Final = ("oracle", "nop")
#: Whoever is right with this needs no diagnosis.
TRIVIAL: Final = "recent-change"


class SolvedScenario(NamedTuple):
    """Which snapshot of the catalogue: of which scenario, under which seed."""

    scenario: str
    seed: int


class BaselineOutcome(Value, frozen=True, kw_only=True):
    """One run. ``score`` and ``f1`` are None where nothing is broken; there ``correct`` is that nothing was claimed.

    ``blamed`` is what the answer claims, ``seconds`` what the run really took, ``digest`` that of the scenario.
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
        """What tells it from others."""
        return self.scenario, self.seed, self.solver


def read_outcomes(path: Path) -> list[BaselineOutcome]:
    """Read all outcomes; of a run that was made again, the last one."""
    return records.read(path, BaselineOutcome, lambda outcome: outcome.key)


def write_outcomes(path: Path, outcomes: Iterable[BaselineOutcome]) -> None:
    """Write outcomes in order, whole or not at all."""
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    for outcome in sorted(outcomes, key=lambda each: each.key):
        records.append(new, outcome)
    new.replace(path)


def read_truth(folder: Path) -> dict[str, Any]:
    """Read what the truth of a snapshot says about its scenario."""
    found: dict[str, Any] = json.loads((folder / "scenario_truth.json").read_text(encoding="utf-8"))
    return found


def collect_outcomes(solved: SolvedScenario, truth: Path, runs: Path, day: str) -> Iterator[BaselineOutcome]:
    """Collect the outcomes of one snapshot from the records of its runs, scored by its own truth."""
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
    """Find by scenario the baselines that are exactly right in at least half of their runs of it."""
    runs: dict[str, dict[str, list[bool]]] = {}
    for each in outcomes:
        if each.solver not in CHECKS:
            runs.setdefault(each.scenario, {}).setdefault(each.solver, []).append(each.correct)
    return {
        scenario: tuple(sorted(name for name, right in solvers.items() if 2 * sum(right) >= len(right)))
        for scenario, solvers in runs.items()
    }


def find_failed_checks(outcomes: Iterable[BaselineOutcome]) -> list[BaselineOutcome]:
    """Find the runs of the references that are not as they must be: the oracle right, the other without a score."""
    failed = []
    for each in outcomes:
        if each.solver == "oracle" and not each.correct:
            failed.append(each)
        if each.solver == "nop" and (each.correct or bool(each.score)):
            failed.append(each)
    return failed

"""Measured difficulty of an incident from solver runs, and the structural facts beside it (docs/publish.md). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal

from scenario_kit.model.authored.scenario import ScenarioSpec
from scenario_kit.model.base import Value
from scenario_kit.model.results.difficulty import Complexity
from scenario_kit.model.results.evidence import Evidence
from scenario_kit.scoring.statistics.intervals import compute_wilson_interval

SolveBand = Literal["Easy", "Medium", "Hard", "Unmeasured"]
#: Bands are thirds of the share solved, tuned to no solver and no catalogue.
_HARD: Final = 1 / 3
_EASY: Final = 2 / 3
#: Minimum sample of a correlation: with nine pairs, one catalogue in ten reaches 0.6 by chance.
MIN_PAIRS: Final = 10


class StructuralFacts(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Difficulty indicators that need no solver run; None if not measured.

    ``alerts`` counts alerts, per object, that fired in at least half of the evidence's repeats; ``decoys`` counts
    documented wrong repairs and distractor faults. ``hops``, ``steps``, ``technologies`` and ``complexity`` are those
    of ``Complexity``.
    """

    alerts: int | None = None
    decoys: int | None = None
    hops: int | None = None
    steps: int | None = None
    technologies: int | None = None
    complexity: float | None = None


class MeasuredDifficulty(Value, frozen=True, kw_only=True, omit_defaults=False):
    """How often solvers solve an incident. ``share`` is the mean of each solver's share of solved runs.

    ``low`` and ``high`` bound the 95 % Wilson interval; each solver counts once, since repeats of one solver are not
    independent. ``conclusive`` means that the interval lies within the band. ``solved_by`` lists solvers that solved at
    least half of their runs.
    """

    band: SolveBand
    share: float | None = None
    low: float | None = None
    high: float | None = None
    solvers: int = 0
    runs: int = 0
    conclusive: bool = False
    solved_by: tuple[str, ...] = ()
    facts: StructuralFacts


def count_facts(spec: ScenarioSpec, evidence: Evidence | None, complexity: Complexity | None) -> StructuralFacts:
    """Count the structural facts of an incident."""
    alerts = None if evidence is None else sum(2 * each.fired >= each.n for each in evidence.alerts)
    decoys = len(spec.decoys) + sum(fault.role == "Distractor" for fault in spec.faults)
    if complexity is None:
        return StructuralFacts(alerts=alerts, decoys=decoys)
    return StructuralFacts(
        alerts=alerts, decoys=decoys, hops=complexity.path, steps=complexity.steps,
        technologies=complexity.technologies, complexity=complexity.value,
    )  # fmt: skip


def measure_solved(facts: StructuralFacts, outcomes: Mapping[str, Sequence[bool]]) -> MeasuredDifficulty:
    """Measure the difficulty of an incident.

    Args:
        facts: reported with the band, without influence on it.
        outcomes: per solver, whether each of its recorded runs was exactly right.
    """
    shares = {solver: Fraction(sum(runs), len(runs)) for solver, runs in outcomes.items() if runs}
    if not shares:
        return MeasuredDifficulty(band="Unmeasured", facts=facts)
    count = len(shares)
    share = sum(shares.values(), Fraction()) / count
    low, high = compute_wilson_interval(count, float(count * (1 - share)))
    return MeasuredDifficulty(
        band=classify_share(float(share)), share=float(share), low=low, high=high, solvers=count,
        runs=sum(map(len, outcomes.values())), conclusive=classify_share(low) == classify_share(high),
        solved_by=tuple(sorted(solver for solver, each in shares.items() if 2 * each >= 1)), facts=facts,
    )  # fmt: skip


def classify_share(share: float) -> SolveBand:
    """Return the band of a share solved: the upper third is easy, the lower hard, bounds included."""
    return "Easy" if share >= _EASY else "Hard" if share <= _HARD else "Medium"


def correlate_facts(measured: Sequence[MeasuredDifficulty]) -> dict[str, tuple[float, int]]:
    """Correlate each fact with the share solved: Spearman's rank correlation and the number of incidents.

    A fact without predictive value is near 0. Facts known for fewer than ``MIN_PAIRS`` incidents, and constant ones,
    are left out.
    """
    found = {}
    for name in StructuralFacts.__struct_fields__:
        pairs = [
            (float(value), each.share)
            for each in measured if each.share is not None and (value := getattr(each.facts, name)) is not None
        ]  # fmt: skip
        if len(pairs) >= MIN_PAIRS and (value := correlate_ranks(pairs)) is not None:
            found[name] = (value, len(pairs))
    return found


def correlate_ranks(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Compute Spearman's rank correlation with mean ranks for ties; None if either side is constant."""
    left, right = _rank([a for a, _ in pairs]), _rank([b for _, b in pairs])
    middle = (len(pairs) + 1) / 2
    covariance = sum((a - middle) * (b - middle) for a, b in zip(left, right, strict=True))
    spread = sum((a - middle) ** 2 for a in left) * sum((b - middle) ** 2 for b in right)
    return covariance / spread**0.5 if spread else None


def _rank(values: Sequence[float]) -> list[float]:
    """Rank values from 1; ties get their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]

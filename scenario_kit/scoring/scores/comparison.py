"""Agreement of our scores with those of another evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenario_kit.model.base import Value

#: Tolerance for equality, because evaluators round.
_TOLERANCE: Final = 0.005


class EvaluatedRun(Value, frozen=True, kw_only=True):
    """A run with its scores by the evaluator's keys, and whether each claim matched a root."""

    incident: str
    trial: str
    values: dict[str, float] = {}
    matched: dict[str, bool] = {}


class Agreement(Value, frozen=True, kw_only=True):
    """Number of runs (or claims) with both values, number of equal ones, and mean of ours minus theirs."""

    both: int
    equal: int
    mean_difference: float


class EvaluatorComparison(Value, frozen=True, kw_only=True, omit_defaults=False):
    """Agreement by metric and on claims, and numbers of runs without a counterpart."""

    metrics: dict[str, Agreement]
    claims: Agreement | None = None
    only_ours: int = 0
    only_theirs: int = 0


def compare_evaluations(ours: Sequence[EvaluatedRun], theirs: Sequence[EvaluatedRun]) -> EvaluatorComparison:
    """Compare runs by incident and trial, and claims by their text."""
    by_name = {(run.incident, run.trial): run for run in theirs}
    pairs = [(run, by_name[run.incident, run.trial]) for run in ours if (run.incident, run.trial) in by_name]
    values: dict[str, list[tuple[float, float]]] = {}
    claims: list[tuple[float, float]] = []
    for our, their in pairs:
        for key in our.values.keys() & their.values.keys():
            values.setdefault(key, []).append((our.values[key], their.values[key]))
        claims += [(our.matched[claim], their.matched[claim]) for claim in our.matched.keys() & their.matched.keys()]
    return EvaluatorComparison(
        metrics={key: _measure_agreement(values[key]) for key in sorted(values)},
        claims=_measure_agreement(claims) if claims else None,
        only_ours=len(ours) - len(pairs), only_theirs=len(theirs) - len(pairs),
    )  # fmt: skip


def _measure_agreement(pairs: Sequence[tuple[float, float]]) -> Agreement:
    differences = [our - their for our, their in pairs]
    return Agreement(
        both=len(pairs), equal=sum(abs(each) <= _TOLERANCE for each in differences),
        mean_difference=sum(differences) / len(differences),
    )  # fmt: skip

"""The measured band: a third of the share solved, by solver, with its n; structure beside it, and not mixed in."""

import pytest
from scipy import stats

from scenario_kit.model.results.difficulty import Complexity
from scenario_kit.publication.difficulty import (
    StructuralFacts,
    classify_share,
    correlate_facts,
    correlate_ranks,
    count_facts,
    measure_solved,
)
from tests.publication.catalogue import entry

FACTS = StructuralFacts(alerts=3, decoys=1)


@pytest.mark.parametrize(
    ("share", "band"),
    [(0, "Hard"), (1 / 3, "Hard"), (0.34, "Medium"), (0.5, "Medium"), (0.66, "Medium"), (2 / 3, "Easy"), (1, "Easy")],
)
def test_bands_are_thirds(share, band):
    assert classify_share(share) == band


def test_difficulty_without_runs_is_marked_unmeasured():
    for outcomes in ({}, {"a": ()}):
        found = measure_solved(FACTS, outcomes)
        assert (found.band, found.share, found.solvers, found.runs) == ("Unmeasured", None, 0, 0)
        assert found.facts == FACTS


def test_solver_counts_once_regardless_of_runs():
    found = measure_solved(FACTS, {"eager": (True,) * 9, "a": (False,), "b": (False,), "c": (True, False)})
    assert (found.share, found.solvers, found.runs) == (0.375, 4, 13)
    assert found.band == "Medium"
    assert found.solved_by == ("c", "eager")


def test_band_is_conclusive_only_if_it_contains_the_wilson_interval():
    few = measure_solved(FACTS, {"a": (True,), "b": (True,)})
    assert (few.band, few.conclusive) == ("Easy", False)
    many = measure_solved(FACTS, {str(i): (True,) for i in range(10)})
    assert (many.band, many.conclusive) == ("Easy", True)
    referee = stats.binomtest(10, 10).proportion_ci(method="wilson")
    assert many.low == pytest.approx(referee.low, abs=1e-4)


def test_facts_are_counted_from_the_file_and_the_evidence():
    given = entry()
    spec, evidence = given.scenario.spec, given.evidence
    shape = Complexity(path=2, steps=1, technologies=3, value=1.82, band="Medium")
    facts = count_facts(spec, evidence, shape)
    assert facts.alerts == sum(2 * each.fired >= each.n for each in evidence.alerts) > 0
    assert facts.decoys == len(spec.decoys) > 0
    assert (facts.hops, facts.steps, facts.technologies, facts.complexity) == (2, 1, 3, 1.82)
    assert count_facts(spec, None, None) == StructuralFacts(decoys=facts.decoys)


def test_correlation_is_spearmans():
    pairs = [(1.0, 0.9), (2.0, 0.9), (2.0, 0.5), (3.0, 0.6), (5.0, 0.1), (5.0, 0.2)]
    expected = stats.spearmanr([a for a, _ in pairs], [b for _, b in pairs]).statistic
    assert correlate_ranks(pairs) == pytest.approx(expected)
    assert correlate_ranks([(1.0, 0.1), (1.0, 0.9)]) is None


def test_facts_are_correlated_with_enough_incidents():
    measured = [measure_solved(StructuralFacts(alerts=7, decoys=n), {"a": (n < 5,), "b": (n < 8,)}) for n in range(10)]
    found = correlate_facts(measured)
    assert set(found) == {"decoys"}  # alerts are the same everywhere
    assert found["decoys"][0] < -0.9
    assert found["decoys"][1] == 10
    assert correlate_facts(measured[:9]) == {}

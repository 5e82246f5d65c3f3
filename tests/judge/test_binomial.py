"""The binomial tail, against enumeration in fractions and against SciPy."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from scenario_kit.judge.repair.binomial import compute_upper_tail


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)])
def test_enumerated(n: int, p: Fraction) -> None:
    for k in range(-1, n + 2):
        exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(max(k, 0), n + 1))
        assert compute_upper_tail(k, n, float(p)) == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


@given(st.integers(1, 300_000), st.floats(0, 1), st.floats(1e-7, 1 - 1e-7))
def test_upper_tail_matches_scipy(n: int, share: float, p: float) -> None:
    k = round(share * n)
    assert compute_upper_tail(k, n, p) == pytest.approx(float(binom.sf(k - 1, n, p)), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(("k", "n", "p", "expected"), [(1, 9, 0.0, 0), (0, 9, 0.0, 1), (9, 9, 1.0, 1), (10, 9, 1.0, 1)])
def test_certainties(k: int, n: int, p: float, expected: float) -> None:
    assert compute_upper_tail(k, n, p) == expected

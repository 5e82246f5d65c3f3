"""Random numbers with a correlation, against what the kernel's rule yields when it is followed number by number."""

import numpy as np
import pytest

from scenario_kit.lab.twin.numeric.correlated_draws import compute_share, spread_jitter


def _follow(correlation: float, number: int = 200_000) -> np.ndarray:
    """Follow ``get_crandom``: the next number is ρ of the last one and 1-ρ of a new one."""
    rho, last, found = correlation / 100.0, 0.5, np.empty(number)
    for index, new in enumerate(np.random.default_rng(1).random(number)):
        last = found[index] = rho * last + (1.0 - rho) * new
    return found


@pytest.mark.parametrize("correlation", [10.0, 25.0, 50.0, 75.0, 90.0])
def test_share_is_that_of_the_kernels_numbers(correlation: float) -> None:
    numbers = _follow(correlation)
    for percent in (1.0, 5.0, 10.0, 25.0, 40.0, 50.0, 60.0, 90.0):
        assert compute_share(percent, correlation) == pytest.approx(np.mean(numbers <= percent / 100.0), abs=0.01)


@pytest.mark.parametrize(
    ("percent", "correlation", "share"),
    [
        (10.0, 0.0, 0.1),
        (10.0, 25.0, 0.0175),
        (10.0, 50.0, 0.0011),
        (25.0, 25.0, 0.1667),
        (50.0, 90.0, 0.5),
        (90.0, 50.0, 0.9989),
        (0.0, 50.0, 0.0),
        (100.0, 100.0, 1.0),
        (120.0, 50.0, 1.0),
        (40.0, 100.0, 0.0),  # the numbers stay where they are, in the middle
        (60.0, 100.0, 1.0),
    ],
)
def test_share_of_packets(percent: float, correlation: float, share: float) -> None:
    assert compute_share(percent, correlation) == pytest.approx(share, abs=2e-4)


def test_jitter_is_uniform_unless_its_range_is_about_as_long_as_32_bits_of_nanoseconds() -> None:
    draws = (np.arange(20_000) + 0.5) / 20_000
    for jitter, correlation in ((0.01, 0.0), (0.01, 90.0), (0.1, 0.0), (0.1, 25.0)):
        quarters, _ = np.histogram(spread_jitter(draws, jitter, correlation), 4, (0.0, 1.0))
        assert quarters / draws.size == pytest.approx([0.25] * 4, abs=0.04)
    # Of 4.29 s of nanoseconds, ranges of 2 s fit in twice, and 0.29 s are left for the beginning of a third.
    tenths, _ = np.histogram(spread_jitter(draws, 1.0, 0.0), 10, (0.0, 1.0))
    assert tenths[0] / draws.size == pytest.approx(3 * 0.2 / 4.295, abs=0.01)
    assert tenths[9] / draws.size == pytest.approx(2 * 0.2 / 4.295, abs=0.01)
    # With a correlation, numbers are near 2.15 s, which is 0.15 s into the second range.
    tenths, _ = np.histogram(spread_jitter(draws, 1.0, 90.0), 10, (0.0, 1.0))
    assert (tenths[0] + tenths[1]) / draws.size > 0.5

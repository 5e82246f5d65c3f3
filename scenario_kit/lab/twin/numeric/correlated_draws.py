"""The random numbers of netem with a correlation ρ: each is ρ times the last one plus 1-ρ times a new one.

So they are not uniform: they gather around the middle, the more the higher ρ is. A loss of 10 % with a correlation of
50 % loses hardly a packet, one of 90 % nearly all. Source: ``get_crandom`` in Linux' net/sched/sch_netem.c.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Floats

_GRID: Final[Floats] = np.linspace(0.0, 1.0, 2001)
#: Beyond this correlation, the numbers are taken to be constant.
_CONSTANT: Final = 0.995
_ENOUGH: Final = 1e-7
#: The numbers have 32 bits, and the jitter is a signed one in nanoseconds.
_WORDS: Final = 2.0**32
LONGEST_JITTER_SECONDS: Final = (2.0**31 - 1.0) / 1e9
#: Below these jitters, the remainder of a 32-bit number is as good as uniform, without and with a correlation.
_SHORT_JITTER_SECONDS: Final = (0.2, 0.02)


def compute_share(percent: float, correlation: float) -> float:
    """Return the share of packets whose number is at most ``percent`` (0 to 100), with this correlation in percent."""
    share = min(max(percent, 0.0), 100.0) / 100.0
    if correlation <= 0.0 or share in (0.0, 1.0):
        return share
    return float(np.interp(share, _GRID, _distribute(min(correlation, 100.0) / 100.0)))


def spread_jitter(uniform: Floats, jitter: float, correlation: float) -> Floats:
    """Return where in its range (0 to 1) the jitter of each packet is; ``jitter`` is in seconds, at most the longest.

    The kernel takes the remainder of the random number by the length of the range, without a table of a distribution.
    """
    if jitter < _SHORT_JITTER_SECONDS[correlation > 0.0]:
        return uniform
    numbers = uniform
    if correlation > 0.0:
        numbers = np.interp(uniform, _distribute(min(correlation, 100.0) / 100.0), _GRID)
    width = 2.0 * jitter * 1e9
    return np.asarray(np.mod(numbers * _WORDS, width) / width)


@lru_cache(maxsize=64)
def _distribute(rho: float) -> Floats:
    """Return the distribution function of the numbers on the grid, once the first one no longer matters."""
    if rho > _CONSTANT:
        return np.asarray(np.clip((_GRID - 0.499) * 500.0, 0.0, 1.0))
    found = _GRID.copy()  # the first number is uniform
    step = _GRID[1]
    while True:
        area = np.concatenate([[0.0], np.cumsum((found[1:] + found[:-1]) * step / 2.0)])
        upper, lower = _integrate(area, _GRID / rho), _integrate(area, (_GRID - (1.0 - rho)) / rho)
        after = rho / (1.0 - rho) * (upper - lower)
        if float(np.abs(after - found).max()) < _ENOUGH:
            return np.asarray(after)
        found = after


def _integrate(area: Floats, x: Floats) -> Floats:
    """Return the integral from 0 to ``x`` of a distribution function with this integral on the grid."""
    return np.asarray(np.interp(np.clip(x, 0.0, 1.0), _GRID, area) + np.maximum(x - 1.0, 0.0))

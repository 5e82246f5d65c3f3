"""Array types of the twin, and sequential processing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def compute_sequence(arrived: Floats, took: Floats) -> Floats:
    """Compute completion times of sequential processing: f(i) = max(f(i-1), arrival(i)) + took(i)."""
    total = np.cumsum(took)
    return np.maximum.accumulate(arrived - (total - took)) + total if took.size else took

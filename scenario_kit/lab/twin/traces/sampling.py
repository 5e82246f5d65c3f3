"""Sampling of traces: failed requests of every kind, slow ones, and ordinary ones.

Requests of a batch are unordered, so the first ones are a fair sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints

#: Failed requests kept per tick.
FAILED: Final = 12
#: Ordinary requests kept per kind and tick.
ORDINARY: Final = 1


def choose(
    chosen: Flags, roots: Sequence[tuple[int, int]], frame: Ints, request: Ints, took: Floats, failed: Flags
) -> None:
    """Mark the requests to keep in ``chosen``.

    ``roots`` are the first number and the count of each kind of request; the other arrays have for every span its
    frame, request, duration (seconds, infinite while it hangs) and failure.
    """
    if failed.any():
        _, first = np.unique(frame[failed], return_index=True)
        # For every place of a request's failure: the most frequent reason before it in the walk.
        every = dict.fromkeys(request[failed][first].tolist())
        every.update(dict.fromkeys(request[failed][: 4 * FAILED].tolist()))
        chosen[list(every)[:FAILED]] = True
    longest = np.full(chosen.size, -1.0)
    np.maximum.at(longest, request, took)
    for start, count in roots:
        part = longest[start : start + count]
        if not count or part.max() < 0.0:
            continue
        chosen[start + int(part.argmax())] = True
        chosen[start + np.flatnonzero(part >= 0.0)[:ORDINARY]] = True

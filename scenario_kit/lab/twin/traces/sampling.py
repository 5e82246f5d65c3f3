"""Which requests of a tick are kept as traces: failing ones of every kind, slow ones, and ordinary ones.

Requests of a batch are in no order, so the first ones are a fair draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints

#: Requests per tick that are kept because something in them failed.
FAILED: Final = 12
#: Ordinary requests of each kind and tick.
ORDINARY: Final = 1


def choose(
    chosen: Flags, roots: Sequence[tuple[int, int]], frame: Ints, request: Ints, took: Floats, failed: Flags
) -> None:
    """Mark the requests to keep in ``chosen``.

    ``roots`` are the first number and the count of each kind of request; the other arrays say of every span in which
    frame it is, whose it is, how long it took (seconds, infinite while it hangs), and whether it failed.
    """
    if failed.any():
        _, first = np.unique(frame[failed], return_index=True)
        # Of every place that failed one request, the most frequent reasons before it in the walk.
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

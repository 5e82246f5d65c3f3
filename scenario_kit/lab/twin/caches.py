"""How a cache fills: which calls of a tick miss, and how much it holds afterwards."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.arrays import Flags, Floats


def misses(held: float, keys: float, asked: Floats, at: Floats, draws: Floats) -> tuple[Flags, float]:
    """Which calls miss, and how many keys are held after all of them.

    Args:
        held: keys in the cache before the first call.
        keys: how many different ones there are; each call asks for some of them at random.
        asked: how many keys each call asks for.
        at: when each call happens; earlier ones fill the cache for later ones.
        draws: a uniform number for each call.
    """
    order = np.argsort(at, kind="stable")
    before = np.cumsum(asked[order]) - asked[order]
    known: Floats = np.empty(at.size)
    known[order] = keys - (keys - held) * np.exp(-before / keys)
    missed: Flags = draws < 1.0 - (known / keys) ** asked
    return missed, keys - (keys - held) * float(np.exp(-asked.sum() / keys))

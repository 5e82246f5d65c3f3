"""Cache fill: the misses of a tick, and the content afterwards, valid or corrupt."""

from __future__ import annotations

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.batches import Draws
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.twin.operation import Step

#: A cache that lacks less than this fraction of a key is full.
_FULL = 1e-3


def count_asked(step: Step, draws: Draws, who: Ints) -> Floats:
    """Count the keys that each call requests; zero where the step does not run."""
    only = step.keys_if or (step.times if isinstance(step.times, str) else "")
    desired = np.full(who.size, step.keys_per_call)
    return desired * (draws[only][who] > 0) if only else desired


def misses(held: float, keys: float, requested: Floats, at: Floats, draws: Floats) -> tuple[Flags, float]:
    """Return which calls miss, and the number of keys held after all of them.

    Args:
        held: keys in the cache before the first call.
        keys: the number of distinct keys; each call requests some of them at random.
        requested: the number of keys requested by each call.
        at: the time of each call; earlier ones fill the cache for later ones.
        draws: a uniform number per call.
    """
    if keys - held < _FULL:
        return np.zeros(at.size, dtype=bool), keys
    order = np.argsort(at, kind="stable")
    before = np.cumsum(requested[order]) - requested[order]
    known: Floats = np.empty(at.size)
    known[order] = keys - (keys - held) * np.exp(-before / keys)
    missed: Flags = draws < 1.0 - (known / keys) ** requested
    return missed, keys - (keys - held) * float(np.exp(-requested.sum() / keys))


def fill(cache: Process, node: CallNode, keys: float, failed: float) -> None:
    """Add new keys to a cache; those of failed look-ups are skipped, or corrupt if the program stores them."""
    name = node.operation.name
    cache.held[name] = cache.held.get(name, 0.0) + keys * (1.0 if node.step.cache_failures else 1.0 - failed)
    if node.step.cache_failures and failed:
        cache.spoilt[name] = cache.spoilt.get(name, 0.0) + keys * failed


def update_spoilt_share(process: Process, cache: Process, node: CallNode) -> None:
    """Update the share of corrupt values that a process gets from a cache; its callers may notice."""
    name = node.operation.name
    process.spoilt[f"{node.operation.component}/{name}"] = cache.spoilt.get(name, 0.0) / node.step.keys

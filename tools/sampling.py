"""Stratified sampling."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def sample_evenly(every: Sequence[_T], number: int, seed: int, group: Callable[[_T], Hashable]) -> list[_T]:
    """Sample ``number`` values, with about the same number from each group; all values if there are fewer."""
    chance = random.Random(seed)
    groups: dict[Hashable, list[_T]] = {}
    for each in every:
        groups.setdefault(group(each), []).append(each)
    order = list(groups)
    chance.shuffle(order)
    chosen: list[_T] = []
    while len(chosen) < min(number, len(every)):
        for key in order:
            if groups[key] and len(chosen) < number:
                chosen.append(groups[key].pop(chance.randrange(len(groups[key]))))
    return chosen

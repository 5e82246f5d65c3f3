"""Requests side by side: what became of them, and how parts of a batch are put together again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scenario_kit.lab.twin.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.streams import mix

#: Numbers that each request drew, by name.
Draws = Mapping[str, Floats]


class Result(NamedTuple):
    """Of each request: how long it took, and whether it failed."""

    took: Floats
    failed: Flags


def stream(key: int, salt: int) -> int:
    """The key of a draw within one of several rounds; round 0 is the key itself."""
    return mix(key, salt) if salt else key


def subset(draws: Draws, who: Ints) -> Draws:
    """The draws of some of the requests."""
    return {name: array[who] for name, array in draws.items()} if draws else draws

"""Coverage and detour: how much of the way of the trouble a solver looked at, and how much beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Final

import msgspec

from scenario_kit.scoring.entities.name import EntityName, list_stems

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")


class Exploration(msgspec.Struct, frozen=True):
    """``coverage``: the share of the path that was visited. ``detour``: how many were visited that are not on it."""

    coverage: float
    detour: int


def measure_exploration(explored: Set[str], path: Set[str]) -> Exploration:
    """Measure coverage and detour (ITBench paper, arXiv 2502.05352).

    Raises:
        ValueError: the path is empty.
    """
    if not path:
        raise ValueError("coverage needs a path of the truth")
    return Exploration(coverage=len(explored & path) / len(path), detour=len(explored - path))


def find_visits(texts: Iterable[str], services: Set[str]) -> set[str]:
    """Find the services that texts of tool calls name: the whole name, or a pod of it.

    How a visit is recognised is not published. Here it is an argument or an output that names the service; ``cart`` is
    not named by ``valkey-cart``.
    """
    found: set[str] = set()
    for text in texts:
        for word in set(_NAME.findall(text)):
            if word in services:
                found.add(word)
            else:
                found |= services & set(list_stems(EntityName("Pod", word)))
    return found

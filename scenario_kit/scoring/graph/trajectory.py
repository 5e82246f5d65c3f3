"""Coverage and detour: how much of the propagation a solver inspected, and how much besides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Final

import msgspec

from scenario_kit.scoring.entities.name import EntityName, list_stems

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")


class Exploration(msgspec.Struct, frozen=True):
    """``coverage`` is the visited share of the path; ``detour`` counts visited services off the path."""

    coverage: float
    detour: int


def measure_exploration(explored: Set[str], path: Set[str]) -> Exploration:
    """Measure coverage and detour (ITBench paper, arXiv 2502.05352).

    Raises:
        ValueError: the path is empty.
    """
    if not path:
        raise ValueError("coverage requires a path of the ground truth")
    return Exploration(coverage=len(explored & path) / len(path), detour=len(explored - path))


def find_visits(texts: Iterable[str], services: Set[str]) -> set[str]:
    """Find the services that texts of tool calls name, directly or by a pod.

    There is no published definition of a visit. Here it is an argument or output with the whole name: ``valkey-cart``
    does not name ``cart``.
    """
    found: set[str] = set()
    for text in texts:
        for word in set(_NAME.findall(text)):
            if word in services:
                found.add(word)
            else:
                found |= services & set(list_stems(EntityName("Pod", word)))
    return found

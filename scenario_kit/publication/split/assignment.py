"""Choosing the held-out scenarios. Pure and deterministic in key, seed and catalogue."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from scenario_kit.publication.difficulty import MeasuredDifficulty
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.publication.hashed_name import compute_keyed_hash
from scenario_kit.scoring.metrics.complexity import classify_complexity


class Candidate(NamedTuple):
    """A scenario to assign. ``stratum`` is app, fault family and difficulty, most important first."""

    name: str
    stratum: tuple[str, str, str]


class SetNames(NamedTuple):
    """Scenario names of both sets."""

    public: frozenset[str]
    held_out: frozenset[str]


def classify_entry(entry: CatalogueEntry, found: MeasuredDifficulty) -> Candidate:
    """Classify a scenario by app, family of its first labelled fault, and measured difficulty band.

    Without solver runs, the complexity band replaces the difficulty band; controls have a band of their own.
    """
    complexity = entry.facts.complexity
    expected = "control" if complexity is None else f"complexity {classify_complexity(complexity)}"
    band = expected if found.band == "Unmeasured" else found.band
    family = entry.families[0] if entry.families else ""
    return Candidate(entry.scenario.name, (entry.scenario.spec.app.name, family, band))


def draw_held_out(candidates: Iterable[Candidate], key: bytes, seed: int, percent: int) -> frozenset[str]:
    """Draw a systematic sample of an ordered list (Cochran, Sampling Techniques, chapter 8).

    The list is ordered by stratum, then by a keyed hash. Every contiguous part of it, such as an app, a family of an
    app or a stratum, gets its share of held-out scenarios to within one; drawing per stratum would round most
    shares to 0.
    """
    ordered = sorted(
        candidates, key=lambda each: (each.stratum, compute_keyed_hash(key, "order", str(seed), each.name))
    )
    start = int(compute_keyed_hash(key, "start", str(seed)), 16) % 100
    steps = [(start + percent * index) // 100 for index in range(len(ordered) + 1)]
    return frozenset(each.name for index, each in enumerate(ordered) if steps[index + 1] > steps[index])


def assign_sets(
    candidates: Collection[Candidate], key: bytes, seed: int, percent: int, previous: SetNames | None = None
) -> SetNames:
    """Assign scenarios to sets; scenarios keep their set of an earlier split.

    A published scenario cannot be withdrawn, so only scenarios new since the earlier split are drawn.
    """
    before = previous or SetNames(frozenset(), frozenset())
    new = [each for each in candidates if each.name not in before.public | before.held_out]
    names = {each.name for each in candidates}
    held_out = draw_held_out(new, key, seed, percent) | (before.held_out & names)
    return SetNames(frozenset(names - held_out), frozenset(held_out))

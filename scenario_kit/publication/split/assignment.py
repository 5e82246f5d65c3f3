"""Which scenarios are held out. Pure: the same key, seed and catalogue give the same set."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from scenario_kit.publication.difficulty import MeasuredDifficulty
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.publication.hashed_name import compute_keyed_hash
from scenario_kit.scoring.metrics.complexity import classify_complexity


class Candidate(NamedTuple):
    """A scenario to be assigned. ``stratum`` is app, fault family and difficulty, from the most important one."""

    name: str
    stratum: tuple[str, str, str]


class SetNames(NamedTuple):
    """The names of both sets."""

    public: frozenset[str]
    held_out: frozenset[str]


def classify_entry(entry: CatalogueEntry, found: MeasuredDifficulty) -> Candidate:
    """Classify a scenario by app, family of its first labelled fault, and measured band.

    Where no solver has a run, the band of its complexity stands in; of a control, that it is one.
    """
    shape = entry.facts.complexity
    expected = "control" if shape is None else f"complexity {classify_complexity(shape)}"
    band = expected if found.band == "Unmeasured" else found.band
    family = entry.families[0] if entry.families else ""
    return Candidate(entry.scenario.name, (entry.scenario.spec.app.name, family, band))


def draw_held_out(candidates: Iterable[Candidate], key: bytes, seed: int, percent: int) -> frozenset[str]:
    """Draw a systematic sample of an ordered list (Cochran, Sampling Techniques, chapter 8).

    The list is ordered by stratum, and within one by a keyed hash. Each run of it, so each app, each family of an app
    and each stratum, has its share of held-out scenarios to within one, however small it is; a draw by stratum would
    round most shares to none.
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
    """Assign scenarios to sets; what an earlier split has assigned stays where it is.

    What was public cannot be taken back. Only those that the earlier split does not know are drawn.
    """
    before = previous or SetNames(frozenset(), frozenset())
    new = [each for each in candidates if each.name not in before.public | before.held_out]
    names = {each.name for each in candidates}
    held_out = draw_held_out(new, key, seed, percent) | (before.held_out & names)
    return SetNames(frozenset(names - held_out), frozenset(held_out))

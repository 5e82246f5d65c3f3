"""Text about incidents and faults with the same alerts, shared by all renderings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.campaign.results.result import Lookalike, Neighbour, Resemblance
from scenario_kit.model.shortening import shorten_list

_NAMED: Final = 3
#: Maximum number of listed objects.
_PLACES: Final = 8


def describe_neighbours(found: Iterable[Neighbour]) -> list[tuple[str, str]]:
    """Describe each neighbour and how it differs."""
    return [(near.scenario, _describe_difference(near)) for near in found]


def _describe_difference(near: Neighbour) -> str:
    alike = f"same alerts (margin {near.margin:.2f}), " + ("same answer" if near.same_answer else "another answer")
    if not near.here and not near.there:
        return f"{alike}; indistinguishable"
    ways = [
        f"only {where}: {shorten_list(signs, _NAMED)}"
        for where, signs in (("here", near.here), ("there", near.there))
        if signs
    ]
    return f"{alike}; {'; '.join(ways)}"


def describe_resembling(found: Resemblance | None) -> list[tuple[str, str]]:
    """Summarise how many faults raise the same alerts, then list them by target with their distinguishing symptoms."""
    if found is None:
        return []
    places: dict[str, list[Lookalike]] = {}
    for each in found.faults:
        places.setdefault(each.target, []).append(each)
    lines = [("Same alerts", f"{len(found.faults) or 'none'} of the {found.compared:,} faults that raised any")]
    for target, faults in list(places.items())[:_PLACES]:
        shown = [f"{each.fault} ({shorten_list(each.there, _NAMED)})" if each.there else each.fault for each in faults]
        lines.append((f"{target}, the cause itself" if faults[0].same_place else target, shorten_list(shown, _NAMED)))
    if len(places) > _PLACES:
        left = [each for faults in list(places.values())[_PLACES:] for each in faults]
        lines.append((f"{len(places) - _PLACES} more objects", f"{len(left)} faults; report.json has them all"))
    return lines

"""Incidents with the same alerts in words, for every rendering."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scenario_kit.campaign.result import Neighbour

_NAMED: Final = 3


def told(found: Iterable[Neighbour]) -> list[tuple[str, str]]:
    """Each neighbour and what tells it apart."""
    return [(near.scenario, _apart(near)) for near in found]


def _apart(near: Neighbour) -> str:
    alike = f"same alerts (margin {near.margin:.2f}), " + ("same answer" if near.same_answer else "another answer")
    if not near.here and not near.there:
        return f"{alike}; nothing tells them apart"
    ways = [f"only {where}: {_some(signs)}" for where, signs in (("here", near.here), ("there", near.there)) if signs]
    return f"{alike}; {'; '.join(ways)}"


def _some(signs: tuple[str, ...]) -> str:
    more = f" and {len(signs) - _NAMED} more" if len(signs) > _NAMED else ""
    return ", ".join(signs[:_NAMED]) + more

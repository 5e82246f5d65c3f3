"""The content of a site, before rendering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.publication.difficulty import MeasuredDifficulty, measure_solved
from scenario_kit.publication.entry import CatalogueEntry
from scenario_kit.scoring.leaderboard.board import REFERENCES, Leaderboard

Outcomes = Mapping[str, Mapping[str, Sequence[bool]]]


class SiteContent(msgspec.Struct, frozen=True, kw_only=True):
    """The input of all pages.

    ``board`` is None without runs. ``difficulties`` and ``outcomes`` are keyed by published name, ``matrices`` by app
    and version.
    """

    entries: tuple[CatalogueEntry, ...]
    difficulties: Mapping[str, MeasuredDifficulty]
    outcomes: Outcomes
    matrices: Mapping[str, tuple[MatrixRow, ...]]
    board: Leaderboard | None = None


def build_content(
    entries: Sequence[CatalogueEntry], outcomes: Outcomes, matrices: Mapping[str, tuple[MatrixRow, ...]],
    board: Leaderboard | None = None,
) -> SiteContent:  # fmt: skip
    """Build the content, sorted by published name; ``outcomes`` are of recorded runs, keyed by published name."""
    return SiteContent(
        entries=tuple(sorted(entries, key=lambda each: each.published_name)), outcomes=outcomes,
        matrices=matrices, board=board,
        difficulties={
            each.published_name: measure_solved(each.facts, _select_solvers(outcomes, each.published_name))
            for each in entries
        },
    )  # fmt: skip


def _select_solvers(outcomes: Outcomes, name: str) -> dict[str, Sequence[bool]]:
    """Select the runs of real solvers, without the reference solvers."""
    return {solver: runs for solver, runs in outcomes.get(name, {}).items() if solver not in REFERENCES}

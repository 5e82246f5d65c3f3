"""Layout of the propagation graph: causes on the left, alerts on the right. Pure geometry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.model.authored.scenario import GroundTruth
from scenario_kit.model.shortening import cut_text

#: Pixels: size of a box, and gaps between columns and rows.
BOX_WIDTH, BOX_HEIGHT, ACROSS, DOWN = 204, 46, 40, 18
_MAX_NAME: Final = 27


class Box(NamedTuple):
    """An entity. ``note`` is the onset of its first alert, or empty."""

    x: float
    y: float
    name: str
    short: str
    cause: bool
    note: str


class EdgeArrow(NamedTuple):
    """An edge as an SVG path, and its reason."""

    path: str
    because: str
    text: str


class Graph(NamedTuple):
    """A drawing of a propagation."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[EdgeArrow, ...]


def draw_graph(truth: GroundTruth, onsets: Mapping[str, str]) -> Graph | None:
    """Lay out the propagation in columns by longest path from a cause; None without entities.

    ``onsets`` maps entities to the text below their name.
    """
    causes = [c.entity for c in truth.root_causes if c.entity]
    edges = [(e.from_, e.to) for e in truth.propagation]
    names = list(dict.fromkeys([*causes, *(n for edge in edges for n in edge)]))
    if not names:
        return None
    columns = _assign_columns(names, edges)
    place = _assign_places(names, columns)
    boxes = tuple(Box(*place[n], n, cut_text(n, _MAX_NAME), n in causes, onsets.get(n, "")) for n in names)
    arrows = tuple(
        EdgeArrow(_draw_curve(place[e.from_], place[e.to]), e.because, f"{e.from_} → {e.to}") for e in truth.propagation
    )
    return Graph(
        width=max(x for x, _ in place.values()) + BOX_WIDTH + 4,
        height=max(y for _, y in place.values()) + BOX_HEIGHT + 4,
        boxes=boxes,
        arrows=arrows,
    )


def _assign_columns(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Map each entity to the length of its longest path; cycles, which lint rejects, are cut off."""
    columns = dict.fromkeys(names, 0)
    for _ in names:
        for before, after in edges:
            if columns[after] < columns[before] + 1 <= len(names):
                columns[after] = columns[before] + 1
    return columns


def _assign_places(names: Iterable[str], columns: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    rows: dict[int, int] = {}
    found = {}
    for name in names:
        column = columns[name]
        row = rows.get(column, 0)
        rows[column] = row + 1
        found[name] = (2.0 + column * (BOX_WIDTH + ACROSS), 2.0 + row * (BOX_HEIGHT + DOWN))
    return found


def _draw_curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT / 2
    x2, y2 = end[0], end[1] + BOX_HEIGHT / 2
    middle = (x1 + x2) / 2
    return f"M{x1:.0f} {y1:.0f} C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2 - 7:.0f} {y2:.0f}"

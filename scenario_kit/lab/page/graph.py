"""The layout of an app's components: users on the left, stores on the right. Pure geometry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from scenario_kit.model import App, Value

#: The size of a box, and the gaps between columns and rows, in pixels.
BOX_WIDTH, BOX_HEIGHT, ACROSS, DOWN = 152, 46, 36, 14
_STEP: Final = BOX_HEIGHT + DOWN
_SWEEPS: Final = 6


class BoxPosition(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The upper left corner of a component's box."""

    name: str
    x: float
    y: float


class CallArrow(Value, frozen=True, kw_only=True, omit_defaults=False):
    """A call as an SVG path; ``mode`` is the strength of the caller's dependency."""

    caller: str
    callee: str
    mode: Literal["Sync", "Swallowed", "Async"]
    path: str


class Drawing(Value, frozen=True, kw_only=True, omit_defaults=False):
    """The layout of an app, in pixels."""

    width: float
    height: float
    box: tuple[int, int] = (BOX_WIDTH, BOX_HEIGHT)
    places: tuple[BoxPosition, ...] = ()
    arrows: tuple[CallArrow, ...] = ()


def draw_graph(app: App) -> Drawing:
    """Lay out the call graph in columns: every component to the right of its callers, except in cycles."""
    names = [c.name for c in app.components]
    known = set(names)
    calls = list(dict.fromkeys((e.caller, e.callee) for e in app.calls if {e.caller, e.callee} <= known))
    modes: dict[tuple[str, str], Literal["Sync", "Swallowed", "Async"]] = {}
    for edge in app.calls:
        if modes.get((edge.caller, edge.callee)) != "Sync":
            modes[edge.caller, edge.callee] = edge.mode
    # Consumers call their queue, but data flows from it: they are placed on its right.
    flows = [(b, a) if modes[a, b] == "Async" and _is_queue(app, b) else (a, b) for a, b in calls]
    roots = [c.name for c in app.components if c.role == "Load"] + [app.entry]
    ahead = drop_back_edges([n for n in roots if n in known] + names, flows)
    columns = _assign_columns(names, ahead)
    alone = {n for n in names if all(n not in flow for flow in flows)}
    rows = _order_columns([n for n in names if n not in alone], columns, flows)
    across = max(len(rows), 1)
    height = max((len(row) for row in rows), default=0) * _STEP
    corners = {
        name: (2.0 + x * (BOX_WIDTH + ACROSS), 2.0 + (height - len(row) * _STEP) / 2 + y * _STEP)
        for x, row in enumerate(rows)
        for y, name in enumerate(row)
    }
    below = height + (DOWN if rows and alone else 0)  # components without calls: in rows under the graph
    for index, name in enumerate(n for n in names if n in alone):
        corners[name] = (2.0 + index % across * (BOX_WIDTH + ACROSS), 2.0 + below + index // across * _STEP)
    return Drawing(
        width=across * (BOX_WIDTH + ACROSS) - ACROSS + 4.0,
        height=max((y for _, y in corners.values()), default=0.0) + BOX_HEIGHT + 4.0,
        places=tuple(BoxPosition(name=n, x=x, y=y) for n, (x, y) in corners.items()),
        arrows=tuple(
            CallArrow(caller=a, callee=b, mode=modes[a, b], path=draw_curve(corners[a], corners[b]))
            for a, b in calls
            if a != b
        ),
    )


def drop_back_edges(starts: Iterable[str], edges: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the edges without those that close a cycle, in a traversal from ``starts``."""
    after: dict[str, list[str]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    done: set[str] = set()
    kept: list[tuple[str, str]] = []
    for start in starts:
        if start in done:
            continue
        path, stack = {start}, [(start, iter(after.get(start, ())))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                path.discard(node)
                done.add(node)
            elif following not in path:
                kept.append((node, following))
                if following not in done:
                    path.add(following)
                    stack.append((following, iter(after.get(following, ()))))
    return kept


def draw_curve(one: tuple[float, float], other: tuple[float, float]) -> str:
    """Draw an arrow between boxes; to the left, or within a column, it goes around."""
    y1, y2 = one[1] + BOX_HEIGHT / 2, other[1] + BOX_HEIGHT / 2
    if other[0] > one[0]:
        x1, x2 = one[0] + BOX_WIDTH, other[0] - 7
        middle = (x1 + x2) / 2 if x2 - x1 < 2 * ACROSS else x2 - ACROSS
        return f"M{x1:.0f} {y1:.0f} C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    x1, x2 = one[0] + BOX_WIDTH, other[0] + BOX_WIDTH + 7
    far = max(x1, x2) + ACROSS * 0.7
    return f"M{x1:.0f} {y1:.0f} C{far:.0f} {y1:.0f} {far:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"


def _is_queue(app: App, name: str) -> bool:
    component = app.component(name)
    return component is not None and component.role == "Queue"


def _assign_columns(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the length of the longest path to each; ``edges`` have no cycle."""
    columns = dict.fromkeys(names, 0)
    for _ in names:
        moved = False
        for a, b in edges:
            if columns[b] <= columns[a]:
                columns[b] = columns[a] + 1
                moved = True
        if not moved:
            break
    return columns


def _order_columns(
    names: Sequence[str], columns: Mapping[str, int], edges: Sequence[tuple[str, str]]
) -> list[list[str]]:
    """Order columns; within one, neighbours of the same component are adjacent (a few barycentre sweeps)."""
    rows: list[list[str]] = [[] for _ in range(max((columns[n] for n in names), default=-1) + 1)]
    for name in names:
        rows[columns[name]].append(name)
    near: dict[str, list[str]] = {name: [] for name in names}
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    for sweep in range(_SWEEPS):
        place = {name: y - len(row) / 2 for row in rows for y, name in enumerate(row)}
        side = 1 if sweep % 2 else -1
        for x, row in enumerate(rows):
            weight = {}
            for name in row:
                beside = [place[n] for n in near[name] if (columns[n] - x) * side > 0]
                weight[name] = sum(beside) / len(beside) if beside else place[name]
            row.sort(key=lambda name: weight[name])
            place.update((name, y - len(row) / 2) for y, name in enumerate(row))
    return [row for row in rows if row]

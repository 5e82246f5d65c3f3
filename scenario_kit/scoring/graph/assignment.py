"""Maximum-weight one-to-one assignment (Hungarian method), for few rows and many columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf


def assign_largest(values: Sequence[Sequence[float]]) -> float:
    """Return the maximum sum of non-negative values of which no two share a row or a column.

    Takes rows² × columns steps (Kuhn 1955, with potentials).
    """
    rows = len(values)
    if not rows:
        return 0.0
    columns = max(rows, len(values[0]))
    cost = [[-value for value in row] + [0.0] * (columns - len(row)) for row in values]
    of_row, of_column = [0.0] * (rows + 1), [0.0] * (columns + 1)
    taken = [0] * (columns + 1)
    for row in range(1, rows + 1):
        _augment(cost, row, of_row, of_column, taken)
    return -sum(cost[taken[column] - 1][column - 1] for column in range(1, columns + 1) if taken[column])


def _augment(
    cost: Sequence[Sequence[float]], row: int, of_row: list[float], of_column: list[float], taken: list[int]
) -> None:
    """Assign one more row along the cheapest augmenting path; columns and rows count from 1."""
    columns = len(of_column) - 1
    taken[0] = row
    least, before, used = [inf] * (columns + 1), [0] * (columns + 1), [False] * (columns + 1)
    at = 0
    while True:
        used[at] = True
        current, delta, following = taken[at], inf, 0
        for column in range(1, columns + 1):
            if used[column]:
                continue
            reduced = cost[current - 1][column - 1] - of_row[current] - of_column[column]
            if reduced < least[column]:
                least[column], before[column] = reduced, at
            if least[column] < delta:
                delta, following = least[column], column
        for column in range(columns + 1):
            if used[column]:
                of_row[taken[column]] += delta
                of_column[column] -= delta
            else:
                least[column] -= delta
        at = following
        if not taken[at]:
            break
    while at:
        taken[at], at = taken[before[at]], before[at]

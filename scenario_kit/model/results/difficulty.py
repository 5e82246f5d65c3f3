"""How hard an incident is to solve, as it was measured."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

Band = Literal["Low", "Medium", "High"]


class Complexity(Value, frozen=True, kw_only=True):
    """``path``: edges of the longest way from a cause to an alerting entity, at least 1. ``steps``: changes of the
    shortest repair, at least 1. ``technologies``: distinct kinds of objects and of stores, queues and flags on the way.
    """

    path: int
    steps: int
    technologies: int
    value: float
    band: Band


class Difficulty(Value, frozen=True, kw_only=True):
    """Of the repeats that held; shares are those of them.

    ``first_alert_seconds`` is the median from injection to the first alert. ``off_path`` are entities that alert in
    half of the repeats or more, and that the propagation does not name. ``blame_first`` and ``blame_loudest`` are how
    often naming the entity that alerts first, or loudest (most alerts for the longest time), names a cause; ties count
    in part. ``cause_rank`` is the median rank of the loudest cause by loudness, None where no cause alerts at all.
    """

    complexity: Complexity
    first_alert_seconds: float | None = None
    off_path: tuple[str, ...] = ()
    blame_first: float = 0.0
    blame_loudest: float = 0.0
    cause_rank: float | None = None
    trivial: bool = False

"""The measured difficulty of an incident."""

from __future__ import annotations

from typing import Literal

from scenario_kit.model.base import Value

Band = Literal["Low", "Medium", "High"]


class Complexity(Value, frozen=True, kw_only=True):
    """The complexity of an incident.

    Attributes:
        path: edges of the longest path from a cause to an alerting entity, at least 1.
        steps: changes of the shortest repair, at least 1.
        technologies: number of distinct kinds of objects, and of stores, queues and flags on the path.
    """

    path: int
    steps: int
    technologies: int
    value: float
    band: Band


class Difficulty(Value, frozen=True, kw_only=True):
    """The difficulty as measured in valid repeats.

    Attributes:
        first_alert_seconds: median time from injection to the first alert.
        off_path: entities outside of the propagation that alert in at least half of the repeats.
        blame_first: share of repeats in which the entity that alerts first is a cause; ties count in part.
        blame_loudest: the same for the loudest entity (most alerts for the longest time).
        cause_rank: median rank of the loudest cause by loudness; None if no cause alerts.
    """

    complexity: Complexity
    first_alert_seconds: float | None = None
    off_path: tuple[str, ...] = ()
    blame_first: float = 0.0
    blame_loudest: float = 0.0
    cause_rank: float | None = None
    trivial: bool = False

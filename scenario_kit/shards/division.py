"""Divide work over shards by estimated cost. Pure.

The cost is in seconds of one lab (docs/shards.md, "Cost"): trials of the plan times the seconds per trial of the
scenario's evidence, or of the median of the others if it has no evidence.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from scenario_kit.errors import UsageError
from scenario_kit.model.results.evidence import Evidence

#: Seconds per trial if no scenario has evidence: the median of this catalogue (docs/shards.md).
TRIAL_SECONDS: Final = 12.0
#: Seconds of a scenario without its trials: start, lint, report.
STATIC_SECONDS: Final = 5.0
_POSITION: Final = re.compile(r"(\d{1,6})/(\d{1,6})")


class ShardPosition(NamedTuple):
    """One shard of several, as ``3/20``; ``number`` counts from 1."""

    number: int
    of: int


def parse_position(text: str) -> ShardPosition:
    """Parse a position such as ``3/20``.

    Raises:
        UsageError: the text is not a position, or out of range.
    """
    found = _POSITION.fullmatch(text)
    number, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(f"'{text}' is not a shard", fix="write NUMBER/COUNT, counted from 1, such as 3/20")
    return ShardPosition(number, count)


def measure_trial_seconds(evidence: Evidence | None) -> float | None:
    """Return the wall seconds per trial that evidence measured; None if it measured none."""
    if evidence is None or evidence.trials < 1 or evidence.minutes <= 0:
        return None
    return 60 * evidence.minutes / evidence.trials


def estimate_seconds(trials: Sequence[int], measured: Sequence[float | None]) -> list[float]:
    """Estimate the seconds of scenarios from their trials and, where known, their seconds per trial."""
    known = [seconds for seconds in measured if seconds is not None]
    usual = median(known) if known else TRIAL_SECONDS
    return [
        round(STATIC_SECONDS + count * (usual if seconds is None else seconds), 1)
        for count, seconds in zip(trials, measured, strict=True)
    ]


def divide(costs: Mapping[str, float], count: int) -> list[tuple[str, ...]]:
    """Divide names over ``count`` shards so that the most expensive one costs little more than the mean.

    Longest processing time first, each to the shard with the lowest cost so far: no shard costs more than 4/3 of
    the best division (R. L. Graham, Bounds on Multiprocessing Timing Anomalies, 1969). The result depends on names and
    costs only, not on their order; within a shard, the longest is first.

    Raises:
        UsageError: ``count`` is less than 1.
    """
    if count < 1:
        raise UsageError(f"invalid number of shards: {count}", fix="pass 1 or more")
    shards: list[list[str]] = [[] for _ in range(count)]
    loads = [(0.0, index) for index in range(count)]
    for name in sorted(costs, key=lambda each: (-costs[each], each)):
        load, index = heapq.heappop(loads)
        shards[index].append(name)
        heapq.heappush(loads, (load + costs[name], index))
    return [tuple(shard) for shard in shards]

"""Requests side by side: what became of them, and how parts of a batch are put together again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.random_streams import mix

#: Numbers that each request drew, by name.
Draws = Mapping[str, Floats]
#: The name of each request's own number; a space keeps it apart from the draws of routes.
REQUEST = "request number"


class Result(NamedTuple):
    """Of each request: how long it took, and whether it failed.

    ``noted``: which have an answer that only the caller's instrumentation takes for an error; None where none has.
    """

    took: Floats
    failed: Flags
    noted: Flags | None = None

    def with_part(self, who: Ints, part: Result) -> Result:
        """Record that these requests went like ``part``; the arrays are written into."""
        self.took[who], self.failed[who] = part.took, part.failed
        if part.noted is None:
            return self
        noted = np.zeros(self.failed.size, dtype=bool) if self.noted is None else self.noted
        noted[who] = part.noted
        return self._replace(noted=noted)


class Batch(NamedTuple):
    """Requests of one operation, side by side, on their way through its steps.

    ``salt`` keeps rounds of the same draws apart, ``at`` is when each request came, ``draws`` are numbers that each
    drew. ``took`` and ``failed`` are what became of each so far: steps change them in place.
    """

    salt: int
    at: Floats
    took: Floats
    failed: Flags
    draws: Draws

    @property
    def now(self) -> Floats:
        """When each request takes its next step."""
        return self.at + self.took

    def under_way(self, chosen: Ints | None = None) -> Ints:
        """Return those of the chosen requests, None for all, that have neither failed nor hang."""
        who = np.arange(self.took.size) if chosen is None else chosen
        return who[~self.failed[who] & np.isfinite(self.took[who])]

    def part(self, who: Ints, salt: int) -> Batch:
        """Return a copy of some of the requests, in a round of its own."""
        return Batch(salt, self.at[who], self.took[who], self.failed[who], select_draws(self.draws, who))


def stream(key: int, salt: int) -> int:
    """Return the key of a draw within one of several rounds; round 0 is the key itself."""
    return mix(key, salt) if salt else key


def select_draws(draws: Draws, who: Ints | slice) -> Draws:
    """Select the draws of some of the requests."""
    return {name: array[who] for name, array in draws.items()} if draws else draws


def call_together(call: Callable[[Floats, Draws], Result], many: int, at: Floats, draws: Draws) -> Result:
    """Make so many calls of each request at once, as one batch: the slowest counts, and that any failed."""
    if many == 1:
        return call(at, draws)
    took, failed, _ = call(np.tile(at, many), {name: np.tile(array, many) for name, array in draws.items()})
    return Result(took.reshape(many, -1).max(axis=0), np.asarray(failed.reshape(many, -1).any(axis=0)))


#: Runs steps for a batch.
Run = Callable[[Sequence[Any], Batch], None]


def run_in_turn(run: Run, steps: Sequence[Any], batch: Batch) -> None:
    """Run one step after another; one that fails is the last one."""
    run(steps, batch)


def run_forked(run: Run, steps: Sequence[Any], batch: Batch) -> None:
    """Run all steps from now on, whichever of them fail: the slowest counts, and that any failed."""
    ends = [batch._replace(took=batch.took.copy(), failed=batch.failed.copy()) for _ in steps]
    for step, end in zip(steps, ends, strict=True):
        run((step,), end)
        np.maximum(batch.took, end.took, out=batch.took)
        np.logical_or(batch.failed, end.failed, out=batch.failed)


def add(result: Result, who: Ints | None, took: Floats | None, slowest: Floats | None, failed: Flags | None) -> None:
    """Add the result of some requests, None for all, to what they took, the slowest of several, or who failed."""
    where = slice(None) if who is None else who
    if took is not None:
        took[where] += result.took
    if slowest is not None:
        slowest[where] = np.maximum(slowest[where], result.took)
    if failed is not None:
        failed[where] |= result.failed

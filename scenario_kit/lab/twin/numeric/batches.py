"""Batches of concurrent requests and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.random_streams import mix

#: Numbers drawn per request, by name.
Draws = Mapping[str, Floats]
#: The draw with a request's number; the space avoids clashes with draws of routes.
REQUEST = "request number"
#: Until when the caller of a request waits for it, where its own calls end then.
PATIENCE = "patience"
#: The draw with the order in which a request's calls name items, and the number of the item that a call names.
ORDER, _ITEM = "item order", "item number"


class Result(NamedTuple):
    """The duration and failure of each request.

    ``noted``: responses that only the caller's instrumentation takes for errors; ``unconnected``: calls without a
    connection, where their spans differ. None if there are none.
    """

    took: Floats
    failed: Flags
    noted: Flags | None = None
    unconnected: Flags | None = None

    def with_part(self, who: Ints, part: Result) -> Result:
        """Replace the results of some requests in place."""
        self.took[who], self.failed[who] = part.took, part.failed
        return self._replace(
            noted=self._merge(who, self.noted, part.noted),
            unconnected=self._merge(who, self.unconnected, part.unconnected),
        )

    def _merge(self, who: Ints, whole: Flags | None, part: Flags | None) -> Flags | None:
        if part is None:
            return whole
        whole = np.zeros(self.failed.size, dtype=bool) if whole is None else whole
        whole[who] = part
        return whole


class Batch(NamedTuple):
    """Requests of one operation that run through its steps concurrently.

    ``salt`` separates rounds of the same draws, ``at`` are arrival times, ``draws`` are numbers drawn per request.
    ``took`` and ``failed`` are the results so far; steps modify them in place.
    """

    salt: int
    at: Floats
    took: Floats
    failed: Flags
    draws: Draws

    @property
    def now(self) -> Floats:
        """The start time of each request's next step."""
        return self.at + self.took

    def under_way(self, chosen: Ints | None = None) -> Ints:
        """Return the chosen requests (None: all) that have neither failed nor hang."""
        who = np.arange(self.took.size) if chosen is None else chosen
        return who[~self.failed[who] & np.isfinite(self.took[who])]

    def part(self, who: Ints, salt: int) -> Batch:
        """Return a copy of some requests, as a separate round."""
        return Batch(salt, self.at[who], self.took[who], self.failed[who], select_draws(self.draws, who))


def stream(key: int, salt: int) -> int:
    """Return the key of a draw in one of several rounds; round 0 is the key itself."""
    return mix(key, salt) if salt else key


def select_draws(draws: Draws, who: Ints | slice) -> Draws:
    """Select the draws of some requests."""
    return {name: array[who] for name, array in draws.items()} if draws else draws


def limit_patience(draws: Draws, until: Floats | None) -> Draws:
    """Note until when a request's caller waits; None if its calls do not depend on that."""
    if until is not None:
        return {**draws, PATIENCE: until}
    return {name: array for name, array in draws.items() if name != PATIENCE} if PATIENCE in draws else draws


def number_items(draws: Draws, number: int) -> Draws:
    """Mark calls as being about the item with a number."""
    return {**draws, _ITEM: np.full(draws[ORDER].size, float(number))} if ORDER in draws else draws


def order_items(draws: Draws, share: float) -> Floats:
    """Return a uniform number for each call's item: below ``share`` for one at most of a request's items."""
    order, number = draws[ORDER], draws.get(_ITEM)
    return order if number is None else np.asarray((order - number * share) % 1.0)


def call_together(call: Callable[[Floats, Draws], Result], many: int, at: Floats, draws: Draws) -> Result:
    """Make ``many`` calls per request concurrently, as one batch: the slowest counts; any failure fails the request."""
    if many == 1:
        return call(at, draws)
    took, failed, *_ = call(np.tile(at, many), {name: np.tile(array, many) for name, array in draws.items()})
    return Result(took.reshape(many, -1).max(axis=0), np.asarray(failed.reshape(many, -1).any(axis=0)))


#: Runs steps on a batch.
Run = Callable[[Sequence[Any], Batch], None]


def run_in_turn(run: Run, steps: Sequence[Any], batch: Batch) -> None:
    """Run steps in sequence, up to a failure."""
    run(steps, batch)


def run_forked(run: Run, steps: Sequence[Any], batch: Batch) -> None:
    """Run all steps concurrently, regardless of failures: the slowest counts; any failure fails the request."""
    ends = [batch._replace(took=batch.took.copy(), failed=batch.failed.copy()) for _ in steps]
    for step, end in zip(steps, ends, strict=True):
        run((step,), end)
        np.maximum(batch.took, end.took, out=batch.took)
        np.logical_or(batch.failed, end.failed, out=batch.failed)


def add(result: Result, who: Ints | None, took: Floats | None, slowest: Floats | None, failed: Flags | None) -> None:
    """Add results of some requests (None: all) to durations, the slowest of several, or failures."""
    where = slice(None) if who is None else who
    if took is not None:
        took[where] += result.took
    if slowest is not None:
        slowest[where] = np.maximum(slowest[where], result.took)
    if failed is not None:
        failed[where] |= result.failed

"""Calls of one process along one edge, side by side."""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.network.connections import Link
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints
from scenario_kit.lab.twin.numeric.batches import Draws, select_draws
from scenario_kit.lab.twin.process.process import Process


class CallBatch(NamedTuple):
    """Who calls what over which link, and when: ``at`` are the times at which the calls begin.

    ``salt`` keeps rounds of the same draws apart, ``draws`` are numbers that each request drew.
    """

    caller: Process
    node: CallNode
    link: Link
    salt: int
    at: Floats
    draws: Draws

    def part(self, who: Ints, at: Floats | None = None) -> CallBatch:
        """Return some of the calls; ``at`` is when these begin, if not when they did."""
        return self._replace(at=self.at[who] if at is None else at, draws=select_draws(self.draws, who))

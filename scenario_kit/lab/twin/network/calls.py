"""A batch of calls of one process along one edge."""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.network.connections import Link
from scenario_kit.lab.twin.numeric.arrays import Floats, Ints
from scenario_kit.lab.twin.numeric.batches import Draws, select_draws
from scenario_kit.lab.twin.process.process import Process


class CallBatch(NamedTuple):
    """Calls: caller, callee, link, and their start times ``at``.

    ``salt`` separates rounds of the same draws, ``draws`` are numbers drawn per request.
    """

    caller: Process
    node: CallNode
    link: Link
    salt: int
    at: Floats
    draws: Draws

    def part(self, who: Ints, at: Floats | None = None) -> CallBatch:
        """Return some of the calls, optionally with other start times."""
        return self._replace(at=self.at[who] if at is None else at, draws=select_draws(self.draws, who))

"""Use of connection pools that keep few connections: which calls find none and open one of their own."""

from __future__ import annotations

from scenario_kit.lab.twin.network.connections import LinkKey
from scenario_kit.model.twin.edge import Edge


class PoolUse:
    """Count the calls over each link, by tick."""

    def __init__(self) -> None:
        self._seconds = 1.0
        self._before: dict[LinkKey, int] = {}
        self._now: dict[LinkKey, int] = {}

    def begin(self, start: float, end: float) -> None:
        """Begin a tick."""
        self._seconds = max(end - start, 1e-9)
        self._before, self._now = self._now, {}

    def count(self, key: LinkKey, calls: int) -> None:
        """Count calls of this tick."""
        self._now[key] = self._now.get(key, 0) + calls

    def compute_dialling_share(self, edge: Edge, key: LinkKey, seconds: float) -> float:
        """Compute the share of calls that open a connection, if each call takes this long.

        As many connections come back as are taken. With more calls under way than the pool keeps connections, it holds
        none, one, … or all that it keeps equally often, and calls that find none open one.
        """
        kept = edge.idle_connections
        under_way = self._before.get(key, 0) / self._seconds * seconds
        return min(max(under_way / kept - 1.0, 0.0), 1.0) / (kept + 1.0)

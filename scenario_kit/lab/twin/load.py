"""Users: how many requests a tick offers (behaviour.md §1.6).

iterations per second = users that are free / (mean think time + time that an iteration spends waiting). A user whose
request outlasts a tick is not free until it ends. So hangs and slow pages lower the rate; failures do not. In an open
loop the rate is given, and only the number of connections bounds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from scenario_kit.lab.twin.arrays import Floats
from scenario_kit.lab.twin.connections import Link, LinkKey
from scenario_kit.lab.twin.flags import Active
from scenario_kit.lab.twin.flow import Flow
from scenario_kit.lab.twin.parameters import LoadModel, Setting
from scenario_kit.lab.twin.process import Process, ProcessKey
from scenario_kit.lab.twin.stages import share
from scenario_kit.lab.twin.streams import Streams, mix
from scenario_kit.lab.twin.tree import RouteNode

_COUNT, _TIMES, _DRAW = 0x61, 0x62, 0x63
_SMOOTHING = 0.5


@dataclass(slots=True)
class _Users:
    """The users of one load generator: when busy ones become free, and how long an iteration waits."""

    until: Floats = field(default_factory=lambda: np.zeros(0))
    hanging: list[tuple[LinkKey, int]] = field(default_factory=list)
    waiting: float = 0.0


class Load:
    """All load generators of a world."""

    def __init__(self, model: LoadModel, routes: Sequence[RouteNode], streams: Streams) -> None:
        self._model = model
        self._routes = routes
        self._streams = streams
        self._users: dict[ProcessKey, _Users] = {}

    def run(
        self,
        generators: Sequence[Process],
        flow: Flow,
        links: Mapping[LinkKey, Link],
        effects: Mapping[ProcessKey, Sequence[Active]],
        start: float,
        end: float,
    ) -> None:
        """Send the requests of a tick through the flow."""
        self._users = {p.key: self._users.get(p.key) or _Users() for p in generators}
        for process in generators:
            users = self._users[process.key]
            users.hanging = [(key, n) for key, n in users.hanging if key in links and links[key].hangs]
            self._generator(process, users, flow, effects.get(process.key, ()), start, end)

    def _generator(
        self, process: Process, users: _Users, flow: Flow, effects: Sequence[Active], start: float, end: float
    ) -> None:
        begin = max(start, process.ready_at)
        if begin >= end:
            return
        rate = self.rate(process, users, effects, begin, end)
        ends: list[Floats] = [users.until[users.until > end]]
        spent = 0.0
        for route in self._routes:
            extra = sum(e.flood_per_iteration for e in effects if e.flood == route.name)
            per_iteration = route.per_iteration + extra
            n = self._streams.poisson(
                mix(route.call.key, _COUNT), rate * (end - begin) * per_iteration, process.ordinal
            )
            if not n:
                continue
            at = begin + (end - begin) * self._streams.uniform(mix(route.call.key, _TIMES), n, process.ordinal)
            draws = {
                name: self._draw(mix(route.call.key, _DRAW + number), table, n, process.ordinal)
                for number, (name, table) in enumerate(route.draws.items())
            }
            took, _ = flow.call(process, route.call, 0, at, draws)
            finish = at + took
            # An open loop is bounded by what requests take in all, a closed one by what they take of the tick.
            known = np.where(np.isfinite(took), took, end - begin)
            spent += float((known if self._model.connections else np.minimum(took, end - at)).sum())
            ends.append(finish[(finish > end) & np.isfinite(finish)])
            forever = int(np.count_nonzero(~np.isfinite(finish)))
            if forever and flow.hanging is not None:
                users.hanging.append((flow.hanging, forever))
        users.until = np.concatenate(ends)
        iterations = rate * (end - begin)
        if iterations > 0.0:
            users.waiting += _SMOOTHING * (spent / iterations - users.waiting)

    def rate(self, process: Process, users: _Users, effects: Sequence[Active], begin: float, end: float) -> float:
        """Iterations per second of one generator."""
        if any(e.paused for e in effects):
            return 0.0
        total = setting(self._model.users, process)
        if stages := process.env.get(self._model.stages_env, ""):
            total *= share(stages, (begin + end) / 2.0 - process.ready_at)
        else:
            total = max((e.users for e in effects if e.users), default=total)
        blocked = float(np.clip(users.until - begin, 0.0, end - begin).sum()) / (end - begin)
        blocked += sum(n for _, n in users.hanging)
        if self._model.connections is not None:
            free = setting(self._model.connections, process) - blocked
            return min(total, max(free, 0.0) / max(users.waiting, 1e-6))
        spawned = setting(self._model.spawn_rate, process) * ((begin + end) / 2.0 - process.ready_at)
        active = max(0.0, min(total, spawned))
        think = sum(self._model.think_seconds) / 2.0
        return max(active - blocked, 0.0) / (think + users.waiting)

    def _draw(self, key: int, table: tuple[tuple[float, ...], tuple[float, ...]], n: int, ordinal: int) -> Floats:
        values, weights = table
        bounds = np.cumsum(weights) / sum(weights)
        index = np.searchsorted(bounds, self._streams.uniform(key, n, ordinal), side="right")
        return np.asarray(values)[np.minimum(index, len(values) - 1)]


def setting(source: Setting, process: Process) -> float:
    """A number from the process's environment, or its default."""
    text = process.env.get(source.env, "") if source.env else ""
    try:
        return float(text)
    except ValueError:
        return source.default

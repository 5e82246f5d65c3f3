"""Load generators: the number of requests per tick (docs/fidelity.md).

Iterations per second = idle users / (mean think time + waiting time of an iteration). A user whose request outlasts a
tick is busy until it ends. So hangs and slow pages reduce the rate; failures do not. In an open loop, the rate is
given, limited only by the number of connections. A crowd is a second kind of users of the same load generator, for
example real browsers, which run tasks inside of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from scenario_kit.lab.twin.call_tree.tree import RouteNode, TaskNode
from scenario_kit.lab.twin.network.connections import Link, LinkKey
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.numeric.batches import ORDER, REQUEST, Result
from scenario_kit.lab.twin.numeric.load_stages import find_share
from scenario_kit.lab.twin.numeric.random_streams import Streams, mix
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.lab.twin.requests.request_executor import Flow
from scenario_kit.lab.twin.runtime.flags import Active
from scenario_kit.model.twin.load import Crowd, LoadModel, Setting

_COUNT, _TIMES, _DRAW, _ITEMS = 0x61, 0x62, 0x63, 0x60
_SMOOTHING = 0.5
_MIB = 2.0**20

_Table = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(slots=True)
class _Users:
    """The users of one load generator: when busy ones become idle after their requests, and the waiting time of an
    iteration.
    """

    until: Floats = field(default_factory=lambda: np.zeros(0))
    requests: Floats = field(default_factory=lambda: np.zeros(0))
    hanging: list[tuple[LinkKey, int]] = field(default_factory=list)
    waiting: float = 0.0


@dataclass(slots=True)
class _Turn:
    """The iterations of one kind of users in a tick; waiting times accumulate until it is closed."""

    process: Process
    users: _Users
    flow: Flow
    begin: float
    end: float
    rate: float
    bounds: bool
    spent: float = 0.0
    ends: list[Floats] = field(default_factory=list)
    requests: list[Floats] = field(default_factory=list)

    def took(self, requests: Floats, at: Floats, took: Floats) -> None:
        """Record the durations of requests by start time."""
        finish = at + took
        # An open loop is limited by total durations, a closed one by durations within the tick.
        known = np.where(np.isfinite(took), took, self.end - self.begin)
        self.spent += float((known if self.bounds else np.minimum(took, self.end - at)).sum())
        later = (finish > self.end) & np.isfinite(finish)
        self.ends.append(finish[later])
        self.requests.append(requests[later])
        forever = int(np.count_nonzero(~np.isfinite(finish)))
        if forever and self.flow.hanging is not None:
            self.users.hanging.append((self.flow.hanging, forever))

    def close(self) -> None:
        """Update the busy users and the waiting time of an iteration."""
        users, iterations = self.users, self.rate * (self.end - self.begin)
        busy = users.until > self.end
        users.until = np.concatenate([users.until[busy], *self.ends])
        users.requests = np.concatenate([users.requests[busy], *self.requests])
        if iterations > 0.0:
            users.waiting += _SMOOTHING * (self.spent / iterations - users.waiting)


class LoadGenerators:
    """All load generators of a world."""

    def __init__(
        self,
        model: LoadModel,
        routes: Sequence[RouteNode],
        tasks: Mapping[str, Sequence[TaskNode]],
        streams: Streams,
        items: bool = False,
    ) -> None:
        """``items``: whether it matters which items a request is about."""
        self._items = items
        self._model = model
        self._routes = routes
        self._tasks = tasks
        self._streams = streams
        self._users: dict[ProcessKey, _Users] = {}
        self._crowds: dict[tuple[ProcessKey, str], _Users] = {}

    def run(
        self,
        generators: Sequence[Process],
        flow: Flow,
        links: Mapping[LinkKey, Link],
        effects: Mapping[ProcessKey, Sequence[Active]],
        start: float,
        end: float,
    ) -> None:
        """Send the requests of a tick."""
        self._users = {p.key: self._users.get(p.key) or _Users() for p in generators}
        self._crowds = {key: users for key, users in self._crowds.items() if key[0] in self._users}
        for users in (*self._users.values(), *self._crowds.values()):
            users.hanging = [(key, n) for key, n in users.hanging if key in links and links[key].hangs]
        for process in generators:
            active = effects.get(process.key, ())
            self._generator(process, self._users[process.key], flow, active, start, end)
            process.crowd_bytes = 0.0
            for name in self._model.user_classes:
                self._crowd(process, name, flow, active, start, end)

    def reschedule(self, change: ScheduleChange) -> None:
        """Let users be busy until the new ends of their requests."""
        for users in (*self._users.values(), *self._crowds.values()):
            users.until = change.apply(users.requests, users.until)

    def _generator(
        self, process: Process, users: _Users, flow: Flow, effects: Sequence[Active], start: float, end: float
    ) -> None:
        begin = max(start, process.ready_at)
        if begin >= end:
            return
        bounds = self._model.connections is not None
        turn = _Turn(process, users, flow, begin, end, self.rate(process, users, effects, begin, end), bounds)
        for route in self._routes:
            extra = sum(e.flood_per_iteration for e in effects if e.flood == route.name)
            key, per_iteration = route.call.key, route.per_iteration + extra
            self._send(turn, key, per_iteration, route.draws, partial(flow.call, process, route.call, 0))
        turn.close()

    def _crowd(
        self, process: Process, name: str, flow: Flow, effects: Sequence[Active], start: float, end: float
    ) -> None:
        crowd = self._model.user_classes[name]
        users = self._crowds.setdefault((process.key, name), _Users())
        begin = max(start, process.ready_at)
        service_seconds = self._there(process, crowd, effects, begin, end) if begin < end else 0.0
        process.crowd_bytes += service_seconds * crowd.memory_mib * _MIB
        if not service_seconds or any(e.paused for e in effects):
            return
        rate = _compute_closed_rate(users, service_seconds, crowd.think_seconds, begin, end)
        turn = _Turn(process, users, flow, begin, end, rate, False)
        for task in self._tasks[name]:
            node = task.operation
            self._send(turn, node.key, task.per_iteration, task.draws, partial(flow.serve, process, node, 0))
        turn.close()

    def _send(
        self, turn: _Turn, key: int, per_iteration: float, tables: Mapping[str, _Table], serve: Callable[..., Result]
    ) -> None:
        """Send the requests of one kind in a tick."""
        ordinal, begin, end = turn.process.ordinal, turn.begin, turn.end
        n = self._streams.poisson(mix(key, _COUNT), turn.rate * (end - begin) * per_iteration, ordinal)
        if not n:
            return
        at = begin + (end - begin) * self._streams.uniform(mix(key, _TIMES), n, ordinal)
        draws = {
            name: self._draw(mix(key, _DRAW + number), table, n, ordinal)
            for number, (name, table) in enumerate(tables.items())
        }
        if self._items:
            draws[ORDER] = self._streams.uniform(mix(key, _ITEMS), n, ordinal)
        draws[REQUEST] = turn.flow.span_buffer.begin(key, ordinal, n)
        turn.took(draws[REQUEST], at, serve(at, draws)[0])

    def rate(self, process: Process, users: _Users, effects: Sequence[Active], begin: float, end: float) -> float:
        """Return the iterations per second of one generator, without its crowds."""
        if any(e.paused for e in effects):
            return 0.0
        total = self._total(process, effects, begin, end)
        if self._model.connections is not None:
            free = read_setting(self._model.connections, process) - _count_blocked(users, begin, end)
            return min(total, max(free, 0.0) / max(users.waiting, 1e-6))
        mine = 1.0 - sum(c.share for c in self._model.user_classes.values() if _is_enabled(c, process))
        active = self._active(process, total, begin, end) * mine
        return _compute_closed_rate(users, active, self._model.think_seconds, begin, end)

    def _total(self, process: Process, effects: Sequence[Active], begin: float, end: float) -> float:
        """Return the target number of users, or the iterations per second of an open loop."""
        total = read_setting(self._model.users, process)
        if stages := process.env.get(self._model.stages_env, ""):
            return total * find_share(stages, (begin + end) / 2.0 - process.ready_at)
        return max((e.users for e in effects if e.users), default=total)

    def _active(self, process: Process, total: float, begin: float, end: float) -> float:
        spawned = read_setting(self._model.spawn_rate, process) * ((begin + end) / 2.0 - process.ready_at)
        return max(0.0, min(total, spawned))

    def _there(self, process: Process, crowd: Crowd, effects: Sequence[Active], begin: float, end: float) -> float:
        """Return the number of users of a crowd."""
        if not _is_enabled(crowd, process):
            return 0.0
        return crowd.users + crowd.share * self._active(process, self._total(process, effects, begin, end), begin, end)

    def _draw(self, key: int, table: tuple[tuple[float, ...], tuple[float, ...]], n: int, ordinal: int) -> Floats:
        values, weights = table
        bounds = np.cumsum(weights) / sum(weights)
        index = np.searchsorted(bounds, self._streams.uniform(key, n, ordinal), side="right")
        return np.asarray(values)[np.minimum(index, len(values) - 1)]


def _count_blocked(users: _Users, begin: float, end: float) -> float:
    """Count users that are busy with earlier iterations."""
    blocked = float(np.clip(users.until - begin, 0.0, end - begin).sum()) / (end - begin)
    return blocked + sum(n for _, n in users.hanging)


def _compute_closed_rate(
    users: _Users, active: float, think_seconds: tuple[float, float], begin: float, end: float
) -> float:
    """Compute the iterations per second of users with think time."""
    free = max(active - _count_blocked(users, begin, end), 0.0)
    return free / (sum(think_seconds) / 2.0 + users.waiting)


def _is_enabled(crowd: Crowd, process: Process) -> bool:
    return process.env.get(crowd.env, "").lower() in ("true", "yes", "on")


def read_setting(source: Setting, process: Process) -> float:
    """Return a number from the process's environment, or its default."""
    text = process.env.get(source.env, "") if source.env else ""
    try:
        return float(text)
    except ValueError:
        return source.default

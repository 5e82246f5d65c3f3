"""Propagation across message brokers: forward with messages, and backward from a consumer that stops reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenario_kit.model import App


def has_message_path(app: App, producer: str, consumer: str) -> bool:
    """Return whether messages of a producer reach a consumer through a broker."""
    queues = [c.name for c in app.components if c.role == "Queue"]
    return any(producer in app.producers(q) and consumer in app.consumers(q) for q in queues)


def is_broker_of(app: App, one: str, other: str) -> bool:
    """Return whether one of two components is a broker to which the other is connected."""
    return other in (*app.producers(one), *app.consumers(one)) or one in (*app.producers(other), *app.consumers(other))


def find_route(app: App, start: str, end: str) -> Sequence[str]:
    """Return the shortest path of propagation including both ends; empty if there is none.

    It leads from callee to caller, and across brokers in both directions only if calls alone do not connect the ends.
    """
    return _find_shortest(app, start, end, brokers=False) or _find_shortest(app, start, end, brokers=True)


def _find_shortest(app: App, start: str, end: str, *, brokers: bool) -> Sequence[str]:
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for name in _list_next(app, way[-1], brokers=brokers):
            if name == end:
                return [*way, end]
            if name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return ()


def _list_next(app: App, name: str, *, brokers: bool) -> Iterator[str]:
    yield from app.dependants(name)
    if brokers:
        yield from (c.name for c in app.components if is_broker_of(app, name, c.name))

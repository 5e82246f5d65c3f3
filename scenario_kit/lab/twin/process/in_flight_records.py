"""Records on their way to a broker: each arrives when its time has come, and what would take for ever never does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Generic, NamedTuple, TypeVar

from scenario_kit.lab.twin.process.process import ProcessKey

T = TypeVar("T")

#: A broker and a topic.
Place = tuple[ProcessKey, str]


class Sent(NamedTuple, Generic[T]):
    """A record that arrives at this time, and what is known of it."""

    time: float
    what: T


class Transit(Generic[T]):
    """What has been sent to each place and has not arrived there."""

    def __init__(self) -> None:
        self._late: dict[Place, list[Sent[T]]] = {}

    def arrived(self, sent: Mapping[Place, Iterable[Sent[T]]], end: float) -> dict[Place, list[Sent[T]]]:
        """Take in what was sent, and give out what arrives by ``end``, in the order in which it arrives."""
        come: dict[Place, list[Sent[T]]] = {}
        for place in dict.fromkeys((*self._late, *sent)):
            records = sorted((*self._late.pop(place, ()), *sent.get(place, ())), key=lambda record: record.time)
            come[place] = [record for record in records if record.time <= end]
            if late := [record for record in records if end < record.time and isfinite(record.time)]:
                self._late[place] = late
        return come

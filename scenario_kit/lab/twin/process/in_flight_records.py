"""Records in transit to a broker; one with infinite latency never arrives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Generic, NamedTuple, TypeVar

from scenario_kit.lab.twin.process.process import ProcessKey

T = TypeVar("T")

#: A broker and a topic.
Place = tuple[ProcessKey, str]


class Sent(NamedTuple, Generic[T]):
    """A record with its arrival time."""

    time: float
    what: T


class Transit(Generic[T]):
    """Records sent to each broker and topic that have not arrived."""

    def __init__(self) -> None:
        self._late: dict[Place, list[Sent[T]]] = {}

    def arrived(self, sent: Mapping[Place, Iterable[Sent[T]]], end: float) -> dict[Place, list[Sent[T]]]:
        """Add sent records; return those that arrive by ``end``, in the order of arrival."""
        come: dict[Place, list[Sent[T]]] = {}
        for place in dict.fromkeys((*self._late, *sent)):
            records = sorted((*self._late.pop(place, ()), *sent.get(place, ())), key=lambda record: record.time)
            come[place] = [record for record in records if record.time <= end]
            if late := [record for record in records if end < record.time and isfinite(record.time)]:
                self._late[place] = late
        return come

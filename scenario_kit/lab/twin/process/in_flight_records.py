"""Records in transit to a broker; one with infinite latency never arrives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.process.process import ProcessKey

T = TypeVar("T")

#: A broker, and a topic of it.
BrokerTopic = tuple[ProcessKey, str]


class Sent(NamedTuple, Generic[T]):
    """A record with its arrival time, and the request that sent it (-1 if unknown)."""

    time: float
    what: T
    request: float = -1.0


class Transit(Generic[T]):
    """Records sent to each broker and topic that have not arrived."""

    def __init__(self) -> None:
        self._late: dict[BrokerTopic, list[Sent[T]]] = {}

    def arrived(self, sent: Mapping[BrokerTopic, Iterable[Sent[T]]], end: float) -> dict[BrokerTopic, list[Sent[T]]]:
        """Add sent records; return those that arrive by ``end``, in the order of arrival."""
        come: dict[BrokerTopic, list[Sent[T]]] = {}
        for place in dict.fromkeys((*self._late, *sent)):
            records = sorted((*self._late.pop(place, ()), *sent.get(place, ())), key=lambda record: record.time)
            come[place] = [record for record in records if record.time <= end]
            if late := [record for record in records if end < record.time and isfinite(record.time)]:
                self._late[place] = late
        return come

    def reschedule(self, change: ScheduleChange) -> None:
        """Let records arrive at the new times of their requests."""
        for place, records in self._late.items():
            requests = np.array([record.request for record in records])
            times = change.apply(requests, np.array([record.time for record in records])).tolist()
            self._late[place] = [record._replace(time=time) for record, time in zip(records, times, strict=True)]

"""The span buffer: spans of a sample of each tick's requests, from which traces are assembled on demand.

Each batch of spans of concurrent requests is one *frame*; a span is identified by frame and request number, and its
parent by the enclosing frame. At the end of a tick all but a sample is dropped: requests that failed at each place, the
slowest and an ordinary one of each kind, and the consumption of their records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanName
from scenario_kit.lab.twin.call_tree.tree import CallNode, ConsumerNode, LoopNode, OperationNode
from scenario_kit.lab.twin.network.connections import Link
from scenario_kit.lab.twin.numeric.arrays import Flags, Floats, Ints
from scenario_kit.lab.twin.numeric.batches import REQUEST, Draws
from scenario_kit.lab.twin.numeric.random_streams import mix
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.lab.twin.process.in_flight_records import BrokerTopic, Sent, Transit
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.lab.twin.traces.hung_calls import EndedSpans
from scenario_kit.lab.twin.traces.sampling import choose
from scenario_kit.model.runtime.trace import SpanRef

#: The maximum number of traces kept, in whole ticks.
TRACES = 2000
#: The outcome of a call whose callee says itself why it failed, whatever its operation says of failures.
ANSWER = "answer"
#: More requests than begin in a tick.
_REQUESTS = 1 << 24
#: The maximum number of records whose producer span is kept until they are consumed.
_RECORDS = 4096
#: The number of ticks for which the presence of a collector is kept.
_TICKS = 4096


class Frame(NamedTuple):
    """Spans of one process at one place of a walk: ``names`` from the outside in. ``parent`` is the outer frame."""

    number: int
    parent: int
    process: Process
    names: tuple[SpanName, ...]
    node: CallNode | OperationNode | ConsumerNode | LoopNode
    link: Link | None


class Root(NamedTuple):
    """Requests that start together: numbers from ``first`` on. ``offset`` is that of a consumer's first record."""

    key: int
    ordinal: int
    first: int
    size: int
    place: BrokerTopic | None = None
    offset: int = 0


class Note(NamedTuple):
    """Errors of calls that ended at these times, as logged by the caller; ``frame`` is the innermost enclosing one.

    ``thrown`` is the exception of the callee, if it was an unexpected one.
    """

    frame: int
    outcome: str
    text: str
    times: Floats
    thrown: str = ""


class SpanSample(NamedTuple):
    """The sample of a tick. ``sources`` are the producers' spans, by the number of a consumer's request."""

    tick: int
    roots: tuple[Root, ...]
    frames: tuple[Frame | None, ...]
    notes: tuple[Note, ...]
    sources: dict[int, SpanRef]
    requests: Ints
    frame: Ints
    request: Ints
    at: Floats
    took: Floats
    failed: Flags


class _Publish(NamedTuple):
    """Records of a batch of requests: when they were appended, and how many per request."""

    frame: int
    requests: Floats
    times: Floats
    copies: int


class SpanBatch(NamedTuple):
    """Spans at one place of a walk, one per request: start, duration, failure.

    ``requests`` are the requests' numbers; None if they are not recorded.
    """

    requests: Floats | None
    at: Floats
    took: Floats
    failed: Flags

    @classmethod
    def of(cls, draws: Draws, at: Floats, took: Floats, failed: Flags, whole: Flags | None = None) -> SpanBatch:
        """Build the spans of requests with these draws, or of those in the mask ``whole``."""
        requests = draws.get(REQUEST)
        return cls(requests if requests is None or whole is None else requests[whole], at, took, failed)

    def part(self, which: Flags) -> SpanBatch:
        """Return some of the spans."""
        requests = None if self.requests is None else self.requests[which]
        return SpanBatch(requests, self.at[which], self.took[which], self.failed[which])


class SpanBuffer:
    """The recorded spans of a world. ``everything`` keeps all requests of all ticks, for tests."""

    def __init__(self, seed: int, everything: bool = False) -> None:
        self._seed = seed
        self._everything = everything
        self.samples: deque[SpanSample] = deque()
        self.ticks: deque[tuple[float, bool]] = deque(maxlen=_TICKS)
        self.ended: deque[EndedSpans] = deque(maxlen=_RECORDS)
        self._kept = 0
        self._sources: dict[BrokerTopic, dict[int, SpanRef]] = {}
        self._ends: dict[BrokerTopic, int] = {}
        self._transit: Transit[SpanRef | None] = Transit()
        self._tick = 0
        self._clear()

    def _clear(self) -> None:
        self._base = float((self._tick + 1) * _REQUESTS)
        self._current = -1
        self._total = 0
        self._parents: list[int] = []
        self._frames: list[Frame | None] = []
        self._rows: list[tuple[int, Floats, Floats, Floats, Flags]] = []
        self._roots: list[Root] = []
        self._notes: list[Note] = []
        self._published: dict[BrokerTopic, list[_Publish]] = {}

    def begin(self, key: int, ordinal: int, count: int, place: BrokerTopic | None = None, offset: int = 0) -> Floats:
        """Number requests that start now, differently in each tick; subsequent spans belong to them."""
        first = self._total
        self._total += count
        self._roots.append(Root(key, ordinal, first, count, place, offset))
        return np.arange(first, self._total, dtype=np.float64) + self._base

    def enter(self, name: SpanName | None) -> int:
        """Open an enclosing frame for subsequent spans; no effect without a name."""
        if name is None:
            return -1
        self._parents.append(self._current)
        self._frames.append(None)
        self._current = len(self._parents) - 1
        return self._current

    def leave(
        self,
        mark: int,
        process: Process,
        names: tuple[SpanName, ...],
        node: CallNode | OperationNode | ConsumerNode | LoopNode,
        link: Link | None,
        spans: SpanBatch,
    ) -> None:
        """Complete the frame of ``enter``.

        Spans of a process without collector are lost, but remain parents of others.
        """
        self._current = parent = self._parents[mark]
        self._frames[mark] = Frame(mark, parent, process, names, node, link)
        if process.exports and spans.at.size and spans.requests is not None:
            self._rows.append((mark, spans.requests, spans.at, spans.took, spans.failed))

    def note(self, outcome: str, text: str, times: Floats, thrown: str = "") -> None:
        """Record the cause of failed calls at these times."""
        self._notes.append(Note(self._current, outcome, text, times, thrown))

    def publish(self, place: BrokerTopic, draws: Draws, sent: Flags, times: Floats, copies: int) -> None:
        """Record that requests appended records to a topic at these times."""
        requests = draws.get(REQUEST)
        if requests is not None:
            published = self._published.setdefault(place, [])
            published.append(_Publish(self._current, requests[sent], times, copies))

    def publish_untold(self, place: BrokerTopic, times: Floats) -> None:
        """Record that records of requests of earlier ticks arrived at a topic."""
        self._published.setdefault(place, []).append(_Publish(-1, np.full(times.size, -1.0), times, 1))

    def reschedule(self, change: ScheduleChange) -> None:
        """Let spans begin and end, and records arrive, at the new times of their requests."""
        self._transit.reschedule(change)
        for number, sample in enumerate(self.samples):
            requests = sample.request.astype(np.float64) + sample.tick * _REQUESTS
            at = change.apply(requests, sample.at)
            took = change.apply(requests, sample.at + sample.took) - at
            self.samples[number] = sample._replace(at=at, took=took)

    def close(self, t: float, collected: bool, ended: list[EndedSpans]) -> None:
        """Close the tick up to ``t``; ``collected`` is whether a collector received what ended in it."""
        self.ticks.append((t, collected))
        self.ended.extend(ended)
        self._tick += 1
        if self._rows:
            self._keep(t)
        else:
            self._records(np.zeros(self._total, dtype=bool), t)
        self._clear()

    def _keep(self, t: float) -> None:
        marks, requests, starts, durations, errors = zip(*self._rows, strict=True)
        frame = np.repeat(np.array(marks), [part.size for part in requests])
        request = (np.concatenate(requests) - self._base).astype(np.int64)
        failed, took = np.concatenate(errors), np.concatenate(durations)
        chosen = np.zeros(self._total, dtype=bool)
        if self._everything:
            chosen[:] = True
        else:
            choose(chosen, [(root.first, root.size) for root in self._roots], frame, request, took, failed)
        records = self._records(chosen, t)
        sources = self._choose_consumed(chosen, records)
        kept = np.flatnonzero(chosen[request])
        at = np.concatenate(starts)
        sample = SpanSample(
            self._tick,
            tuple(self._roots),
            tuple(self._frames),
            tuple(self._notes),
            sources,
            np.unique(request[kept]),
            frame[kept],
            request[kept],
            at[kept],
            took[kept],
            failed[kept],
        )
        self.samples.append(sample)
        self._kept += sample.requests.size
        while self._kept > TRACES and not self._everything:
            self._kept -= self.samples.popleft().requests.size

    def _records(self, chosen: Flags, t: float) -> dict[BrokerTopic, dict[int, SpanRef]]:
        """Keep the spans that published what arrived by ``t``, by offset, except those of dropped requests."""
        sent = {place: self._list_sent(place, chosen) for place in self._published}
        for place, come in self._transit.arrived(sent, t).items():
            first = self._ends.get(place, 0)
            self._ends[place] = first + len(come)
            known = self._sources.setdefault(place, {})
            known.update((first + rank, record.what) for rank, record in enumerate(come) if record.what is not None)
            while len(known) > _RECORDS:
                del known[next(iter(known))]
        return self._sources

    def _list_sent(self, place: BrokerTopic, chosen: Flags) -> Iterator[Sent[SpanRef | None]]:
        for batch in self._published.get(place, ()):
            for time, request in zip(batch.times.tolist(), batch.requests.tolist(), strict=True):
                number = int(request - self._base)
                traced = batch.frame >= 0 and chosen[number]
                source = self.reference(self._roots, number, batch.frame) if traced else None
                yield from repeat(Sent(time, source, request), batch.copies)

    def _choose_consumed(self, chosen: Flags, records: dict[BrokerTopic, dict[int, SpanRef]]) -> dict[int, SpanRef]:
        """Select the consumption of known records."""
        sources: dict[int, SpanRef] = {}
        for root in self._roots:
            known = records.get(root.place) if root.place is not None else None
            for number in range(root.size if known else 0):
                source = known.get(root.offset + number) if known else None
                if source is not None:
                    sources[root.first + number] = source
                    chosen[root.first + number] = True
        return sources

    def reference(self, roots: tuple[Root, ...] | list[Root], request: int, frame: int, tick: int = 0) -> SpanRef:
        """Return the IDs of a request's outermost span in a frame, in this tick by default."""
        root = next(root for root in roots if root.first <= request < root.first + root.size)
        base = mix(mix(self._seed, tick or self._tick), mix(root.key, root.ordinal))
        high = mix(base, request - root.first)
        low = mix(high, 0x71)
        return SpanRef(f"{high:016x}{low:016x}", make_span_id(low, frame, 0))


def make_span_id(low: int, frame: int, depth: int) -> str:
    """Return the ID of the ``depth``-th span in a frame, of a trace with these lower 64 bits."""
    return f"{mix(mix(low, frame + 1), depth + 1) or 1:016x}"

"""Assembly of traces from the span buffer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.call_tree.spans import SpanName
from scenario_kit.lab.twin.call_tree.tree import CallNode
from scenario_kit.lab.twin.process.process import ProcessKey
from scenario_kit.lab.twin.process.time_chaos import read_shift
from scenario_kit.lab.twin.traces.attributes import (
    Circumstance,
    build_attributes,
    build_resource,
    describe_error,
    record_events,
)
from scenario_kit.lab.twin.traces.hung_calls import EndedSpans
from scenario_kit.lab.twin.traces.span_buffer import ANSWER, Frame, Note, SpanBuffer, SpanSample, make_span_id
from scenario_kit.model.runtime.trace import Scalar, Span, Trace
from scenario_kit.model.twin.edge import Edge

#: The tolerance for sums of times in different orders, in seconds.
_CLOSE = 1e-6


class _Fact(NamedTuple):
    """The span of one request in one frame."""

    frame: Frame
    at: float
    took: float
    failed: bool


def develop(
    span_buffer: SpanBuffer, edges: tuple[Edge, ...], namespace: str, since: float, until: float
) -> list[Trace]:
    """Return the traces of requests that started between two times, oldest first.

    Spans are included once they have ended and a collector received them, as in the span metrics. Their timestamps are
    from the clocks of their processes; the selection uses the true time.
    """
    seen = _Seen(span_buffer)
    found: list[tuple[float, Trace]] = []
    for sample in list(span_buffer.samples):
        if not sample.at.size or sample.at.max() < since or sample.at.min() > until:
            continue  # the start is between its first and its last span
        for request in sample.requests.tolist():
            made = _trace(span_buffer, sample, request, seen, edges, namespace)
            if made is not None and since <= made[0] <= until:
                found.append(made)
    return [trace for _, trace in sorted(found, key=lambda made: (made[0], made[1].trace_id))]


class _Seen:
    """Export state of spans: by ticks with a collector, and by the end of hanging calls."""

    def __init__(self, span_buffer: SpanBuffer) -> None:
        ticks = list(span_buffer.ticks)
        self._times = [t for t, _ in ticks]
        self._collected = [collected for _, collected in ticks]
        self._ended: dict[tuple[ProcessKey, SpanName], list[EndedSpans]] = {}
        for ended in list(span_buffer.ended):
            self._ended.setdefault((ended.owner, ended.name), []).append(ended)

    def reported(self, end: float) -> bool:
        """Return whether a span with this end has reached a collector."""
        tick = bisect_left(self._times, end)
        return tick < len(self._times) and self._collected[tick]

    def settled(self, owner: ProcessKey, name: SpanName, fact: _Fact) -> _Fact | None:
        """Return a hanging span with its end, once it is known."""
        if np.isfinite(fact.took):
            return fact
        for ended in self._ended.get((owner, name), ()):
            if ended.now >= fact.at and bool((ended.began == fact.at).any()):
                return fact._replace(took=ended.now - fact.at, failed=ended.failed)
        return None


def _trace(
    span_buffer: SpanBuffer, sample: SpanSample, request: int, seen: _Seen, edges: tuple[Edge, ...], namespace: str
) -> tuple[float, Trace] | None:
    """Assemble the trace of a request, with the true start of its earliest span; None before any was exported."""
    facts = list(_list_facts(sample, request))
    if not facts:
        return None
    trace_id, _ = span_buffer.reference(sample.roots, request, 0, sample.tick)
    low = int(trace_id[16:], 16)
    source = sample.sources.get(request)
    resources: dict[tuple[ProcessKey, str], Mapping[str, Scalar]] = {}
    spans: list[Span] = []
    began = float("inf")
    for fact in facts:
        process = fact.frame.process
        parent = _find_parent(sample, fact.frame, low)
        for depth, name in enumerate(fact.frame.names):
            own = make_span_id(low, fact.frame.number, depth)
            known = seen.settled(process.key, name, fact)
            if known is not None and seen.reported(known.at + known.took):
                known = known._replace(failed=known.failed and not name.blind)
                began, ahead = min(began, known.at), read_shift(process, known.at)
                around = Circumstance(
                    name,
                    fact.frame,
                    edges,
                    known.failed,
                    depth,
                    *_find_reason(sample, fact, facts, known.at + known.took),
                )
                spans.append(
                    Span(
                        trace_id=trace_id,
                        span_id=own,
                        parent=parent,
                        service=name.service,
                        name=name.span,
                        kind=name.kind,  # type: ignore[arg-type]
                        start=known.at + ahead,
                        seconds=known.took,
                        error=known.failed,
                        message=describe_error(around),
                        attributes=build_attributes(around),
                        resource=resources.setdefault(
                            (process.key, name.service), build_resource(process, name.service, namespace)
                        ),
                        links=(source,) if source is not None and name.kind == "CONSUMER" else (),
                        events=record_events(around, known.at + known.took + ahead),
                    )
                )
            parent = own
    if not spans:
        return None
    return began, Trace(trace_id, tuple(sorted(spans, key=lambda span: (span.start, -span.seconds))))


def _list_facts(sample: SpanSample, request: int) -> Iterator[_Fact]:
    for index in np.flatnonzero(sample.request == request).tolist():
        frame = sample.frames[sample.frame[index]]
        if frame is not None:
            yield _Fact(frame, float(sample.at[index]), float(sample.took[index]), bool(sample.failed[index]))


def _find_parent(sample: SpanSample, frame: Frame, low: int) -> str:
    """Return the ID of the innermost span of the enclosing frame; empty for a root."""
    around = sample.frames[frame.parent] if frame.parent >= 0 else None
    return make_span_id(low, around.number, len(around.names) - 1) if around is not None else ""


def _find_reason(sample: SpanSample, fact: _Fact, facts: Sequence[_Fact], end: float) -> tuple[str, str, str]:
    """Return why a span failed: the caller's outcome and error, or those of a failed inner call; and the exception."""
    if not fact.failed:
        return "", "", ""
    number = fact.frame.number
    notes = [note for note in sample.notes if note.frame == number and _is_at(note, end)]
    inside = [f for f in facts if f.failed and f.frame.parent == number]
    if notes and (isinstance(fact.frame.node, CallNode) or not inside):
        return notes[0].outcome, notes[0].text, notes[0].thrown
    if not inside:
        return "", "", ""
    outcome, text, thrown = _find_reason(sample, inside[-1], facts, inside[-1].at + inside[-1].took)
    return "failure" if outcome == ANSWER else outcome, text, thrown


def _is_at(note: Note, end: float) -> bool:
    return bool(note.times.size) and bool(np.abs(note.times - end).min() <= _CLOSE)

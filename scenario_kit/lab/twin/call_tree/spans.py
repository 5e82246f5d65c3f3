"""Spans, and the metrics that the collector derives from them (span metrics connector, cumulative)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scenario_kit.lab.twin.numeric.arrays import Flags, Floats
from scenario_kit.lab.twin.numeric.schedule_change import ScheduleChange
from scenario_kit.model.runtime.process import SeriesId

CALLS = "traces_span_metrics_calls_total"
DURATION = "traces_span_metrics_duration_milliseconds"

#: The connector's default bucket bounds in milliseconds.
BOUNDS = (2, 4, 6, 8, 10, 50, 100, 200, 400, 800, 1000, 1400, 2000, 5000, 10000, 15000)
_EDGES = np.array(BOUNDS, dtype=np.float64)
_BUCKETS = len(BOUNDS) + 1


class SpanName(NamedTuple):
    """The identity of spans in a series; ``kind`` is SERVER, CLIENT, INTERNAL, PRODUCER or CONSUMER.

    The status of a ``blind`` span is never set to error; that of an ``approved`` one is set to OK by the program unless
    it fails.
    """

    service: str
    span: str
    kind: str
    blind: bool = False
    approved: bool = False


class _Batch(NamedTuple):
    """Spans of one name: their ends, durations (seconds), errors, and the requests that they belong to (-1: none)."""

    end: Floats
    took: Floats
    failed: Flags
    requests: Floats


class SpanMetrics:
    """Collect spans that end now or later, and maintain the collector's counters."""

    def __init__(self) -> None:
        self._namespace = ""
        self._open: dict[SpanName, list[_Batch]] = {}
        self._rows: dict[tuple[SpanName, bool], int] = {}
        self._ids: list[SeriesId] = []
        self._totals = np.zeros((0, _BUCKETS + 3))

    def record(self, name: SpanName, end: Floats, took: Floats, failed: Flags, requests: Floats | None = None) -> None:
        """Record spans with finite durations; they are exported when they end."""
        if end.size:
            failed = np.zeros(end.size, dtype=bool) if name.blind else failed
            requests = np.full(end.size, -1.0) if requests is None else requests
            self._open.setdefault(name, []).append(_Batch(end, took, failed, requests))

    def reschedule(self, change: ScheduleChange) -> None:
        """Let spans that have not ended begin and end at the new times of their requests."""
        for batches in self._open.values():
            for number, (end, took, failed, requests) in enumerate(batches):
                new = change.apply(requests, end)
                batches[number] = _Batch(new, new - change.apply(requests, end - took), failed, requests)

    def reset(self) -> None:
        """Reset the counters after the collector was replaced; spans in progress will reach the new one."""
        self._rows, self._ids = {}, []
        self._totals = np.zeros((0, _BUCKETS + 3))

    def flush_lost(self, now: float) -> None:
        """Drop spans that ended by ``now`` without a collector."""
        self.flush(now)
        self.reset()

    def flush(self, now: float) -> None:
        """Count spans that ended by ``now``."""
        later: dict[SpanName, list[_Batch]] = {}
        for name, batches in self._open.items():
            end, took, failed, requests = (
                batches[0]
                if len(batches) == 1
                else _Batch(*(np.concatenate(part) for part in zip(*batches, strict=True)))
            )
            done = end <= now
            if not done.all():
                rest = ~done
                later[name] = [_Batch(end[rest], took[rest], failed[rest], requests[rest])]
                took, failed = took[done], failed[done]
            if not took.size:
                continue
            if failed.any():
                self._add(name, True, took[failed])
                took = took[~failed]
            if took.size:
                self._add(name, False, took)
        self._open = later

    def samples(self, namespace: str) -> dict[SeriesId, float]:
        """Return the collector's current series."""
        if namespace != self._namespace:
            self._namespace = namespace
            self._ids = [series for name, error in self._rows for series in self._series(name, error)]
        return dict(zip(self._ids, self._totals.ravel().tolist(), strict=True))

    def _add(self, name: SpanName, error: bool, took: Floats) -> None:
        row = self._rows.get((name, error))
        if row is None:
            row = self._rows[name, error] = len(self._rows)
            self._ids += self._series(name, error)
            self._totals = np.vstack([self._totals, np.zeros((1, _BUCKETS + 3))])
        milliseconds = took * 1000.0
        counts = np.bincount(np.searchsorted(_EDGES, milliseconds), minlength=_BUCKETS)
        totals = self._totals[row]
        totals[:_BUCKETS] += np.cumsum(counts)
        totals[_BUCKETS] += milliseconds.sum()
        totals[_BUCKETS + 1 :] += took.size

    def _series(self, name: SpanName, error: bool) -> list[SeriesId]:
        status = "STATUS_CODE_ERROR" if error else "STATUS_CODE_OK" if name.approved else "STATUS_CODE_UNSET"
        head = (("namespace", self._namespace), ("service_name", name.service))
        tail = (("span_kind", f"SPAN_KIND_{name.kind}"), ("span_name", name.span), ("status_code", status))
        bounds = [*map(str, BOUNDS), "+Inf"]
        buckets: list[SeriesId] = [(f"{DURATION}_bucket", (("le", bound), *head, *tail)) for bound in bounds]
        rest: list[SeriesId] = [(metric, (*head, *tail)) for metric in (f"{DURATION}_sum", f"{DURATION}_count", CALLS)]
        return buckets + rest

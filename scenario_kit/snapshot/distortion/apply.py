"""Apply telemetry policies: pure functions of the recording and the seed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from scenario_kit.model.runtime.recording import RecordedLine, RecordedTick
from scenario_kit.model.runtime.trace import Span, Trace
from scenario_kit.ports import Series
from scenario_kit.snapshot.distortion.policy import TelemetryPolicy
from scenario_kit.snapshot.settings import draw_share

#: Suffixes of counters and histograms, which are monotonic and get no noise.
_COUNTERS = ("_total", "_bucket", "_count", "_sum")
_COMPONENT_LABELS = ("service_name", "container")


class Distortion:
    """Distorts telemetry by policies; ``start`` is the first instant of the recording."""

    def __init__(self, policies: Sequence[TelemetryPolicy], seed: int, start: float) -> None:
        self._policies = tuple(policies)
        self._seed = seed
        self._start = start

    @property
    def touches_metrics(self) -> bool:
        """Return whether series that rules evaluate are distorted."""
        return any(policy.distorts_metrics for policy in self._policies)

    @property
    def disorder(self) -> float:
        """Maximum deviation of line and span times, in seconds."""
        return sum(abs(p.seconds or 0.0) for p in self._policies if p.kind in ("skew", "late"))

    def distort_ticks(self, ticks: Iterable[RecordedTick], names: Mapping[str, str]) -> Iterator[RecordedTick]:
        """Distort lines and spans; ``names`` maps known pods to components."""
        for tick in ticks:
            lines = [shown for line in tick.lines for shown in self._distort_line(line, names.get(line.pod, ""))]
            traces = [Trace(t.trace_id, tuple(self._distort_spans(t))) for t in tick.traces]
            yield msgspec.structs.replace(
                tick, lines=tuple(lines), traces=tuple(trace for trace in traces if trace.spans)
            )

    def distort_series(self, series: Iterable[Series]) -> Iterator[Series]:
        """Distort samples as rules see them: late samples are missing."""
        for each in series:
            yield Series(each.labels, [p for p, late in self._distort_points(each) if not late])

    def show_series(self, series: Iterable[Series]) -> Iterator[Series]:
        """Distort samples as finally stored: late ones at their time of arrival, some duplicated."""
        for each in series:
            yield Series(each.labels, sorted(self._store_points(each)))

    def _distort_line(self, line: RecordedLine, component: str) -> Iterator[RecordedLine]:
        at, times = line.at, 1
        for policy in self._find(component):
            drawn = self._draw(policy, line.pod, line.container, line.at, line.text)
            if policy.kind == "gap" and policy.covers(line.at - self._start):
                return
            if policy.kind == "skew":
                at += policy.seconds or 0.0
            elif policy.kind == "late" and drawn < (policy.share or 0.0):
                at += (policy.seconds or 0.0) * drawn / (policy.share or 1.0)
            elif policy.kind == "duplicate" and drawn < (policy.share or 0.0):
                times = 2
        for _ in range(times):
            yield line._replace(at=at)

    def _distort_spans(self, trace: Trace) -> Iterator[Span]:
        for span in trace.spans:
            start, times = span.start, 1
            for policy in self._find(span.service):
                drawn = self._draw(policy, span.trace_id, span.span_id)
                gone = policy.kind == "gap" and policy.covers(span.start - self._start)
                if gone or (policy.kind == "lostSpans" and drawn < (policy.share or 0.0)):
                    times = 0
                elif policy.kind == "skew":
                    start += policy.seconds or 0.0
                elif policy.kind == "duplicate" and drawn < (policy.share or 0.0):
                    times *= 2
            for _ in range(times):
                yield span._replace(start=start)

    def _distort_points(self, series: Series) -> Iterator[tuple[tuple[float, float], bool]]:
        """Distort samples and mark late ones."""
        labels = series.labels
        policies = list(self._find(find_component(labels)))
        name = labels.get("__name__", "")
        identity = " ".join(
            f"{k}={v}" for k, v in sorted(labels.items()) if k in ("__name__", *_COMPONENT_LABELS, "le")
        )
        held: dict[int, float] = {}
        for at, value in series.points:
            since, late, kept = at - self._start, False, True
            for number, policy in enumerate(policies):
                drawn = self._draw(policy, identity, since)
                if policy.kind == "gap" and policy.covers(since):
                    kept = False
                elif policy.kind == "stuck":
                    value = held.setdefault(number, value) if policy.covers(since) else value
                elif policy.kind == "noise" and not name.endswith(_COUNTERS):
                    value *= 1.0 + (policy.share or 0.0) * (2.0 * drawn - 1.0)
                elif policy.kind == "late":
                    late |= drawn < (policy.share or 0.0)
            if kept:
                yield (at, value), late

    def _store_points(self, series: Series) -> Iterator[tuple[float, float]]:
        labels = series.labels
        policies = list(self._find(find_component(labels)))
        for (at, value), late in self._distort_points(series):
            shown, times = at, 1
            for policy in policies:
                drawn = self._draw(policy, "stored", labels.get("__name__", ""), at - self._start)
                if policy.kind == "late" and late:
                    shown += (policy.seconds or 0.0) * drawn
                elif policy.kind == "duplicate" and drawn < (policy.share or 0.0):
                    times = 2
            for _ in range(times):
                yield shown, value

    def _find(self, component: str) -> Iterator[TelemetryPolicy]:
        return (policy for policy in self._policies if policy.concerns(component))

    def _draw(self, policy: TelemetryPolicy, *parts: object) -> float:
        return draw_share(self._seed, policy.kind, policy.source, *parts)


def find_component(labels: Mapping[str, str]) -> str:
    """Return the component of a series, from its service or container label."""
    return next((labels[name] for name in _COMPONENT_LABELS if labels.get(name)), "")

"""``otel_traces_raw.tsv``: one row for each span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scenario_kit.model.runtime.trace import Scalar, Span, Trace
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.times import TimeShift
from scenario_kit.snapshot.files.columns import Row, format_map, format_nanoseconds

TRACE_COLUMNS: Final = (
    "Timestamp", "TraceId", "SpanId", "ParentSpanId", "TraceState", "SpanName", "SpanKind", "ServiceName",
    "ResourceAttributes", "ScopeName", "ScopeVersion", "SpanAttributes", "Duration", "StatusCode", "StatusMessage",
    "Events.Timestamp", "Events.Name", "Events.Attributes", "Links.TraceId", "Links.SpanId", "Links.TraceState",
    "Links.Attributes",
)  # fmt: skip


class SpanRows:
    """Builds rows of spans and caches formatted resource attributes."""

    def __init__(self, names: NameMap, shift: TimeShift) -> None:
        self._names = names
        self._shift = shift
        self._resources: dict[tuple[Scalar, ...], str] = {}

    def list_rows(self, trace: Trace, end: float) -> Iterator[Row]:
        """List the rows of spans that ended by ``end``."""
        for span in trace.spans:
            if span.end <= end:
                yield Row(span.start, (span.trace_id, span.span_id), self._build(span))

    def _build(self, span: Span) -> tuple[object, ...]:
        events = [
            (format_nanoseconds(self._shift.shows(e.t)), e.name, self._spell(span, e.attributes)) for e in span.events
        ]
        return (
            format_nanoseconds(self._shift.shows(span.start)), span.trace_id, span.span_id, span.parent, "", span.name,
            span.kind.capitalize(), span.service, self._spell_resource(span), "", "",
            self._spell(span, span.attributes), round(span.seconds * 1e9), "Error" if span.error else "Unset",
            self._names.rename(span.message) if span.message else "",
            repr([t for t, _, _ in events]), repr([name for _, name, _ in events]),
            f"[{', '.join(text for _, _, text in events)}]",
            repr([link.trace_id for link in span.links]), repr([link.span_id for link in span.links]),
            repr(["" for _ in span.links]), f"[{', '.join('{}' for _ in span.links)}]",
        )  # fmt: skip

    def _spell(self, span: Span, attributes: Mapping[str, Scalar]) -> str:
        if not attributes:
            return "{}"
        return self._names.rename_beside(format_map(attributes), str(span.resource.get("k8s.pod.name", "")))

    def _spell_resource(self, span: Span) -> str:
        key = (*span.resource.keys(), *span.resource.values())
        if key not in self._resources:
            self._resources[key] = self._spell(span, span.resource)
        return self._resources[key]

"""Traces as OTLP JSON: one ``ExportTraceServiceRequest`` per line, as written by the collector's file exporter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from scenario_kit.model.runtime.trace import Scalar, Span, Trace

_KINDS: Final = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_ERROR: Final = 2


def serialize_lines(traces: Iterable[Trace]) -> Iterator[str]:
    """Yield one line per trace, without the newline."""
    for trace in traces:
        yield json.dumps(build_request(trace), separators=(",", ":"), ensure_ascii=False)


def build_request(trace: Trace) -> dict[str, Any]:
    """Build the export request of a trace, with spans grouped by resource."""
    groups: dict[tuple[tuple[str, Scalar], ...], list[Span]] = {}
    for span in trace.spans:
        groups.setdefault(tuple(span.resource.items()), []).append(span)
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _serialize_attributes(dict(key))},
                "scopeSpans": [{"scope": {}, "spans": [_serialize_span(span) for span in spans]}],
            }
            for key, spans in groups.items()
        ]
    }


def _serialize_span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent,
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": _format_nanos(span.start),
        "endTimeUnixNano": _format_nanos(span.end),
        "attributes": _serialize_attributes(span.attributes),
        "events": [
            {"timeUnixNano": _format_nanos(e.t), "name": e.name, "attributes": _serialize_attributes(e.attributes)}
            for e in span.events
        ],
        "links": [{"traceId": ref.trace_id, "spanId": ref.span_id} for ref in span.links],
        "status": _serialize_status(span),
    }


def _serialize_status(span: Span) -> dict[str, Any]:
    if not span.error:
        return {}
    return {"message": span.message, "code": _ERROR} if span.message else {"code": _ERROR}


def _serialize_attributes(attributes: Mapping[str, Scalar]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _serialize_value(value)} for key, value in attributes.items()]


def _serialize_value(value: Scalar) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _format_nanos(seconds: float) -> str:
    """Format nanoseconds as text, rounded to microseconds: a double resolves present times only to some 240 ns."""
    return str(round(seconds * 1e6) * 1000)

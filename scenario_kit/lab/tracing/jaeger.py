"""Jaeger's HTTP query API (version 1, JSON) over the traces of one world.

::

    GET services                        names of services
    GET services/{service}/operations   names of their spans
    GET operations?service=             the same, with span kinds
    GET traces?service=&…               the newest matching traces
    GET traces/{id}                     one trace
    GET dependencies?endTs=&lookback=   calls between services; times in milliseconds

Each answer is ``{data, total, limit, offset, errors}``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote

from scenario_kit.lab.tracing.query import (
    Malformed,
    TraceQuery,
    find,
    list_tags,
    normalize_identifier,
    parse,
    parse_micros,
    parse_whole,
)
from scenario_kit.model.runtime.trace import Scalar, Span, Trace

_OPERATIONS: Final = re.compile(r"services/(?P<service>[^/]+)/operations")
_TRACE: Final = re.compile(r"traces/(?P<id>[^/]+)")
_DAY_MILLIS: Final = 24 * 3600 * 1000


class TraceSource(NamedTuple):
    """The world's time, and a query for traces that started between two times."""

    now: float
    traces: Callable[[float, float], Sequence[Trace]]


class Reply(NamedTuple):
    """An HTTP status and a JSON document."""

    status: int
    document: Mapping[str, Any]


def reply(source: TraceSource, path: str, query: str) -> Reply:
    """Answer a request for a path below ``api/``."""
    try:
        return _reply(source, path, query)
    except Malformed as error:
        return build_error_reply(400, str(error))


def _reply(source: TraceSource, path: str, query: str) -> Reply:
    if path == "services":
        services = sorted({span.service for span in _list_spans(source)})
        return _build_reply(services, len(services))
    if path == "operations":
        service = _read_first(query, "service")
        if not service:
            raise Malformed("parameter 'service' is required")
        kind = _read_first(query, "spanKind").lower()
        pairs = {(s.name, s.kind.lower()) for s in _list_spans(source) if s.service == service}
        reported = [{"name": name, "spanKind": k} for name, k in sorted(pairs) if kind in ("", k)]
        return _build_reply(reported, len(reported))
    if match := _OPERATIONS.fullmatch(path):
        service = unquote(match["service"])
        names = sorted({s.name for s in _list_spans(source) if s.service == service})
        return _build_reply(names, len(names))
    if path == "traces":
        return _search(source, parse(query, source.now))
    if match := _TRACE.fullmatch(path):
        desired = normalize_identifier(match["id"])
        found = [t for t in source.traces(0.0, source.now) if t.trace_id == desired]
        return _build_reply([render_trace(t) for t in found]) if found else build_error_reply(404, "trace not found")
    if path == "dependencies":
        return _build_reply(_list_dependencies(source, query))
    return build_error_reply(404, f"no such path: api/{path}")


def _search(source: TraceSource, query: TraceQuery) -> Reply:
    if not query.ids:
        return _build_reply([render_trace(t) for t in find(source.traces(query.since, query.until), query)])
    by_id = {trace.trace_id: trace for trace in source.traces(0.0, source.now)}
    missing = [{"msg": "trace not found", "traceID": i} for i in query.ids if i not in by_id]
    found = [render_trace(by_id[i]) for i in query.ids if i in by_id]
    return Reply(200, _build_envelope(found, 0, missing or None))


def render_trace(trace: Trace) -> dict[str, Any]:
    """Render a trace in Jaeger's format; one process per distinct resource."""
    processes: dict[str, dict[str, Any]] = {}
    names: dict[tuple[tuple[str, Scalar], ...], str] = {}
    spans = []
    for span in trace.spans:
        key = tuple(sorted(span.resource.items(), key=lambda pair: pair[0]))
        if key not in names:
            names[key] = f"p{len(names) + 1}"
            tags = {k: v for k, v in span.resource.items() if k != "service.name"}
            processes[names[key]] = {"serviceName": span.service, "tags": _build_pairs(tags)}
        spans.append(_build_span(span, names[key]))
    return {"traceID": trace.trace_id, "spans": spans, "processes": processes, "warnings": None}


def _build_span(span: Span, process: str) -> dict[str, Any]:
    references = [{"refType": "CHILD_OF", "traceID": span.trace_id, "spanID": span.parent}] if span.parent else []
    references += [{"refType": "FOLLOWS_FROM", "traceID": r.trace_id, "spanID": r.span_id} for r in span.links]
    return {
        "traceID": span.trace_id,
        "spanID": span.span_id,
        "flags": 1,
        "operationName": span.name,
        "references": references,
        "startTime": round(span.start * 1e6),
        "duration": round(span.seconds * 1e6),
        "tags": _build_pairs(list_tags(span)),
        "logs": [
            {"timestamp": round(event.t * 1e6), "fields": _build_pairs({"event": event.name, **event.attributes})}
            for event in span.events
        ],
        "processID": process,
        "warnings": None,
    }


def _build_pairs(tags: Mapping[str, Scalar]) -> list[dict[str, Any]]:
    return [{"key": key, "type": _type(value), "value": value} for key, value in tags.items()]


def _type(value: Scalar) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    return "float64" if isinstance(value, float) else "string"


def _list_dependencies(source: TraceSource, query: str) -> list[dict[str, Any]]:
    given = {key: values[0] for key, values in parse_qs(query).items()}
    end = parse_micros(given, "endTs", source.now, 1e3)
    back = parse_whole(given, "lookback", _DAY_MILLIS) / 1e3
    service = given.get("service", "")
    calls: Counter[tuple[str, str]] = Counter()
    for trace in source.traces(end - back, end):
        by_id = {span.span_id: span for span in trace.spans}
        for span in trace.spans:
            parent = by_id.get(span.parent)
            if parent is not None and parent.service != span.service:
                calls[parent.service, span.service] += 1
    return [
        {"parent": parent, "child": child, "callCount": count}
        for (parent, child), count in sorted(calls.items())
        if service in ("", parent, child)
    ]


def _list_spans(source: TraceSource) -> Iterable[Span]:
    return (span for trace in source.traces(0.0, source.now) for span in trace.spans)


def _read_first(query: str, name: str) -> str:
    return parse_qs(query).get(name, [""])[0]


def _build_reply(data: Sequence[Any], total: int = 0) -> Reply:
    return Reply(200, _build_envelope(data, total, None))


def build_error_reply(status: int, text: str) -> Reply:
    """Build an error in Jaeger's format."""
    return Reply(status, _build_envelope(None, 0, [{"code": status, "msg": text}]))


def _build_envelope(data: Sequence[Any] | None, total: int, errors: Sequence[Any] | None) -> dict[str, Any]:
    return {"data": data, "total": total, "limit": 0, "offset": 0, "errors": errors}

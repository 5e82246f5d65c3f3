"""Traces from Jaeger's HTTP query API (version 1, JSON), which Jaeger 1 and 2 serve.

Format: https://www.jaegertracing.io/docs/latest/architecture/apis/ ("HTTP JSON", internal but stable) and
https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/jaeger/ for the tags of OpenTelemetry's spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from scenario_kit.clients.connection import create_pool
from scenario_kit.clients.transport_errors import LIBRARY_ERRORS
from scenario_kit.errors import InfrastructureError
from scenario_kit.model import Object
from scenario_kit.model.runtime.trace import Scalar, Span, SpanEvent, SpanKind, SpanRef, Trace

_TIMEOUT_SECONDS: Final = 60
#: Maximum number of traces in a response; a window with more is divided.
PAGE: Final = 1500
#: Minimum window; if it has more traces than a page, they cannot be read.
_MIN_WINDOW_SECONDS: Final = 0.1
_KINDS: Final[Mapping[str, SpanKind]] = {
    "server": "SERVER", "client": "CLIENT", "producer": "PRODUCER", "consumer": "CONSUMER", "internal": "INTERNAL",
}  # fmt: skip
#: Tags with a span's kind, status and format.
_DERIVED: Final = (
    "span.kind", "error", "otel.status_code", "otel.status_description", "internal.span.format", "w3c.tracestate",
)  # fmt: skip
_NAMESPACE: Final = "k8s.namespace.name"


class JaegerTraces:
    """The traces of some namespaces in a Jaeger; spans that name no namespace count as well.

    Args:
        url: root of the query service, such as ``http://127.0.0.1:16686`` or, with a base path, ``…/jaeger/ui``.
        namespaces: namespaces of the app.
    """

    def __init__(self, url: str, namespaces: Iterable[str]) -> None:
        self._url = url.rstrip("/")
        self._namespaces = frozenset(namespaces)
        self._pool = create_pool(self._url)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def read(self, start: float, end: float) -> Sequence[Trace]:
        """Return the traces that started in [``start``, ``end``), oldest first.

        Raises:
            InfrastructureError: Jaeger does not answer, or has more traces than it lists.
        """
        found: dict[str, Trace] = {}
        for service in self.list_services():
            for document in self._search(service, start, end):
                identifier = str(document.get("traceID"))
                if identifier not in found:
                    found[identifier] = self._parse(document)
        return sorted(
            (t for t in found.values() if start <= t.start < end and self._concerns(t)),
            key=lambda t: (t.start, t.trace_id),
        )

    def list_services(self) -> Sequence[str]:
        """List the services with spans.

        Raises:
            InfrastructureError: Jaeger does not answer.
        """
        return sorted(self._ask("services", {}, list[str] | None) or ())

    def _search(self, service: str, start: float, end: float) -> list[Object]:
        query = {"service": service, "start": int(start * 1e6), "end": int(end * 1e6), "limit": PAGE}
        found = self._ask("traces", query, list[Object] | None) or []
        if len(found) < PAGE:
            return found
        if end - start < _MIN_WINDOW_SECONDS:
            raise InfrastructureError(
                f"{self._url}: {service} has {PAGE} traces or more within {end - start:.2f} s, more than can be read",
                fix="sample the traces, or leave them out: --without traces",
            )
        middle = (start + end) / 2
        return [*self._search(service, start, middle), *self._search(service, middle, end)]

    def _concerns(self, trace: Trace) -> bool:
        """Return whether any span is the app's, or names no namespace."""
        return any(str(s.resource.get(_NAMESPACE, "")) in {"", *self._namespaces} for s in trace.spans)

    def _parse(self, document: Object) -> Trace:
        try:
            return parse_trace(document)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InfrastructureError(f"{self._url}: not a trace of Jaeger: {error!r}") from error

    def _ask(self, path: str, query: Mapping[str, object], form: Any) -> Any:
        """Return the ``data`` of a response, converted to the type ``form``."""
        address = f"{self._url}/api/{path}" + (f"?{urlencode(query)}" if query else "")
        fix = "check --jaeger: it is the root of Jaeger's query service, such as http://127.0.0.1:16686"
        try:
            response = self._pool.request("GET", address, timeout=_TIMEOUT_SECONDS)
        except LIBRARY_ERRORS as error:
            raise InfrastructureError(f"{self._url}: no response from Jaeger: {error}", fix=fix) from error
        if response.status != 200:
            text = response.data[:300].decode("utf-8", "replace").strip()
            raise InfrastructureError(f"{address}: Jaeger refused (HTTP {response.status}): {text}", fix=fix)
        try:
            return msgspec.convert(msgspec.json.decode(response.data)["data"], form)
        except (msgspec.DecodeError, KeyError, TypeError, RecursionError) as error:
            raise InfrastructureError(f"{address}: not a response of Jaeger: {error!r}", fix=fix) from error


def parse_trace(document: Object) -> Trace:
    """Parse a trace of Jaeger's JSON.

    Raises:
        KeyError: a field is missing; TypeError, ValueError, IndexError and AttributeError: it has another form.
    """
    processes = document["processes"]
    spans = [_parse_span(span, processes[span["processID"]]) for span in document["spans"]]
    if not spans:
        raise ValueError("a trace without spans")
    return Trace(spans[0].trace_id, tuple(sorted(spans, key=lambda span: (span.start, span.span_id))))


def _parse_span(span: Object, process: Object) -> Span:
    tags = _parse_tags(span.get("tags"))
    references = span.get("references") or ()
    parents = [r["spanID"] for r in references if r["refType"] == "CHILD_OF" and r["traceID"] == span["traceID"]]
    parent = str(parents[0]).zfill(16) if parents else ""
    error = tags.get("error") is True or tags.get("otel.status_code") == "ERROR"
    return Span(
        trace_id=str(span["traceID"]).zfill(32),
        span_id=str(span["spanID"]).zfill(16),
        parent=parent,
        service=process["serviceName"],
        name=span["operationName"],
        kind=_KINDS.get(str(tags.get("span.kind", "internal")), "INTERNAL"),
        start=span["startTime"] / 1e6,
        seconds=span["duration"] / 1e6,
        error=error,
        message=str(tags.get("otel.status_description", "")),
        attributes={key: value for key, value in tags.items() if key not in _DERIVED},
        resource={"service.name": process["serviceName"], **_parse_tags(process.get("tags"))},
        links=tuple(
            SpanRef(str(r["traceID"]).zfill(32), str(r["spanID"]).zfill(16))
            for r in references
            if r["spanID"] not in parents[:1] or r["traceID"] != span["traceID"]
        ),
        events=tuple(_parse_event(event) for event in span.get("logs") or ()),
    )


def _parse_event(event: Object) -> SpanEvent:
    fields = _parse_tags(event.get("fields"))
    name = str(fields.pop("event", ""))
    return SpanEvent(event["timestamp"] / 1e6, name, fields)


def _parse_tags(tags: Iterable[Object] | None) -> dict[str, Scalar]:
    return {tag["key"]: tag["value"] for tag in tags or ()}

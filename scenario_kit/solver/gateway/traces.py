"""Traces for a solver: condensed results of Jaeger's query API."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from scenario_kit.solver.gateway.answers import BadCall, ToolAnswer, answer_list

#: Maximum number of traces in an answer, and of minutes to look back.
MAX_TRACES: Final = 20
MAX_MINUTES: Final = 24 * 60
#: Tags that name the callee of a client span, most specific first; the third is the former name of the second.
_PEER_TAGS: Final = ("peer.service", "server.address", "net.peer.name", "upstream_cluster")
#: Kinds of spans that call another service.
_CALLING_KINDS: Final = ("client", "producer")


class TraceStore(Protocol):
    """Jaeger's query API (version 1) over the traces of one app."""

    def ask(self, path: str, query: str = "") -> tuple[int, dict[str, Any]]:
        """Request a path below ``api/``; returns the status and the document.

        Raises:
            InfrastructureError: Jaeger does not respond.
        """


def list_services(store: TraceStore) -> ToolAnswer:
    """List the services with spans."""
    return answer_list(_ask(store, "services"))


def list_operations(store: TraceStore, service: str) -> ToolAnswer:
    """List the operations of a service."""
    return answer_list(_ask(store, f"services/{quote(service, safe='')}/operations"))


def get_dependencies(store: TraceStore, now: float, minutes: float) -> ToolAnswer:
    """Get the calls between services: parent, child and call count."""
    _check_minutes(minutes)
    query = urlencode({"endTs": int(now * 1000), "lookback": int(minutes * 60_000)})
    return answer_list(_ask(store, "dependencies", query))


def get_traces(store: TraceStore, service: str, now: float, minutes: float, limit: int, errors: bool) -> ToolAnswer:
    """Get the newest traces of a service as lists of spans; with ``errors``, only those with a failed span of it."""
    _check_minutes(minutes)
    if not 1 <= limit <= MAX_TRACES:
        raise BadCall(f"limit is {limit}", f"between 1 and {MAX_TRACES}")
    parameters: dict[str, Any] = {"service": service, "limit": limit, "end": int(now * 1e6)}
    parameters["start"] = int((now - minutes * 60) * 1e6)
    if errors:
        parameters["tag"] = "error:true"
    found = _ask(store, "traces", urlencode(parameters))
    return answer_list([shorten_trace(trace) for trace in found])


def shorten_trace(trace: dict[str, Any]) -> dict[str, Any]:
    """Condense a Jaeger trace: times in milliseconds, and only the tags of failures and of the callee."""
    services = {key: each["serviceName"] for key, each in trace["processes"].items()}
    spans = [_shorten_span(span, services[span["processID"]]) for span in trace["spans"]]
    return {"traceID": trace["traceID"], "spans": spans}


def _shorten_span(span: dict[str, Any], service: str) -> dict[str, Any]:
    tags = {tag["key"]: tag["value"] for tag in span.get("tags", ())}
    parents = [r["spanID"] for r in span.get("references", ()) if r["refType"] == "CHILD_OF"]
    short = {
        "span": span["spanID"],
        "parent": parents[0] if parents else "",
        "service": service,
        "operation": span["operationName"],
        "start": span["startTime"] / 1e6,
        "ms": span["duration"] / 1000,
    }
    if tags.get("span.kind") in _CALLING_KINDS and (peer := next((tags[t] for t in _PEER_TAGS if tags.get(t)), "")):
        short["peer"] = str(peer)
    if tags.get("error"):
        short["error"] = str(tags.get("otel.status_description") or True)
    return short


def _ask(store: TraceStore, path: str, query: str = "") -> Any:
    status, document = store.ask(path, query)
    if status != 200:
        problems = [str(each.get("msg", "")) for each in document.get("errors") or ()]
        raise BadCall("; ".join(problems) or f"the trace store answers {status}", "services: get_services")
    return document["data"]


def _check_minutes(minutes: float) -> None:
    if not 0 < minutes <= MAX_MINUTES:
        raise BadCall(f"last_n_minutes is {minutes:g}", f"above 0 and at most {MAX_MINUTES}")

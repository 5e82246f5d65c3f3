"""``lab traces``: traces of an app's requests, as a table or an OTLP file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenario_kit.cli.terminal.options import Format, Lab
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.errors import LabError, UsageError
from scenario_kit.model.base import Value

if TYPE_CHECKING:
    from scenario_kit.lab.host.state import LabState

_SECONDS = 60.0
_SHOWN = 40
_ERROR = 2


class TraceLine(Value, frozen=True, kw_only=True):
    """One trace. Times are seconds; ``root`` is the service and name of the span without a parent."""

    trace_id: str
    start: float
    root: str
    seconds: float
    spans: int
    errors: int


def traces(
    world: Annotated[str, typer.Argument(help="Trial or namespace; required if there are several.")] = "",
    name: Lab = "default",
    service: Annotated[str, typer.Option("--service", help="Only traces with a span of this service.")] = "",
    errors: Annotated[bool, typer.Option("--errors", help="Only traces with an error.")] = False,
    since: Annotated[int, typer.Option("--since", min=1, help="Seconds to look back on the trial's clock.")] = 300,
    otlp: Annotated[
        str, typer.Option("--otlp", help="Write the traces to this file as OTLP, one JSON object per line.")
    ] = "",
    format: Format = "text",
) -> None:
    """Show traces of an app's requests, newest first: mainly failed and slow ones, and a sample of the others.

    Example: scenario-kit lab traces --errors --service checkout
    """
    from scenario_kit.lab import lifecycle
    from scenario_kit.lab.host.state import LabState

    state = LabState.load(name)
    state.require_alive("reading traces")
    namespace = choose_namespace(lifecycle.list_worlds(state), world)
    text = _ask(state, namespace, {"since": str(since), "service": service, "errors": "true" if errors else ""})
    if otlp:
        try:
            Path(otlp).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"cannot write {otlp}: {error.strerror}", fix="pass --otlp FILE in a writable folder"
            ) from error
    found = parse_rows(text.splitlines())
    jaeger_url = build_jaeger_url(state, namespace)
    if format == "json":
        rows = [row.to_json() for row in found]
        show_json({"namespace": namespace, "jaegerUrl": jaeger_url, "traces": rows})
        return
    if found:
        _show(found)
    else:
        typer.echo(f"no traces in {namespace} in the last {since} s")
    if otlp:
        typer.echo(f"{len(found)} written to {otlp}")
    typer.echo(f"Jaeger's API at {jaeger_url}")


def _show(found: Sequence[TraceLine]) -> None:
    shown = (
        (_format_time(r.start), r.trace_id, r.root, _format_milliseconds(r.seconds), str(r.spans), str(r.errors))
        for r in found[:_SHOWN]
    )
    show_table(("TIME (UTC)", "TRACE", "ROOT", "DURATION", "SPANS", "ERRORS"), list(shown))
    if len(found) > _SHOWN:
        typer.echo(f"… and {len(found) - _SHOWN} older ones")


def choose_namespace(worlds: Sequence[Mapping[str, Any]], desired: str) -> str:
    """Choose the namespace of a world by its trial or namespace; raises ``UsageError`` if that is ambiguous."""
    fitting = [w for w in worlds if desired in ("", w["trial"], w["namespace"])]
    if len(fitting) == 1:
        return str(fitting[0]["namespace"])
    if not worlds:
        raise UsageError("no trial is running, so there are no requests", fix="apply a scenario, or run try or verify")
    names = ", ".join(sorted(str(w["namespace"]) for w in worlds))
    if not fitting:
        raise UsageError(f"no trial or namespace {desired!r}", fix=f"one of: {names}")
    raise UsageError(f"{len(fitting)} trials are running", fix=f"choose one of: {names}")


def build_jaeger_url(state: LabState, namespace: str) -> str:
    """Build the URL of a world's Jaeger API, without the ``/api`` that clients append."""
    from scenario_kit.lab.tracing.access import build_traces_path

    return f"{state.server_url}{build_traces_path(state.server_token, namespace)}/jaeger"


def parse_rows(lines: Iterable[str]) -> list[TraceLine]:
    """Parse traces from OTLP lines, newest first."""
    import msgspec

    return sorted((_parse_row(msgspec.json.decode(line)) for line in lines if line), key=lambda row: -row.start)


def _parse_row(request: Mapping[str, Any]) -> TraceLine:
    spans: list[tuple[str, dict[str, Any]]] = []
    for group in request["resourceSpans"]:
        service = next(a["value"]["stringValue"] for a in group["resource"]["attributes"] if a["key"] == "service.name")
        spans += [(service, span) for scope in group["scopeSpans"] for span in scope["spans"]]
    spans.sort(key=lambda pair: int(pair[1]["startTimeUnixNano"]))
    service, root = next((pair for pair in spans if not pair[1]["parentSpanId"]), spans[0])
    start = int(spans[0][1]["startTimeUnixNano"])
    end = max(int(span["endTimeUnixNano"]) for _, span in spans)
    failed = sum(span["status"].get("code") == _ERROR for _, span in spans)
    return TraceLine(
        trace_id=root["traceId"], start=start / 1e9, root=f"{service} {root['name']}", seconds=(end - start) / 1e9,
        spans=len(spans), errors=failed,
    )  # fmt: skip


def _ask(state: LabState, namespace: str, query: Mapping[str, str]) -> str:
    import httpx

    from scenario_kit.lab.host import loopback
    from scenario_kit.lab.tracing.access import build_traces_path

    url = f"{state.server_url}{build_traces_path(state.server_token, namespace)}/otlp"
    try:
        with loopback.create_client(timeout=_SECONDS) as client:
            response = client.get(url, params=dict(query))
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise LabError(f"cannot read traces from the lab server: {error}", fix="scenario-kit lab status") from error
    return response.text


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _format_milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1.0 else f"{seconds:.2f} s"

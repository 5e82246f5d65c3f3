"""``lab alerts``: pending and firing alerts, on the virtual clock of each trial or on the wall clock."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from scenario_kit.cli.terminal.options import Format, Lab
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.cli.terminal.terminal import can_redraw
from scenario_kit.errors import InfrastructureError, UsageError
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

if TYPE_CHECKING:
    from rich.console import RenderableType

    from scenario_kit.model import Object

_EVERY: Final = 2.0
_HEADERS: Final = ("NAMESPACE", "ALERT", "STATE", "ON", "FOR", "SINCE", "CLOCK")
_STYLE: Final = {"Firing": "bold red", "Pending": "yellow"}


class AlertLine(NamedTuple):
    """One alert. Times are seconds: ``since`` on its clock, ``lasting`` until now; ``after`` from the injection on."""

    namespace: str
    name: str
    state: str
    entity: str
    since: float
    lasting: float
    clock: str
    trial: str = ""
    after: float | None = None

    def cells(self) -> tuple[str, ...]:
        """Return the cells of a table."""
        at = datetime.fromtimestamp(self.since, UTC).strftime("%H:%M:%S")
        after = "" if self.after is None else f" ({'−' if self.after < 0 else '+'}{format_minutes(abs(self.after))})"
        return (
            self.namespace,
            self.name,
            self.state,
            self.entity,
            format_minutes(self.lasting),
            f"{at}{after}",
            self.clock,
        )


def alerts(
    name: Lab = "default",
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep watching until Ctrl-C.")] = False,
    format: Format = "text",
) -> None:
    """Show pending and firing alerts, on each trial's own clock or on the wall clock.

    In brackets: minutes since the first injection. Without a terminal, --watch prints a line per change.

    Example: scenario-kit lab alerts --watch
    """
    if watch and format == "json":
        raise UsageError("--watch shows text only", fix="leave out one of --watch and --format json")
    look_up = _Poller(name)
    if watch:
        _watch(look_up)
        return
    worlds, found = look_up.now()
    if format == "json":
        show_json([_document(row) for row in found])
        return
    for world in worlds:
        typer.echo(format_heading(world))
    if not found:
        typer.echo("no alert is pending or firing")
        return
    show_table(_HEADERS, [row.cells() for row in found])


class _Poller:
    """Polls a lab, and keeps earlier evaluations."""

    def __init__(self, lab: str) -> None:
        from scenario_kit.lab.host.state import LabState
        from scenario_kit.lab.page.data import PageSource
        from scenario_kit.lab.telemetry.prometheus_access import connect_metrics

        state = LabState.load(lab)
        state.require_alive("reading alerts")
        self._source = PageSource.of_lab(lab)
        self._metrics = connect_metrics(state)

    def now(self) -> tuple[list[Object], list[AlertLine]]:
        """Return the worlds, and their pending and firing alerts, firing first."""
        worlds = self._source.alerts()
        return worlds, build_rows(worlds, self._metrics.alerts(), time.time())


def build_rows(worlds: Iterable[Object], wall: Iterable[Object], now: float) -> list[AlertLine]:
    """Build the table rows. ``wall`` are Prometheus' own alerts; those of worlds are replaced by the worlds'."""
    found, own = [], set()
    for world in worlds:
        own.update(world["namespaces"])
        injected = world["injectedAt"]
        found += [
            AlertLine(
                namespace=world["namespace"],
                name=alert["name"],
                state=alert["state"],
                entity=alert.get("entity", ""),
                since=alert["since"],
                lasting=max(world["now"] - alert["since"], 0.0),
                clock=world["mode"].lower(),
                trial=world["trial"],
                after=None if injected is None else alert["since"] - injected,
            )
            for alert in world["alerts"]
        ]
    for alert in wall:
        labels = dict(alert["labels"])
        name, namespace = labels.pop("alertname"), labels.pop("namespace", "")
        if namespace in own:
            continue
        labels.pop("severity", None)
        since = parse_timestamp(alert["activeAt"])
        entity = " ".join(f"{key}={value}" for key, value in sorted(labels.items()))
        state = str(alert["state"]).capitalize()
        found.append(AlertLine(namespace, name, state, entity, since, max(now - since, 0.0), "wall"))
    return sorted(found, key=lambda row: (row.state, row.namespace, row.name, row.entity))


def format_heading(world: Object) -> str:
    """Format a world as a line: trial, namespace, time."""
    at = datetime.fromtimestamp(world["now"], UTC).strftime("%H:%M:%S")
    clock = "virtual time" if world["mode"] == "Virtual" else "wall clock"
    whose = f"{world['trial']} in {world['namespace']}" if world["trial"] else world["namespace"]
    since = (
        ""
        if world["injectedAt"] is None
        else f", {format_minutes(world['now'] - world['injectedAt'])} after the injection"
    )
    return f"{whose}: {at} UTC {clock}, running for {format_minutes(world['now'] - world['startedAt'])}{since}"


def list_changes(before: Sequence[AlertLine], after: Sequence[AlertLine]) -> list[str]:
    """List the changes of alerts between two polls, one line each."""
    old, new = ({(r.namespace, r.trial, r.name, r.entity): r for r in found} for found in (before, after))
    lines = [
        f"{row.namespace}: {row.name} {row.entity} {row.state.lower()} since {row.cells()[5]} {row.clock}".replace(
            "  ", " "
        )
        for key, row in new.items()
        if key not in old or old[key].state != row.state
    ]
    return lines + [
        f"{r.namespace}: {r.name} {r.entity} over".replace("  ", " ") for k, r in old.items() if k not in new
    ]


def format_minutes(seconds: float) -> str:
    """Format a duration in minutes and seconds."""
    whole = round(max(seconds, 0.0))
    return f"{whole // 60}:{whole % 60:02d}"


def _watch(look_up: _Poller) -> None:
    try:
        if can_redraw(sys.stdout):
            _show_live(look_up)
        else:
            _print_lines(look_up)
    except KeyboardInterrupt:
        typer.echo("", err=True)


def _show_live(look_up: _Poller) -> None:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), refresh_per_second=4, screen=False) as live:
        while True:
            live.update(_build_table(look_up))
            time.sleep(_EVERY)


def _print_lines(look_up: _Poller) -> None:
    before: Sequence[AlertLine] = ()
    while True:
        after = look_up.now()[1]
        for line in list_changes(before, after):
            typer.echo(line)
        before = after
        time.sleep(_EVERY)


def _build_table(look_up: _Poller) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    clock = Text(f"{datetime.now(UTC):%H:%M:%S} UTC by the wall clock", style="italic")
    try:
        worlds, found = look_up.now()
    except InfrastructureError as error:  # a component may be restarting: report it, and continue
        return Group(clock, Text(error.message, style="yellow"), Text(error.fix, style="dim"))
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    for header in _HEADERS:
        table.add_column(header, justify="right" if header == "FOR" else "left", no_wrap=True, overflow="ellipsis")
    for row in found:
        table.add_row(
            *(Text(cell, style=_STYLE.get(row.state, "") if i == 2 else "") for i, cell in enumerate(row.cells()))
        )
    headings = [Text(format_heading(world), style="dim", no_wrap=True, overflow="ellipsis") for world in worlds]
    return Group(clock, *headings, table if found else Text("no alert is pending or firing", style="green"))


def _document(row: AlertLine) -> dict[str, Any]:
    return {
        "namespace": row.namespace,
        "trial": row.trial,
        "alert": row.name,
        "state": row.state,
        "entity": row.entity,
        "since": row.since,
        "lastingSeconds": row.lasting,
        "afterInjectionSeconds": row.after,
        "clock": row.clock,
    }

"""``lab``: the embedded cluster on this machine."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenario_kit.cli.lab.alerts import alerts
from scenario_kit.cli.lab.top import top
from scenario_kit.cli.lab.traces import traces
from scenario_kit.cli.terminal.groups import add_group
from scenario_kit.cli.terminal.options import Format, Lab, Role
from scenario_kit.cli.terminal.output import print_progress, show_json, show_table
from scenario_kit.errors import LabError, UsageError
from scenario_kit.model.kubernetes.quantity import MEBIBYTE

if TYPE_CHECKING:
    from scenario_kit.lab.host.state import LabState
    from scenario_kit.lab.lifecycle import PartReport

#: More nodes would need another network of node addresses and a second EndpointSlice of chaos daemons.
_MAX_NODES: Final = 100
Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes", min=3, max=_MAX_NODES, help="Number of nodes of a new lab, each for up to 110 pods; 3 by default."
    ),
]
Pack = Annotated[
    list[str], typer.Option("--alert-pack", help="Alert pack for Prometheus in a new lab; may be repeated.")
]


def register(app: typer.Typer, panel: str) -> None:
    """Add the commands to a panel of the help."""
    about = "The embedded lab: a real control plane and Chaos Mesh manager, with simulated nodes and traffic."
    commands = (install, up, down, reset, status, kubeconfig, alerts, advance, open_, top, traces)
    add_group(app, panel, "lab", about, commands)


def install(format: Format = "text") -> None:
    """Install the lab's binaries and promtool: official releases, or built from source (once, ~7 min on two cores).

    An interrupted installation is resumed by the next call.

    Example: scenario-kit lab install
    """
    from scenario_kit.lab import toolchain

    paths = toolchain.install()
    paths["promtool"] = toolchain.install_optional("promtool")  # only needed for tests of alert packs
    if format == "json":
        show_json({name: str(path) for name, path in paths.items()})
        return
    for name, path in paths.items():
        typer.echo(f"{name:26} {path}")


def up(
    name: Lab = "default",
    pack: Pack = ["default"],  # noqa: B006 - typer copies
    node_count: Nodes = None,
    format: Format = "text",
) -> None:
    """Start the lab and its operator, or any stopped parts, and print the shell commands that configure kubectl.

    Example: eval "$(scenario-kit lab up)"
    """
    from scenario_kit.lab import lifecycle

    began = time.monotonic()
    state = lifecycle.bring_up(name, packs=pack, node_count=node_count, say=print_progress)
    typer.echo(f"lab {name!r} is up ({time.monotonic() - began:.1f} s)", err=True)
    if format == "json":
        show_json(_list_addresses(state))
    else:
        for line in _format_exports(state):
            typer.echo(line)


def _format_exports(state: LabState) -> Iterator[str]:
    """Format shell commands that configure kubectl for the lab, with the toolchain's kubectl if PATH has none."""
    from scenario_kit.lab import toolchain

    yield f"export KUBECONFIG={shlex.quote(state.kubeconfig)}"
    if not shutil.which("kubectl"):
        yield f'export PATH="$PATH":{shlex.quote(str(toolchain.resolve("kubectl").parent))}'


def down(name: Lab = "default") -> None:
    """Stop every process of the lab and remove its files.

    Example: scenario-kit lab down --name second
    """
    from scenario_kit.lab import lifecycle

    existed = lifecycle.take_down(name)
    typer.echo(f"lab {name!r} is down" if existed else f"there is no lab {name!r}; nothing to do", err=True)


def reset(
    name: Lab = "default",
    force: Annotated[
        bool, typer.Option("--force", help="Reset even during a running campaign, whose trials are lost.")
    ] = False,
) -> None:
    """Empty the lab: remove all scenarios, trials, apps and samples, and restore the state after `lab up`.

    The control plane keeps running, so this takes seconds. Nothing is undone first; everything in the lab is lost.

    Example: scenario-kit lab reset
    """
    from scenario_kit.lab import lifecycle

    began = time.monotonic()
    lifecycle.reset(name, force=force, say=print_progress)
    typer.echo(f"lab {name!r} is empty ({time.monotonic() - began:.1f} s)", err=True)


def status(name: Lab = "default", format: Format = "text") -> None:
    """Show the health of each part of the lab, and the lab's capabilities. Exits with 2 if a part is unhealthy.

    Example: scenario-kit lab status --format json
    """
    from scenario_kit.lab import lifecycle
    from scenario_kit.lab.host.state import LabState

    state = LabState.load(name)
    reports = lifecycle.report_status(state)
    if format == "json":
        parts = [_report(r) for r in reports]
        offered = {name: not because for name, because in _list_offers().items()}
        show_json(_list_addresses(state) | {"complete": state.complete, "parts": parts, "capabilities": offered})
    else:
        _show_status(state, reports)
    if not state.complete or any(r.health for r in reports):
        raise typer.Exit(LabError.exit_code)


def kubeconfig(name: Lab = "default", as_: Role = "admin") -> None:
    """Print the path of the administrator's or the solver's kubeconfig.

    Example: export KUBECONFIG=$(scenario-kit lab kubeconfig --as solver)
    """
    from scenario_kit.lab.host.state import LabState

    state = LabState.load(name)
    paths = {"admin": state.kubeconfig, "solver": state.solver_kubeconfig}
    typer.echo(paths[as_])


def advance(
    seconds: Annotated[int, typer.Argument(min=1, help="Seconds of virtual time.")],
    world: Annotated[
        str, typer.Option("--trial", help="The trial whose clock advances; required if there are several.")
    ] = "",
    name: Lab = "default",
    format: Format = "text",
) -> None:
    """Advance the virtual clock of a trial. Trials on the wall clock advance by themselves.

    Example: scenario-kit lab advance 300
    """
    from scenario_kit.lab import lifecycle
    from scenario_kit.lab.clock import WorldClock
    from scenario_kit.lab.host.state import LabState

    state = LabState.load(name)
    state.require_alive("advancing its time")
    chosen = choose_world(lifecycle.list_worlds(state), world)
    clock = WorldClock(state.server_url, state.server_token, chosen)
    try:
        now = clock.now()
        until = now + seconds
        while now < until:
            now = clock.wait(until)
            state.require_alive("advancing its time")
    finally:
        clock.close()
    if format == "json":
        show_json({"trial": chosen, "now": now})
    else:
        typer.echo(f"{chosen}: {_format_utc(now)}")


def open_(
    name: Lab = "default",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port on this machine; 0 picks a free one.")
    ] = 0,
    as_: Role = "admin",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser, if there is a desktop.")] = True,
) -> None:
    """Serve a page with the lab's apps: components coloured by health, alerts, events and logs. Stop it with Ctrl-C.

    The server listens on loopback only and requires the token that the printed address contains.

    Example: scenario-kit lab open --as solver
    """
    from scenario_kit.cli.lab.page import serve_page

    serve_page(name, port, spoilers=as_ == "admin", browser=browser)


def choose_world(worlds: list[dict[str, Any]], desired: str) -> str:
    """Choose the trial whose virtual clock advances; raises ``UsageError`` if that is ambiguous."""
    virtual = sorted(str(w["trial"]) for w in worlds if w["mode"] == "Virtual")
    if desired:
        if desired in virtual:
            return desired
        kind = "runs on the wall clock" if desired in {w["trial"] for w in worlds} else "does not exist"
        raise UsageError(f"trial {desired!r} {kind}", fix=f"one of: {', '.join(virtual) or '(there is none)'}")
    if len(virtual) != 1:
        raise UsageError(
            f"{len(virtual)} trials run in virtual time" if virtual else "no trial runs in virtual time now",
            fix=f"choose one with --trial: {', '.join(virtual)}"
            if virtual
            else "apply a scenario with the annotation scenariokit.io/clock: Virtual, or run try or verify",
        )
    return virtual[0]


def _list_addresses(state: LabState) -> dict[str, Any]:
    return {
        "name": state.name,
        "kubeconfig": state.kubeconfig,
        "solverKubeconfig": state.solver_kubeconfig,
        "prometheusUrl": state.prometheus_url,
        "prometheusTls": _list_prometheus_files(state),
        "epoch": state.epoch,
    }


def _list_prometheus_files(state: LabState) -> dict[str, str]:
    """List the certificates that a client of Prometheus needs."""
    from scenario_kit.lab.telemetry.prometheus_access import find_lab_prometheus_tls

    tls = find_lab_prometheus_tls(state)
    if tls is None:
        return {}
    return {"ca": str(tls.authority), "certificate": str(tls.client_certificate), "key": str(tls.client_key)}


def _report(report: PartReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "pid": report.pid,
        "started": report.started,
        "alive": report.alive,
        "memoryBytes": report.memory_bytes,
        "port": report.port,
        "works": not report.health,
        "problem": report.health,
        "log": report.log,
        "tail": report.tail,
    }


def _show_status(state: LabState, reports: list[PartReport]) -> None:
    rows = [
        (
            r.name,
            str(r.pid or ""),
            r.health or ("works" if r.started else "not started: no command needed it yet"),
            f"{r.memory_bytes // MEBIBYTE}",
            str(r.port or ""),
        )
        for r in reports
    ]
    show_table(("PART", "PID", "STATE", "MIB", "PORT"), rows)
    total = sum(r.memory_bytes for r in reports) // MEBIBYTE
    typer.echo(
        f"\n{total} MiB in all · Prometheus at {state.prometheus_url} · virtual time from {_format_utc(state.epoch)}"
    )
    _show_offers()
    if not state.complete:
        typer.echo("the lab is still starting, or its start was interrupted; fix: scenario-kit lab up")
    for report in reports:
        if report.tail:
            typer.echo(f"\n{report.name} is dead; the end of {report.log}:\n{report.tail}")


def _list_offers() -> dict[str, str]:
    """Map capabilities to an empty text, or to the reason why the lab lacks it."""
    from scenario_kit.catalog import Catalog
    from scenario_kit.catalog.capabilities import list_capabilities
    from scenario_kit.lab.capabilities import describe_offers

    return describe_offers(list_capabilities(Catalog()))


def _show_offers() -> None:
    offers = _list_offers()
    typer.echo(f"\noffers {', '.join(name for name, because in offers.items() if not because)}")
    typer.echo("lacks")
    for name, because in offers.items():
        if because:
            typer.echo(f"  {name:20} {because}")


def _format_utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")

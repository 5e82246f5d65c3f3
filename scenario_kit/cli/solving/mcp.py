"""``mcp``: one run whose solver is an MCP client."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import typer

from scenario_kit.errors import ScenarioKitError, UsageError
from scenario_kit.load import find_scenario_files, load_scenario
from scenario_kit.solver.programs.mcp_bridge import CallBridge
from scenario_kit.solver.programs.mcp_server import require_sdk, serve_http, serve_stdio


def serve_run(path: Path, transport: str, port: int, solve: Callable[[Path, CallBridge], None]) -> None:
    """Serve one run; the server is available at once, but tool calls wait for the hand-over.

    ``solve`` runs the incident of the file, with the bridge as its solver.

    Raises:
        UsageError: the SDK is missing, the path is not exactly one scenario, or the port is in use.
    """
    require_sdk()
    files = find_scenario_files([path])
    if len(files) != 1:
        raise UsageError(f"{path} contains {len(files)} scenarios", fix="choose one: an MCP client solves one incident")
    brief = load_scenario(files[0]).scenario.spec.brief.strip()
    bridge = CallBridge()
    if transport == "http":
        typer.echo(serve_http(bridge, brief, port, secrets.token_urlsafe(24)))
    else:
        serve_stdio(bridge, brief)
    try:
        solve(files[0], bridge)
    except ScenarioKitError as error:
        bridge.fail(error.message)
        raise

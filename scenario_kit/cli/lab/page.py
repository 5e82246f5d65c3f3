"""``lab open``: serves the page of a lab until interrupted."""

from __future__ import annotations

import os
import secrets
import sys
import webbrowser

import typer

from scenario_kit.errors import UsageError
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.page.data import PageSource
from scenario_kit.lab.page.server import PageSite, serve


def serve_page(name: str, port: int, *, spoilers: bool, browser: bool) -> None:
    """Serve the page of a lab until Ctrl-C, and print its address.

    Raises:
        LabError: the lab is not running.
        UsageError: the port is not available.
    """
    LabState.load(name).require_alive("opening its page")
    token = secrets.token_urlsafe(24)
    site = PageSite(PageSource.of_lab(name, spoilers=spoilers), token, name)
    try:
        server = serve(site, port)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} is unavailable: {error}", fix="choose another --port, or omit it to use a free one"
        ) from error
    address = f"http://127.0.0.1:{server.server_address[1]}/#token={token}"
    typer.echo(address)
    typer.echo("serving until Ctrl-C", err=True)
    if browser and sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(address)
    try:
        server.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        typer.echo("", err=True)
    finally:
        server.server_close()

"""Commands of the operation ``run``, compared with what the app's definition lists."""

from __future__ import annotations

from collections.abc import Iterable

from scenario_kit.model import App, Change, Client
from scenario_kit.model.authored.change import Run
from scenario_kit.render.templating.authoring_error import build_error, did_you_mean


def find_client(app: App, run: Run, where: str = "run") -> Client:
    """Find the client that a change names.

    Raises:
        AuthoringError: the app has none by this name.
    """
    client = app.client(run.client)
    if client is None:
        known = [c.name for c in app.clients]
        raise build_error(
            "SK120",
            f"{where}: {app.name} {app.version} has no client '{run.client}'",
            expected=" | ".join(known) or "an app with clients",
            fix=did_you_mean(run.client, known),
        )
    return client


def check(app: App, changes: Iterable[Change], requires: Iterable[str], where: str) -> None:
    """Check that every command is one that a simulated store understands, unless a real data plane is asked for.

    Raises:
        AuthoringError: a client or a command that the app does not list.
    """
    simulated = app.twin is not None and "real-data-plane" not in requires
    for change in changes:
        if change.run is None:
            continue
        client = find_client(app, change.run, where)
        if simulated and client.matched(change.run.command) is None:
            raise build_error(
                "SK121",
                f"{where}: the app's definition does not list this command of client '{client.name}'",
                observed=" ".join(change.run.command),
                expected=" | ".join(" ".join(c.command) for c in client.commands),
                why="a simulated store would not know what to do",
                fix="add `real-data-plane` to `requires`, or the command and what it does to the app's definition",
            )

"""Groups of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer


def add_group(app: typer.Typer, panel: str, name: str, about: str, commands: Iterable[Callable[..., Any]]) -> None:
    """Add a group of commands to a panel of the help; each is named like its function, without a final underscore."""
    group = typer.Typer(help=about, no_args_is_help=True)
    for command in commands:
        group.command(command.__name__.rstrip("_"))(command)
    app.add_typer(group, name=name, rich_help_panel=panel)

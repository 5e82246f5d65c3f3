"""Options that several commands have, so that they are spelled, checked and explained alike."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scenario_kit.errors import UsageError


def declare_choice(flag: str, *values: str, help: str) -> Any:
    """Return an option that takes one of a few values: listed in the help, and checked before the command does
    anything.
    """

    def check(value: str) -> str:
        if value not in values:
            raise UsageError(f"{flag} has no value '{value}'", fix=f"{flag} takes one of: {', '.join(values)}")
        return value

    return typer.Option(flag, help=help, metavar=f"<{'|'.join(values)}>", callback=check)


Lab = Annotated[str, typer.Option("--name", help="Name of the lab; several can run side by side.")]
Format = Annotated[str, declare_choice("--format", "text", "json", help="Output for people, or for programs.")]
Role = Annotated[
    str,
    declare_choice(
        "--as", "admin", "solver", help="admin sees everything; solver only what an investigation may see and change."
    ),
]

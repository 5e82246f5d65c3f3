"""Options shared by several commands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scenario_kit.errors import UsageError


def declare_choice(flag: str, *values: str, help: str) -> Any:
    """Return an option with a fixed set of values, listed in the help and validated before the command runs."""

    def check(value: str) -> str:
        if value not in values:
            raise UsageError(f"invalid value '{value}' for {flag}", fix=f"one of: {', '.join(values)}")
        return value

    return typer.Option(flag, help=help, metavar=f"<{'|'.join(values)}>", callback=check)


Lab = Annotated[str, typer.Option("--name", help="Name of the lab; several can run in parallel.")]
Format = Annotated[str, declare_choice("--format", "text", "json", help="Output for people or programs.")]
Role = Annotated[
    str,
    declare_choice(
        "--as",
        "admin",
        "solver",
        help="admin can read everything; solver only what an investigation may read and change.",
    ),
]

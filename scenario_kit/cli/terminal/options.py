"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scenario_kit.errors import UsageError


def declare_choice(flag: str, values: str, *, help: str) -> Any:
    """Return an option with a fixed set of values, listed in the help and validated before the command runs.

    Args:
        flag: the option.
        values: its values, as the help lists them: ``text|json``.
        help: what it is for.
    """
    known = values.split("|")

    def check(value: str) -> str:
        if value not in known:
            raise UsageError(f"invalid value '{value}' for {flag}", fix=f"one of: {', '.join(known)}")
        return value

    return typer.Option(flag, help=help, metavar=f"<{values}>", callback=check)


ScenarioPath = Annotated[Path, typer.Argument(help="A scenario file, or its folder.")]
Lab = Annotated[str, typer.Option("--name", help="Name of the lab; several can run in parallel.")]
Format = Annotated[str, declare_choice("--format", "text|json", help="Output for people or programs.")]
Role = Annotated[
    str,
    declare_choice(
        "--as", "admin|solver", help="admin can read everything; solver only what an investigation may read and change."
    ),
]

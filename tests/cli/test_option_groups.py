"""Groups of options become options of a command."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer
from typer.testing import CliRunner

from scenario_kit.cli.terminal.option_groups import expand_groups


class Limits(NamedTuple):
    turns: Annotated[int, typer.Option(min=1, help="Most turns.")] = 100
    tokens: Annotated[int | None, typer.Option("--tokens", help="Most tokens.")] = None


def invoke(*arguments: str) -> tuple[int, list[object]]:
    app, seen = typer.Typer(), []

    @app.command()
    @expand_groups
    def play(limits: Limits, path: Annotated[str, typer.Argument()], fast: bool = False) -> None:
        seen.extend([limits, path, fast])

    return CliRunner().invoke(app, arguments).exit_code, seen


def test_fields_have_the_defaults_of_the_group() -> None:
    assert invoke("a") == (0, [Limits(100, None), "a", False])


def test_fields_are_options() -> None:
    assert invoke("a", "--turns", "3", "--tokens", "9", "--fast") == (0, [Limits(3, 9), "a", True])


def test_limits_of_fields_are_checked() -> None:
    assert invoke("a", "--turns", "0") == (2, [])

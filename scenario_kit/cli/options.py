"""Options that several commands have, so that they are spelled and explained alike."""

from __future__ import annotations

from typing import Annotated

import typer

Lab = Annotated[str, typer.Option("--name", help="Name of the lab; several run side by side.")]
Format = Annotated[str, typer.Option("--format", help="text, or json for programs.")]

"""``report``: renderings of a validation's evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scenario_kit.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(rich_help_panel="Prove it")
    def report(
        run: Annotated[Path, typer.Argument(help="A run's folder, its report.json, or a folder of runs (the newest).")],
        format: Annotated[str, typer.Option("--format", help="md, html, json or junit.")] = "md",
    ) -> None:
        """Render the evidence of a validation.

        Example: scenario-kit report runs/product-catalog-wrong-target-port --format md
        """
        from scenario_kit.report import html, junit, markdown, read

        if not run.exists():
            raise UsageError(f"there is no {run}", fix="name a folder that `scenario-kit verify` printed")
        document = read(run)
        match format:
            case "md":
                typer.echo(markdown.render(document))
            case "html":
                typer.echo(html.render(document))
            case "junit":
                typer.echo(junit.render(document))
            case "json":
                from scenario_kit.cli.output import show_json

                show_json(document.to_json())
            case _:
                raise UsageError(f"there is no format '{format}'", fix="one of: md, html, json, junit")

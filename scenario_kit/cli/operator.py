"""``operator``: run it here, or print what to apply in a cluster."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    operator = typer.Typer(help="The operator that makes scenarios happen.", no_args_is_help=True)
    app.add_typer(operator, name="operator", rich_help_panel="Run it")

    @operator.command()
    def run(
        name: Annotated[str, typer.Option("--name", help="Name of the lab.")] = "default",
        clock: Annotated[str, typer.Option(help="Time of live scenarios: Wall or Virtual.")] = "Wall",
    ) -> int:
        """Run the operator in the foreground against a lab.

        Example: scenario-kit operator run
        """
        return subprocess.run(
            [sys.executable, "-m", "operators.scenario", "--lab", name, "--clock", clock], check=False
        ).returncode

    @operator.command()
    def manifests() -> None:
        """Print CRDs, RBAC and Deployment of the operator for a cluster.

        Example: scenario-kit operator manifests | kubectl apply -f -
        """
        folder = resources.files("operators") / "manifests"
        documents = [f.read_text() for f in sorted(folder.iterdir(), key=lambda f: f.name) if f.name.endswith(".yaml")]
        typer.echo("---\n".join(documents))

"""``operator``: run it here, or print what to apply in a cluster."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources
from typing import Annotated

import typer

from scenario_kit.cli.terminal.options import Lab, declare_choice


def register(app: typer.Typer) -> None:
    """Add the commands."""
    operator = typer.Typer(help="The operator that makes scenarios happen.", no_args_is_help=True)
    app.add_typer(operator, name="operator", rich_help_panel="Run it")

    @operator.command()
    def run(
        name: Lab = "default",
        clock: Annotated[
            str, declare_choice("--clock", "Wall", "Virtual", help="Clock of live scenarios in a lab.")
        ] = "Wall",
        context: Annotated[
            str, typer.Option(help="A kubeconfig context instead of a lab; it must be the current one.")
        ] = "",
        allow_context: Annotated[str, typer.Option(help="Allow this context although it is not a kind cluster.")] = "",
        prometheus_url: Annotated[str, typer.Option(help="Address of that cluster's Prometheus.")] = "",
    ) -> int:
        """Run the operator in the foreground, against a lab or a named cluster.

        Example: scenario-kit operator run --context kind-demo --prometheus-url http://127.0.0.1:9090
        """
        where = ["--lab", name, "--clock", clock]
        if context:
            where = ["--context", context, "--allow-context", allow_context, "--prometheus-url", prometheus_url]
        return subprocess.run([sys.executable, "-m", "operators.scenario", *where], check=False).returncode

    @operator.command()
    def manifests() -> None:
        """Print what to apply to run the operator in a cluster: CRDs, RBAC, Deployment.

        Example: scenario-kit operator manifests | kubectl apply -f -
        """
        folder = resources.files("operators") / "manifests"
        documents = [f.read_text() for f in sorted(folder.iterdir(), key=lambda f: f.name) if f.name.endswith(".yaml")]
        typer.echo("---\n".join(documents))

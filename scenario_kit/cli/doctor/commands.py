"""``doctor``: check this machine or a cluster, and print fixes."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from scenario_kit.cli.doctor.check import DoctorCheck
from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.errors import LabError, UsageError


def doctor(
    context: Annotated[
        str, typer.Option(help="Check the cluster of this kubeconfig context instead of this machine.")
    ] = "",
    prometheus_url: Annotated[str, typer.Option(help="The Prometheus of that cluster.")] = "",
    format: Format = "text",
) -> None:
    """Check what is missing on this machine or in a cluster, and print how to fix it. Changes nothing.

    Example: scenario-kit doctor --context kind-demo --prometheus-url http://127.0.0.1:9090
    """
    if prometheus_url and not context:
        raise UsageError("--prometheus-url requires --context", fix="add --context NAME")
    if context:
        from scenario_kit.cli.doctor.cluster import examine_cluster

        checks = examine_cluster(context, prometheus_url, time.time())
    else:
        from scenario_kit.cli.doctor.machine import examine

        checks = examine()
    if format == "json":
        show_json([check._asdict() for check in checks])
    else:
        _show(checks, "scenario-kit lab up" if not context else "kubectl apply -f scenario.yaml")
    if not all(check.fine for check in checks):
        raise typer.Exit(LabError.exit_code)


def _show(checks: list[DoctorCheck], then: str) -> None:
    rows = [("ok" if check.fine else "MISSING", check.name, check.observed.splitlines()[0]) for check in checks]
    show_table(("", "WHAT", "FOUND"), rows)
    fixes = dict.fromkeys(check.fix for check in checks if check.fix)
    if not fixes:
        typer.echo(f"\nnothing is missing: {then}")
        return
    typer.echo("\nfix:")
    for fix in fixes:
        typer.echo(f"  {fix}")

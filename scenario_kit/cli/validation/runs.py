"""``runs``: list past runs and compare two."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import show_json, show_table

if TYPE_CHECKING:
    from scenario_kit.model import Object
    from scenario_kit.report.history import PastRun

Folder = Annotated[Path, typer.Option("--runs", help="Folder of the reports.")]


def register(app: typer.Typer, panel: str) -> None:
    """Add the commands to a panel of the help."""
    group = typer.Typer(invoke_without_command=True)
    app.add_typer(group, name="runs", rich_help_panel=panel)

    @group.callback()
    def runs(
        context: typer.Context,
        scenario: Annotated[str, typer.Option(help="Only runs of this scenario.")] = "",
        folder: Folder = Path("runs"),
        format: Format = "text",
    ) -> None:
        """List past runs, newest first; `runs diff A B` compares two.

        Example: scenario-kit runs --scenario product-catalog-wrong-target-port
        """
        if context.invoked_subcommand is None:
            _list(folder, scenario, format)

    @group.command()
    def diff(
        before: Annotated[str, typer.Argument(help="A run's folder, or a scenario (its newest run).")],
        after: Annotated[str, typer.Argument(help="The run to compare with.")],
        folder: Folder = Path("runs"),
        format: Format = "text",
    ) -> int:
        """Compare two runs: verdict, findings, alerts.

        Exit codes: 0 no differences, 1 differences, 3 no such run.

        Example: scenario-kit runs diff runs/cart-down/20261001T101010000000Z cart-down
        """
        from scenario_kit.report.history import compare, find_report

        rows = compare(find_report(before, folder), find_report(after, folder))
        if format == "json":
            show_json([{"what": what, "before": old, "after": new} for what, old, new in rows])
        elif rows:
            show_table(("what", "before", "after"), rows)
        else:
            typer.echo("no differences: verdict, findings and alerts are the same")
        return 1 if rows else 0


def _list(folder: Path, scenario: str, format: str) -> None:
    from scenario_kit.report.history import list_past_runs

    found = list_past_runs(folder, scenario)
    if format == "json":
        show_json([_serialize_run(run) for run in found])
        return
    if not found:
        typer.echo(f"no runs in {folder}")
        return
    rows = [
        (
            run.folder.parent.name,
            r.created[:16].replace("T", " ") if (r := run.report) else "",
            r.validation.plan if r else "",
            str(r.validation.verdict) if r else "other version",
            str(run.folder),
        )
        for run in found
    ]
    show_table(("scenario", "when (UTC)", "plan", "verdict", "run"), rows)


def _serialize_run(run: PastRun) -> Object:
    known = {"run": str(run.folder), "scenario": run.folder.parent.name}
    if run.report is None:
        return known
    validation = run.report.validation
    return {**known, "created": run.report.created, "plan": validation.plan, "verdict": str(validation.verdict)}

"""``export``: incidents in the formats of other harnesses. ``gates``: checks of their scoring."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.options import Format
from scenario_kit.cli.terminal.output import fold_text, make_printable, show_json, show_table
from scenario_kit.cli.terminal.shell_completion import complete_names

if TYPE_CHECKING:
    from scenario_kit.exporters.gates import GateReport


def list_formats() -> list[str]:
    """List the export formats."""
    from scenario_kit.exporters.run import FORMATS

    return list(FORMATS)


def export(
    kind: Annotated[
        str,
        typer.Argument(
            help="harbor, inspect, openrca, rcaeval, harbor-live, aiopslab, sregym or itbench.",
            metavar="KIND",
            autocompletion=complete_names(list_formats),
        ),
    ],
    paths: Annotated[
        list[Path],
        typer.Argument(help="Snapshots for harbor, inspect, openrca and rcaeval, else scenarios; or folders of them."),
    ],
    out: Annotated[
        Path, typer.Option("--out", "--output", help="Folder for what is written; nothing in it is overwritten.")
    ],
    format: Format = "text",
) -> int:
    """Write incidents in the form of another harness, once the gates of each hold.

    All are written, or none. What a solver is given does not hold the answer.

    Exit codes: 0 written; 1 a gate does not hold, or files were changed; 3 no such path or form.

    Example: scenario-kit export harbor snapshots --out tasks
    """
    from scenario_kit.exporters.run import run_export

    result = run_export(kind, paths, out)
    written = [str(path) for path in result.written]
    if format == "json":
        show_json({"kind": kind, "written": written, "notes": result.notes})
        return 0
    for line in written:
        typer.echo(make_printable(line))
    for note in result.notes:
        typer.echo(fold_text(f"note: {make_printable(note)}"))
    return 0


def gates(
    paths: Annotated[list[Path], typer.Argument(help="Scenarios, or folders that hold some.")], format: Format = "text"
) -> int:
    """Check that the right answer scores 1, none 0, and that claims about a control score 0.

    Each answer is scored by the program that exported tasks carry and by `scenario-kit score`: both must agree.

    Exit codes: 0 all gates hold; 1 one does not, or a truth cannot be scored; 3 no such path.

    Example: scenario-kit gates catalog/scenarios
    """
    from scenario_kit.cli.scoring.truths import load_contexts
    from scenario_kit.exporters.gates import check_gates, list_failed_incidents

    truths = [each.index.truth for path in paths for each in load_contexts(path, None, "")[0].values()]
    reports = [check_gates(truth) for truth in truths]
    failed = list_failed_incidents(reports)
    if format == "json":
        show_json({"holds": not failed, "incidents": [each.to_json() for each in reports]})
    else:
        _show(reports, failed)
    return 1 if failed else 0


def _show(reports: list[GateReport], failed: list[str]) -> None:
    names = list(dict.fromkeys(check.name for report in reports for check in report.checks))
    rows = []
    for report in reports:
        scores = {check.name: check for check in report.checks}
        cells = ["" if name not in scores else _show_score(scores[name].exported, scores[name].holds) for name in names]
        rows.append([make_printable(report.incident), report.outcome, *cells])
    show_table(("incident", "outcome", *names), rows)
    summary = f"gates of {len(failed)} do not hold: {', '.join(failed)}" if failed else "all gates hold"
    typer.echo(f"\n{len(reports)} incident{'s' * (len(reports) != 1)}; {make_printable(summary)}")


def _show_score(value: float, holds: bool) -> str:
    return f"{value:.3g}" if holds else f"{value:.3g} !"

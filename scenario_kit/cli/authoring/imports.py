"""``import``: convert files of other projects into drafts, with a report on each value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from scenario_kit.cli.terminal.options import declare_choice
from scenario_kit.cli.terminal.output import make_printable, show_json, show_table
from scenario_kit.cli.terminal.shell_completion import complete_names, list_apps
from scenario_kit.errors import AuthoringError, UsageError

if TYPE_CHECKING:
    from scenario_kit.importers import ImportDecision, ImportResult

#: Maximum number of rows before the report is reduced to those that need attention.
_MOST_ROWS: Final = 200
_ATTENTION: Final = ("Guessed", "Refused")


def list_formats() -> list[str]:
    """List the formats that can be imported."""
    from scenario_kit.importers import FORMATS

    return list(FORMATS)


Kind = Annotated[
    str,
    typer.Argument(
        help="itbench, sregym, aiopslab, litmus, chaos-mesh, krkn or promrules.",
        metavar="KIND",
        autocompletion=complete_names(list_formats),
    ),
]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the drafts; nothing in it is overwritten.")]
App = Annotated[str, typer.Option(help="App to use; detected by default.", autocompletion=complete_names(list_apps))]
ReportFormat = Annotated[str, declare_choice("--format", "table|json", help="For people, or for programs.")]


def import_(
    kind: Kind,
    path: Annotated[Path, typer.Argument(help="A file of that format, or a folder of such files.")],
    out: Out = None,
    app: App = "",
    version: Annotated[str, typer.Option(help="Version of that app.")] = "",
    target: Annotated[str, typer.Option(help="Component of that app for faults whose own target it lacks.")] = "",
    author: Annotated[str, typer.Option(help="Author of the drafts; git's user.name by default.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the report only; write nothing.")] = False,
    all: Annotated[bool, typer.Option("--all", help=f"Show all rows of reports beyond {_MOST_ROWS}.")] = False,
    format: ReportFormat = "table",
) -> int:  # fmt: skip
    """Convert scenarios, experiments or rules of other projects into drafts, and report how each value was treated.

    Files are only read, never executed. Either all drafts are written or none; each passes lint.

    Exit codes: 0 drafts created; 1 nothing could be converted, or an unreadable file; 3 no such path or format.

    Example: scenario-kit import chaos-mesh experiments/ --out catalog/scenarios
    """
    from scenario_kit.catalog import Catalog
    from scenario_kit.cli.authoring.draft_files import write_drafts
    from scenario_kit.cli.authoring.new import read_git_name
    from scenario_kit.importers import FORMATS, read_inputs, run_import

    if kind not in FORMATS:
        raise UsageError(f"unknown format '{kind}'", fix=f"one of: {', '.join(FORMATS)}")
    if out is None and not dry_run:
        raise UsageError(
            "no output folder for the drafts", fix="pass --out FOLDER, or --dry-run to only print the report"
        )
    catalog = Catalog()
    files = read_inputs(path, FORMATS[kind].endings)
    result = run_import(kind, files, catalog, app=app, version=version, target=target, author=author or read_git_name())
    if out is not None and not dry_run and result.drafts:
        write_drafts(result.drafts, out, catalog)
    if format == "json":
        show_json(result.to_json() | {"counts": result.count_treatments()})
    else:
        _show(result, None if dry_run else out, everything=all)
    if not result.drafts:
        raise AuthoringError(
            f"{path}: nothing could be converted", fix="see the reasons in the report; choose the app with --app"
        )
    return 0


def _show(result: ImportResult, out: Path | None, *, everything: bool) -> None:
    decisions = list(result.decisions)
    if len(decisions) > _MOST_ROWS and not everything:
        decisions = [each for each in decisions if each.treatment in _ATTENTION]
    if decisions:
        rows = [[make_printable(cell) for cell in _list_cells(each)] for each in decisions]
        show_table(("where", "", "value", "result", "reason and next step"), rows)
        typer.echo()
    shown = [
        (str(out / draft.path) if out else draft.path, str(draft.source), str(len(draft.questions)))
        for draft in result.drafts
    ]
    show_table(("draft", "source", "open questions"), [[make_printable(cell) for cell in row] for row in shown])
    counts = ", ".join(f"{count} {name.lower()}" for name, count in result.count_treatments().items())
    hidden = len(result.decisions) - len(decisions)
    more = f"; {hidden} rows that need no attention are hidden (--all shows them)" if hidden else ""
    typer.echo(f"\n{len(result.files)} file{'s' * (len(result.files) != 1)}: {counts}{more}")
    if result.drafts and out is not None:
        packs = any(draft.path.startswith("alerts/") for draft in result.drafts)
        lint, then = (out / "alerts", "scenario-kit alerts test") if packs else (out, "scenario-kit try")
        typer.echo(f"  next: scenario-kit lint {lint}, answer the open questions, then {then}")


def _list_cells(decision: ImportDecision) -> tuple[str, str, str, str, str]:
    within = ", ".join(decision.within[:3]) + (" …" if len(decision.within) > 3 else "")
    value = f"{decision.place}: {decision.value}" + (f" ({within})" if within else "")
    why = ". ".join(filter(None, (decision.reason, decision.fix if decision.treatment in _ATTENTION else "")))
    return str(decision.position), decision.treatment.lower(), value, decision.result, why

"""``leaderboard``: the runs of several solvers, in an order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.scoring.options import RankingOptions
from scenario_kit.cli.terminal.option_groups import expand_groups
from scenario_kit.cli.terminal.options import declare_choice
from scenario_kit.cli.terminal.output import make_printable, show_findings, show_json, show_table

if TYPE_CHECKING:
    from scenario_kit.scoring.leaderboard.board import Leaderboard


@expand_groups
def leaderboard(
    truth: Annotated[Path, typer.Argument(help="A scenario, a ground truth of ITBench, or a folder of either.")],
    runs: Annotated[list[Path], typer.Argument(help="Records of runs, or folders with record.json and *.jsonl.")],
    ranking: RankingOptions,
    out: Annotated[
        Path | None, typer.Option(help="Write leaderboard.json, leaderboard.md and index.html into this folder.")
    ] = None,
    format: Annotated[str, declare_choice("--format", "table|json|md|html", help="What is printed.")] = "table",
) -> None:
    """Rank solvers by their runs over the same incidents, with uncertainty and what each incident tells apart.

    Exit codes: 0 ranked; 1 the truth or a record cannot be used; 3 no such file, or no record.

    Example: scenario-kit leaderboard catalog/scenarios solutions --out site
    """
    from scenario_kit.cli.scoring.record_files import find_records
    from scenario_kit.cli.scoring.truths import find_outdated, load_contexts
    from scenario_kit.report.leaderboard_page import render_markdown, render_page
    from scenario_kit.scoring.files.outputs import read_runs
    from scenario_kit.scoring.leaderboard.board import build_leaderboard

    contexts, warnings = load_contexts(truth, None, "")
    records = read_runs(list(find_records(runs)), list(contexts))
    board = build_leaderboard(contexts, records, ranking.build_settings())
    show_findings([*warnings, *find_outdated(contexts, records)], err=True)
    if out is not None:
        _write(board, out)
    if format == "json":
        show_json(board.to_json())
    elif format == "md":
        typer.echo(render_markdown(board), nl=False)
    elif format == "html":
        typer.echo(render_page(board), nl=False)
    else:
        _show(board)


def _write(board: Leaderboard, folder: Path) -> None:
    """Write all files, each at once."""
    from scenario_kit.load.atomic_file import replace_file
    from scenario_kit.model.json_document import format_json
    from scenario_kit.report.leaderboard_page import render_markdown, render_page

    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "leaderboard.json": format_json(board.to_json()),
        "leaderboard.md": render_markdown(board),
        "index.html": render_page(board),
    }
    for name, text in texts.items():
        replace_file(folder / name, text.encode())


def _show(board: Leaderboard) -> None:
    from scenario_kit.report.leaderboard_page import HEADER, list_cells

    show_table(HEADER, [[make_printable(cell) for cell in list_cells(row)] for row in board.rows])
    trivial = [each.incident for each in board.incidents if each.trivial]
    if trivial:
        typer.echo(f"\nsolved by the last change alone: {', '.join(trivial)}")

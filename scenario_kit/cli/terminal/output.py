"""Terminal output of findings, tables and errors."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import typer

from scenario_kit.cli.terminal.excerpt import format_excerpt
from scenario_kit.cli.terminal.terminal import style_text
from scenario_kit.errors import AuthoringError, ScenarioKitError

if TYPE_CHECKING:
    from scenario_kit.model import Finding

#: Minimum width of readable text, in columns.
_READABLE: Final = 20
#: Minimum terminal width for stacking cells of wide rows.
_STACKED: Final = 40
#: Indentation of stacked cells.
_BELOW: Final = "    "
#: The start of GitHub workflow commands, in two groups between which a space breaks it.
_COMMAND: Final = re.compile(r"(?m)(^[ ]*:)(:)|(##)(\[)")
_COLOURS = {"Error": typer.colors.RED, "Warning": typer.colors.YELLOW, "Note": typer.colors.BLUE}


def fold_text(text: str, indent: str = "", *, err: bool = False) -> str:
    """Indent text and, on a terminal, wrap it between words; commands and paths are never broken."""
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty():
        return indent + text
    width = max(shutil.get_terminal_size().columns, _READABLE + len(indent))
    wrapped = (
        textwrap.wrap(
            line, width, initial_indent=indent, subsequent_indent=indent + "  ", break_long_words=False,
            break_on_hyphens=False,
        ) or [indent]
        for line in text.split("\n")
    )  # fmt: skip
    return "\n".join(each for lines in wrapped for each in lines)


def show_title(text: str) -> None:
    """Print a text in bold."""
    typer.echo(style_text(fold_text(make_printable(text)), bold=True))


def print_progress(text: str) -> None:
    """Print a line about what is being done to stderr, as stdout carries results."""
    typer.echo(text, err=True)


def show_error(error: ScenarioKitError) -> None:
    """Print an error to stderr; findings are printed with their positions."""
    findings = _select_findings(error)
    if findings:
        show_findings(findings, err=True)
        messages = tuple(f.message for f in findings)
        if all(line.endswith(messages) for line in error.message.splitlines()):
            return  # the findings already say all of it
    typer.echo(style_text("error: ", fg=typer.colors.RED, bold=True) + error.message, err=True)
    if error.fix:
        typer.echo(fold_text(f"fix: {error.fix}", "  ", err=True), err=True)


def _select_findings(error: ScenarioKitError) -> Sequence[Finding]:
    """Select the findings of an error, without consequential ones."""
    if not isinstance(error, AuthoringError) or not error.findings:
        return ()
    from scenario_kit.lint.framework.consequential_findings import drop_consequential
    from scenario_kit.load import Mistaken

    return drop_consequential(error.mistakes) if isinstance(error, Mistaken) else error.findings


def show_findings(findings: Iterable[Finding], *, err: bool = False) -> None:
    """Print findings: code, severity, position, message, observed and expected, reason and fix."""
    for finding in findings:
        colour = _COLOURS[finding.severity]
        head = style_text(f"{finding.code} {finding.severity.lower()}", fg=colour, bold=True)
        mark = " [*]" if finding.fixable else ""
        typer.echo(f"{head} {make_printable(str(finding.position or ''))}".rstrip() + mark, err=err)
        typer.echo(fold_text(make_printable(finding.message), "  ", err=err), err=err)
        for line in format_excerpt(finding):
            typer.echo(make_printable(line), err=err)
        if finding.observed and finding.expected and finding.observed not in finding.message:
            observed = make_printable(f"observed: {finding.observed}; expected: {finding.expected}")
            typer.echo(fold_text(observed, "  ", err=err), err=err)
        for name in ("why", "fix"):
            if text := getattr(finding, name):
                typer.echo(fold_text(f"{name}: {make_printable(text)}", "  ", err=err), err=err)


def make_printable(text: str) -> str:
    """Neutralise terminal control characters and CI commands: findings quote untrusted files.

    GitHub parses commands in a step's output: ``::`` at the start of a line, and ``##[`` anywhere.
    """
    shown = "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in text)
    return _COMMAND.sub(lambda found: " ".join(part for part in found.groups() if part is not None), shown)


def show_json(document: Any) -> None:
    """Print a document as JSON."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def show_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; on a terminal, cells that are too wide are wrapped."""
    if not rows:
        return
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    for i, line in enumerate(format_table(headers, rows, width)):
        typer.echo(style_text(line, bold=True) if i == 0 and terminal else line)


def format_table(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> list[str]:
    """Format a table with lines of at most ``width`` columns, except for longer words.

    The last column is wrapped. If it would be too narrow, the first cell of each row is printed on a separate line.
    """
    cells = [[str(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    before = sum(widths[:-1]) + 2 * len(widths[:-1])
    if width and width >= _STACKED and width - before < min(_READABLE, widths[-1]):
        return _stack_cells(cells, width)
    room = width - before if width and width - before >= _READABLE else 0
    return [line for row in cells for line in _format_row(row, [*widths[:-1], room])]


def _stack_cells(cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Format rows with the first cell on its own line and the others below it."""
    others = [row[1:] for row in cells]
    widths = [max(len(row[i]) for row in others) for i in range(len(others[0]))]
    share = (width - len(_BELOW) - _READABLE) // max(1, len(widths) - 1) - 2
    words = [max(len(word) for row in others for word in [*row[i].split(), ""]) for i in range(len(widths))]
    narrow = [min(wide, max(share, word)) for wide, word in zip(widths[:-1], words, strict=False)]
    room = width - len(_BELOW) - sum(narrow) - 2 * len(narrow)
    lines = []
    for row, rest in zip(cells, others, strict=True):
        lines += [row[0], *(f"{_BELOW}{line}" for line in _format_row(rest, [*narrow, room]))]
    return lines


def _format_row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Format one row, wrapping cells at their widths; 0 means no wrapping."""
    wrapped = [
        textwrap.wrap(cell, wide, break_long_words=False, break_on_hyphens=False) if wide else [cell]
        for cell, wide in zip(row, widths, strict=True)
    ]
    lines = []
    for i in range(max(1, *(len(parts) for parts in wrapped))):
        parts = [part[i] if i < len(part) else "" for part in wrapped]
        lines.append("  ".join(f"{part:<{wide}}" for part, wide in zip(parts, widths, strict=True)).rstrip())
    return lines

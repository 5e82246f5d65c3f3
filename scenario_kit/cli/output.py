"""How results look in a terminal: findings, tables and errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from scenario_kit.errors import AuthoringError, ScenarioKitError

if TYPE_CHECKING:
    from scenario_kit.model import Finding

_COLOURS = {"Error": typer.colors.RED, "Warning": typer.colors.YELLOW, "Note": typer.colors.BLUE}


def show_error(error: ScenarioKitError) -> None:
    """One clear message on stderr; an author's mistakes each with their place."""
    findings = error.findings if isinstance(error, AuthoringError) else ()
    if findings:
        show_findings(findings, err=True)
        told = tuple(f.message for f in findings)
        if all(line.endswith(told) for line in error.message.splitlines()):
            return  # all of it has been said, with its place
    typer.echo(typer.style("error: ", fg=typer.colors.RED, bold=True) + error.message, err=True)
    if error.fix:
        typer.echo(f"  fix: {error.fix}", err=True)


def show_findings(findings: Iterable[Finding], *, err: bool = False) -> None:
    """Findings as text: code, severity, place; what is wrong; observed and expected; why; the fix."""
    for finding in findings:
        colour = _COLOURS[finding.severity]
        head = typer.style(f"{finding.code} {finding.severity.lower()}", fg=colour, bold=True)
        typer.echo(f"{head} {finding.position or ''}".rstrip(), err=err)
        typer.echo(f"  {printable(finding.message)}", err=err)
        if finding.observed and finding.expected and finding.observed not in finding.message:
            typer.echo(f"  observed: {printable(finding.observed)}; expected: {finding.expected}", err=err)
        for name in ("why", "fix"):
            if text := getattr(finding, name):
                typer.echo(f"  {name}: {printable(text)}", err=err)


def printable(text: str) -> str:
    """The text without what could move a terminal: findings quote files of strangers."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in text)


def show_json(document: Any) -> None:
    """A document for programs."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False))


def show_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their content; the last one is cut where the terminal ends."""
    if not rows:
        return
    widths = [max(len(str(row[i])) for row in (headers, *rows)) for i in range(len(headers))]
    for i, row in enumerate((headers, *rows)):
        line = "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        typer.echo(typer.style(line, bold=True) if i == 0 and sys.stdout.isatty() else line)

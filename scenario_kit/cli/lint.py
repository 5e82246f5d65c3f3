"""``lint``: static checks, all findings at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.model import Finding

FORMATS = ("text", "json", "github", "sarif")


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(rich_help_panel="Write it")
    def lint(
        paths: Annotated[list[Path], typer.Argument(help="Scenario files, or folders that hold some.")],
        format: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")] = "text",
    ) -> int:
        """Check scenarios without a cluster: fields, references, labels, leaks.

        Exit codes: 0 nothing that blocks, 1 errors, 3 no such path or no scenario in it.

        Example: scenario-kit lint catalog/scenarios
        """
        from scenario_kit.catalog import Catalog
        from scenario_kit.lint import lint_file
        from scenario_kit.load import scenario_files
        from scenario_kit.model import Severity

        if format not in FORMATS:
            raise UsageError(f"there is no format '{format}'", fix=f"one of: {', '.join(FORMATS)}")
        files, catalog = scenario_files(paths), Catalog()
        findings = [finding for file in files for finding in lint_file(file, catalog)]
        _show(findings, len(files), format)
        return 1 if any(f.severity == Severity.ERROR for f in findings) else 0


def _show(findings: list[Finding], files: int, format: str) -> None:
    from scenario_kit.cli.output import show_findings, show_json

    match format:
        case "json":
            show_json({"schemaVersion": 1, "files": files, "findings": [f.to_json() for f in findings]})
        case "sarif":
            show_json(sarif(findings))
        case "github":
            for finding in findings:
                typer.echo(annotation(finding))
        case _:
            show_findings(findings)
            typer.echo(summary(findings, files))


def summary(findings: list[Finding], files: int) -> str:
    """The last line: how many files, how many findings of each severity."""
    counted = [
        f"{n} {name.lower()}{'s' if n != 1 else ''}"
        for name in ("Error", "Warning", "Note")
        if (n := sum(f.severity == name for f in findings))
    ]
    checked = f"{files} scenario{'s' if files != 1 else ''} checked"
    return f"{checked}: {', '.join(counted) or 'no findings'}"


def annotation(finding: Finding) -> str:
    """A workflow command of GitHub Actions."""
    level = {"Error": "error", "Warning": "warning"}.get(finding.severity, "notice")
    at = finding.position
    place = f" file={_escaped(at.path, ',:')},line={at.line},col={at.column},title={finding.code}" if at else ""
    text = finding.message + (f" Fix: {finding.fix}" if finding.fix else "")
    return f"::{level}{place}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def sarif(findings: list[Finding]) -> dict[str, object]:
    """SARIF 2.1.0, for code scanning."""
    from scenario_kit import __version__
    from scenario_kit.lint import RULES

    codes = sorted({f.code for f in findings})
    rules = [
        {"id": c, "shortDescription": {"text": RULES[c].title}, "fullDescription": {"text": RULES[c].why}}
        for c in codes
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "scenario-kit", "version": __version__, "rules": rules}},
                "results": [_result(finding) for finding in findings],
            }
        ],
    }


def _result(finding: Finding) -> dict[str, object]:
    level = {"Error": "error", "Warning": "warning"}.get(finding.severity, "note")
    text = finding.message + (f". Fix: {finding.fix}" if finding.fix else "")
    result: dict[str, object] = {"ruleId": finding.code, "level": level, "message": {"text": text}}
    if at := finding.position:
        region = {"startLine": at.line, "startColumn": at.column}
        location = {"artifactLocation": {"uri": at.path}, "region": region}
        result["locations"] = [{"physicalLocation": location}]
    return result

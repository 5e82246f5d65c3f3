"""``lint``: static checks that report all findings at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.options import declare_choice
from scenario_kit.cli.terminal.output import show_findings, show_json
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.lint.fix import FixedFile
    from scenario_kit.model import Finding


def lint(
    paths: Annotated[list[Path], typer.Argument(help="Scenarios, faults, apps, alert packs, or their folders.")],
    format: Annotated[
        str,
        declare_choice(
            "--format", "text|json|github|sarif", help="For people, programs, GitHub annotations, code scanning."
        ),
    ] = "text",
    fix: Annotated[bool, typer.Option("--fix", help="Fix findings that have exactly one possible fix.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change; write nothing.")] = False,
) -> int:
    """Check scenarios and catalogue entries without a cluster: fields, references, labels, policies, leaks.

    Exit codes: 0 no errors, 1 errors (with --fix: remaining errors), 3 no such path, or no file to check.

    Example: scenario-kit lint catalog/scenarios
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.authoring.twin_findings import check_files
    from scenario_kit.lint import list_lintable
    from scenario_kit.model import Severity

    if diff and (fix or format != "text"):
        raise UsageError(
            "--diff cannot be combined with --fix or --format", fix="remove --fix and --format, or remove --diff"
        )
    files = list_lintable(paths)
    if fix or diff:
        return _fix_files(paths, files, format, write=fix)
    catalog = Catalog(find_collections(paths))
    findings = [*_find_all(files, catalog), *check_files(files, catalog)]
    _show(findings, files, format)
    return 1 if any(f.severity == Severity.ERROR for f in findings) else 0


def _find_all(files: Sequence[Path], catalog: Catalog) -> list[Finding]:
    """Return the findings of all files, with those marked that --fix can fix."""
    from scenario_kit.lint import drop_consequential, find_mistakes
    from scenario_kit.lint.fix import mark_fixable

    found = zip(files, find_mistakes(files, catalog), strict=True)
    return [
        finding for path, mistakes in found for finding in drop_consequential(mark_fixable(path, mistakes, catalog))
    ]


def _fix_files(paths: list[Path], files: list[Path], format: str, *, write: bool) -> int:
    """Fix the files, or print the diff. The exit code depends on the remaining findings; without writing, on all."""
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.cli.authoring.twin_findings import check_files, list_twins
    from scenario_kit.lint import fix
    from scenario_kit.model import Severity

    twins = list_twins(files)
    renamed = [fix.rename_file(path) for path in ([*files, *twins] if write else twins)]
    if write:  # before linting: a scenario is linted with its local faults, and an app with its twin
        _write_changed(renamed)
    catalog = Catalog(find_collections(paths))
    results = [*renamed, *(fix.fix_file(path, catalog) for path in files)]
    corrected = [finding for result in results for finding in result.corrected]
    left = [finding for result in results for finding in result.left]
    left += [finding for finding in check_files(files, catalog) if write or not finding.fixable]
    if write:
        _write_changed(results[len(renamed) :])
        _show(left, files, format, corrected)
    else:
        typer.echo("".join(fix.format_diff(result) for result in results), nl=False)
        typer.echo(
            f"{format_fixes(corrected)} possible; {format_summary(left, len(files), name_kinds(files))} after fixing",
            err=True,
        )
    return 1 if any(f.severity == Severity.ERROR for f in (left if write else [*left, *corrected])) else 0


def _write_changed(results: Sequence[FixedFile]) -> None:
    from scenario_kit.lint import fix

    for result in results:
        if result.new != result.old:
            fix.write(result)


def format_fixes(corrected: Sequence[Finding]) -> str:
    """Format the number of fixes."""
    return f"{len(corrected)} fix{'es' if len(corrected) != 1 else ''}"


def _show(
    findings: list[Finding], files: Sequence[Path], format: str, corrected: Sequence[Finding] | None = None
) -> None:
    """Print the fixes, if any, and the findings."""
    match format:
        case "json":
            fixed = {} if corrected is None else {"fixed": [f.to_json() for f in corrected]}
            show_json({"schemaVersion": 1, "files": len(files), **fixed, "findings": [f.to_json() for f in findings]})
        case "sarif":
            from scenario_kit.report import sarif

            show_json(sarif.build_log(findings))
        case "github":
            for finding in findings:
                typer.echo(format_annotation(finding))
        case _:
            last = format_summary(findings, len(files), name_kinds(files))
            for finding in corrected or ():
                typer.echo(f"fixed {finding.code} {finding.position or ''}: {finding.message}")
            show_findings(findings)
            typer.echo(f"{format_fixes(corrected or ())} applied; " * (corrected is not None) + last)


def name_kinds(files: Sequence[Path]) -> str:
    """Return the common noun for the files."""
    from scenario_kit.lint.context.discovery import classify_file

    found = {classify_file(file) for file in files}
    return "file" if len(found) != 1 else next(iter(found)).lower().replace("pack", "alert pack")


def format_summary(findings: list[Finding], files: int, what: str = "scenario") -> str:
    """Format the summary line: number of files, findings by severity, and fixable findings."""
    counted = [
        f"{n} {name.lower()}{'s' if n != 1 else ''}"
        for name in ("Error", "Warning", "Note")
        if (n := sum(f.severity == name for f in findings))
    ]
    if counted and (fixable := sum(f.fixable for f in findings)):
        counted.append(f"{fixable} fixable with --fix")
    checked = f"{files} {what}{'s' if files != 1 else ''} checked"
    return f"{checked}: {', '.join(counted) or 'no findings'}"


def format_annotation(finding: Finding) -> str:
    """Format a finding as a GitHub Actions workflow command."""
    level = {"Error": "error", "Warning": "warning"}.get(finding.severity, "notice")
    at = finding.position
    place = f" file={_escape(at.path, ',:')},line={at.line},col={at.column},title={finding.code}" if at else ""
    text = finding.message + (f" Fix: {finding.fix}" if finding.fix else "")
    return f"::{level}{place}::{_escape(text)}"


def _escape(text: str, more: str = "") -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

"""``validate-pr``: what a pull request changes, how much evidence it needs, and that evidence. The same in any CI."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from scenario_kit.cli.options import Lab

if TYPE_CHECKING:
    from scenario_kit.clients.git import Repository
    from scenario_kit.contribution import FileChange, Lane, Shape
    from scenario_kit.model import Finding, Scenario

#: GitHub shows ten annotations of a kind per step.
_ANNOTATIONS: Final = 10
_SUMMARY: Final = "summary.md"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("validate-pr", rich_help_panel="Prove it")
    def validate_pr(
        base: Annotated[str, typer.Option(help="Branch or commit to compare with.")] = "origin/main",
        out: Annotated[Path, typer.Option(help="Folder for the summary and the reports.")] = Path("pr-report"),
        repository: Annotated[Path, typer.Option(help="The checkout.", file_okay=False)] = Path(),
        sign_off: Annotated[bool, typer.Option(help="Whether every commit must be signed off.")] = True,
        static_only: Annotated[
            bool, typer.Option("--static-only", help="Apply the static rules only; run no trials.")
        ] = False,
        seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
        name: Lab = "default",
        parallel: Annotated[int, typer.Option(min=1, max=8, help="Trials to run at the same time.")] = 2,
    ) -> int:
        """Judge a pull request: one scenario, nothing else, and as much evidence as its changes call for.

        Exit codes: 0 pass (or no scenario was changed), 1 fail, 2 not evaluated, 3 usage, 4 inconclusive.

        Example: scenario-kit validate-pr --base origin/main
        """
        from scenario_kit.clients.git import Repository
        from scenario_kit.contribution import shape, signed_off

        checkout = Repository(repository)
        start, root = checkout.base(base), checkout.root()
        changes = checkout.changes(start)
        if checkout.uncommitted():
            typer.echo("note: uncommitted changes are not judged", err=True)
        found = shape(changes)
        out.mkdir(parents=True, exist_ok=True)
        if not found.scenario and not found.findings:
            return _tell(out, "No scenario is changed: nothing to validate.", [], 0)
        problems = [*found.findings, *(signed_off(checkout.commits(start)) if sign_off else [])]
        if problems:
            return _tell(out, problems[0].message, problems, 1)
        if found.removed:
            return _tell(out, f"{found.scenario} is removed: there is nothing left to run.", [], 0)
        return _judge(checkout, root, start, found, changes, out, seed, name, parallel, static_only)


def _judge(
    checkout: Repository,
    root: Path,
    start: str,
    found: Shape,
    changes: Sequence[FileChange],
    out: Path,
    seed: int,
    name: str,
    parallel: int,
    static_only: bool,
) -> int:
    from scenario_kit.cli.output import show_findings
    from scenario_kit.cli.validate import validate
    from scenario_kit.contribution.shape import SCENARIOS
    from scenario_kit.model import Severity
    from scenario_kit.report import newest

    folder = root / SCENARIOS / found.scenario
    static = _lint(folder)
    if any(f.severity == Severity.ERROR for f in static):
        return _tell(out, f"{found.scenario} does not pass the static rules.", static, 1)
    chosen = _lane(checkout, start, found.scenario, changes, folder)
    told = f"lane {chosen.name}: {'; '.join(chosen.because)}"
    if not chosen.plan or static_only:
        what = "only texts differ, earlier evidence holds" if not chosen.plan else "static rules only, as asked"
        return _tell(out, f"{found.scenario}: {told}. {what[0].upper()}{what[1:]}.", static, 0)
    typer.echo(f"{found.scenario}: {told}; plan {chosen.plan}")
    show_findings(static)
    code = validate([folder], chosen.plan, seed, name, parallel, keep=False, as_json=False, runs=out / "runs")
    report = newest(out / "runs").with_name("report.md")
    _write(out, f"{told}; plan `{chosen.plan}`\n\n{report.read_text()}")
    return code


def _lint(folder: Path) -> list[Finding]:
    from scenario_kit.catalog import Catalog, collections
    from scenario_kit.errors import AuthoringError
    from scenario_kit.lint import lint_files, with_its_faults

    try:
        return lint_files(with_its_faults(folder / "scenario.yaml"), Catalog(collections([folder]), merging=True))
    except AuthoringError as problem:
        return list(problem.findings)


def _lane(checkout: Repository, start: str, name: str, changes: Sequence[FileChange], folder: Path) -> Lane:
    from scenario_kit.contribution import lane
    from scenario_kit.contribution.shape import SCENARIOS
    from scenario_kit.load import load_scenario

    prefix = f"{SCENARIOS}{name}/"
    old = checkout.text(start, prefix + "scenario.yaml")
    after = _parts(load_scenario(folder / "scenario.yaml").scenario)
    others = [c.path.removeprefix(prefix) for c in changes if c.path != prefix + "scenario.yaml"]
    return lane(_document(old), after, others)


def _document(text: str | None) -> Mapping[str, Any] | None:
    """The scenario as it was; one that this version cannot read is as good as none."""
    from scenario_kit.errors import AuthoringError
    from scenario_kit.load import read_scenario

    if text is None:
        return None
    try:
        return _parts(read_scenario(text, "base").scenario)
    except AuthoringError:
        return None


def _parts(scenario: Scenario) -> Mapping[str, Any]:
    """What is compared: the values, with defaults that were left out."""
    return {"name": scenario.name, "spec": scenario.spec.to_json()}


def _tell(out: Path, headline: str, findings: Sequence[Finding], code: int) -> int:
    """Say it here, as annotations where GitHub listens, and in the summary."""
    from scenario_kit.cli.output import printable, show_findings
    from scenario_kit.report.markdown import escape

    lines = [f"# {'FAIL' if code else 'PASS'}", "", escape(headline), ""]
    for finding in findings:
        lines += [
            f"* **{finding.code}** {escape(finding.message)}" + (f" Fix: {escape(finding.fix)}" if finding.fix else "")
        ]
    _write(out, "\n".join(lines) + "\n")
    _annotate(findings)
    show_findings(findings)
    typer.echo(printable(headline))
    return code


def _annotate(findings: Sequence[Finding]) -> None:
    from scenario_kit.cli.lint import annotation

    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for finding in findings[:_ANNOTATIONS]:
        typer.echo(annotation(finding))
    if len(findings) > _ANNOTATIONS:
        typer.echo(f"::notice::{len(findings) - _ANNOTATIONS} more findings are in the summary")


def _write(out: Path, text: str) -> None:
    (out / _SUMMARY).write_text(text)
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a") as summary:
            summary.write(text)

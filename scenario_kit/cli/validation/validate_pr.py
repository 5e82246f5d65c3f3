"""``validate-pr``: determine the evidence that a pull request needs, and produce it. Independent of the CI system."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec
import typer

from scenario_kit.cli.terminal.options import Lab
from scenario_kit.cli.terminal.output import fold_text, make_printable, show_findings
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.campaign import Validation
    from scenario_kit.campaign.results.result import Allowance
    from scenario_kit.clients.git import Repository
    from scenario_kit.contribution import EvidenceTier, FileChange, PullRequestScope
    from scenario_kit.model import Finding, Scenario
    from scenario_kit.model.results.incident import Incident
    from scenario_kit.report import Report

#: GitHub shows ten annotations of a kind per step.
_ANNOTATIONS: Final = 10
_SUMMARY: Final = "summary.md"
_REPORTS: Final = ("report.json", "report.html")


def validate_pr(
    base: Annotated[str, typer.Option(help="Branch or commit to compare with.")] = "origin/main",
    out: Annotated[Path, typer.Option(help="Folder for the summary and the reports.")] = Path("pr-report"),
    repository: Annotated[Path, typer.Option(help="The checkout.", file_okay=False)] = Path(),
    sign_off: Annotated[bool, typer.Option(help="Require every commit to be signed off.")] = True,
    static_only: Annotated[bool, typer.Option("--static-only", help="Apply static rules only; run no trials.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 1,
    name: Lab = "default",
    parallel: Annotated[int, typer.Option(min=1, max=8, help="Trials to run at the same time.")] = 2,
) -> int:
    """Validate a pull request: it may change one scenario only, and needs evidence according to its changes.

    Exit codes: 0 pass (or no scenario changed), 1 fail, 2 not evaluated, 3 usage, 4 inconclusive.

    Example: scenario-kit validate-pr --base origin/main
    """
    from scenario_kit.clients.git import Repository
    from scenario_kit.contribution import check_sign_off, determine_scope, report_missing_scenario

    checkout = Repository(repository)
    start, root = checkout.base(base), checkout.root()
    changes = checkout.changes(start)
    if checkout.has_uncommitted():
        typer.echo("note: uncommitted changes are ignored", err=True)
    found = determine_scope(changes)
    _clear_output(out)
    if not found.scenario and not found.findings:
        return _conclude(out, _build_static_verdict("", "No scenario has changed; nothing to validate", []))
    problems = [*found.findings, *(check_sign_off(checkout.commits(start)) if sign_off else [])]
    if found.removed and not problems:
        return _conclude(out, _build_static_verdict(found.scenario, "the scenario is removed; nothing to validate", []))
    contribution = _Contribution(checkout, root, start, found, changes, tuple(problems))
    if contribution.incomplete:
        contribution = contribution._replace(problems=(*problems, report_missing_scenario(found.scenario)))
    return _judge(contribution, out, seed, name, parallel, static_only)


class _Contribution(NamedTuple):
    """The changes of a pull request since ``start``, and problems of its scope and commits."""

    checkout: Repository
    root: Path
    start: str
    scope: PullRequestScope
    changes: Sequence[FileChange]
    problems: tuple[Finding, ...]

    @property
    def folder(self) -> Path:
        from scenario_kit.contribution.pull_request_scope import SCENARIOS

        return self.root / SCENARIOS / self.scope.scenario

    @property
    def incomplete(self) -> bool:
        """Return whether the folder has no scenario although it was not removed."""
        return bool(self.scope.scenario) and not self.scope.removed and not (self.folder / "scenario.yaml").exists()

    @property
    def readable(self) -> bool:
        """Return whether the scenario can be linted: it exists, has a valid name, and contains no links."""
        links = any(change.is_link for change in self.changes)
        unnamed = any(finding.code == "SK106" for finding in self.problems)
        return bool(self.scope.scenario) and not (self.scope.removed or links or unnamed or self.incomplete)


def _judge(contribution: _Contribution, out: Path, seed: int, name: str, parallel: int, static_only: bool) -> int:
    """Apply all static rules, then run the trials of the lane; write summary and report for each verdict."""
    from scenario_kit.cli.validation.validate import ValidationOptions, validate
    from scenario_kit.model import Severity
    from scenario_kit.report import find_newest, read_report

    scenario, root = contribution.scope.scenario, contribution.root
    static = _lint(contribution.folder, root) if contribution.readable else []
    incident = _describe(contribution.folder) if contribution.readable else None
    findings = [*contribution.problems, *static]
    if any(f.severity == Severity.ERROR for f in findings):
        errors = sum(f.severity == Severity.ERROR for f in findings)
        more = f", and {errors - 1} more" if errors > 1 else ""
        return _conclude(out, _build_static_verdict(scenario, f"{findings[0].message}{more}", findings, incident))
    chosen = _find_lane(contribution)
    lane = f"lane {chosen.name}: {'; '.join(chosen.because)}"
    if not chosen.plan or static_only:
        what = (
            "only texts differ, earlier evidence remains valid"
            if not chosen.plan
            else "static rules only, as requested"
        )
        validation = _build_static_verdict(scenario, f"{lane}. {what[0].upper()}{what[1:]}", findings, incident)
        return _conclude(out, msgspec.structs.replace(validation, exceptions=_list_allowances(contribution.folder)))
    typer.echo(f"{scenario}: {lane}; plan {chosen.plan}")
    show_findings(findings)
    runs = out / "runs"
    code = validate([contribution.folder], ValidationOptions(chosen.plan, seed, name, parallel, runs))
    report = read_report(find_newest(runs))
    placed = tuple(_relativise(root, finding) for finding in report.validation.findings)
    report = msgspec.structs.replace(report, validation=msgspec.structs.replace(report.validation, findings=placed))
    _write_reports(out, report, f"{lane}; plan `{chosen.plan}`")
    _annotate(placed)
    _ask_for_reading(incident)
    return code


def _lint(folder: Path, root: Path) -> list[Finding]:
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.errors import AuthoringError
    from scenario_kit.lint import lint_files, list_with_faults

    try:
        found = lint_files(
            list_with_faults(folder / "scenario.yaml"), Catalog(find_collections([folder]), merging=True)
        )
    except AuthoringError as error:
        found = list(error.findings)
    return [_relativise(root, finding) for finding in found]


def _relativise(root: Path, finding: Finding) -> Finding:
    """Make the path of a finding relative to the repository, as annotations and code scanning require."""
    if finding.position is None:
        return finding
    path = Path(finding.position.path).resolve()
    inside = path.relative_to(root.resolve()).as_posix() if path.is_relative_to(root.resolve()) else str(path)
    return msgspec.structs.replace(finding, position=msgspec.structs.replace(finding.position, path=inside))


def _describe(folder: Path) -> Incident | None:
    """Describe the incident; None if the file is unreadable, which the findings report."""
    from scenario_kit.campaign.results.incident import describe_incident, read_titles
    from scenario_kit.catalog import Catalog
    from scenario_kit.errors import AuthoringError
    from scenario_kit.load import load_scenario

    try:
        scenario = load_scenario(folder / "scenario.yaml").scenario
    except AuthoringError:
        return None
    return describe_incident(scenario, None, read_titles(scenario, Catalog(), folder))


def _list_allowances(folder: Path) -> tuple[Allowance, ...]:
    """List the exceptions that the scenario's faults declare."""
    from scenario_kit.campaign.results.exceptions import list_allowances
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.load import load_scenario
    from scenario_kit.render import resolve

    path, catalog = folder / "scenario.yaml", Catalog(find_collections([folder]), merging=True)
    return list_allowances(resolve(load_scenario(path).scenario, catalog, "app", beside=path).faults)


def _find_lane(contribution: _Contribution) -> EvidenceTier:
    from scenario_kit.contribution import choose_lane
    from scenario_kit.contribution.pull_request_scope import SCENARIOS
    from scenario_kit.load import load_scenario

    prefix = f"{SCENARIOS}{contribution.scope.scenario}/"
    old = contribution.checkout.text(contribution.start, prefix + "scenario.yaml")
    after = _read_parts(load_scenario(contribution.folder / "scenario.yaml").scenario)
    others = [c.path.removeprefix(prefix) for c in contribution.changes if c.path != prefix + "scenario.yaml"]
    return choose_lane(_document(old), after, others)


def _document(text: str | None) -> Mapping[str, Any] | None:
    """Return the scenario at the base; None if it did not exist or this version cannot read it."""
    from scenario_kit.errors import AuthoringError
    from scenario_kit.load import read_scenario

    if text is None:
        return None
    try:
        return _read_parts(read_scenario(text, "base").scenario)
    except AuthoringError:
        return None


def _read_parts(scenario: Scenario) -> Mapping[str, Any]:
    """Return the compared values, with defaults filled in."""
    return {"name": scenario.name, "spec": scenario.spec.to_json()}


def _build_static_verdict(
    name: str, headline: str, findings: Sequence[Finding], incident: Incident | None = None
) -> Validation:
    """Build a verdict without trials."""
    from scenario_kit.campaign import Validation
    from scenario_kit.campaign.results.verdict import merge_findings, name_correction, suggest_command
    from scenario_kit.contribution.pull_request_scope import SCENARIOS
    from scenario_kit.model import Severity, Verdict

    found = merge_findings(findings)
    verdict = Verdict.FAIL if any(f.severity == Severity.ERROR for f in found) else Verdict.PASS
    path = f"{SCENARIOS}{name}/scenario.yaml" if name else ""
    failed = verdict == Verdict.FAIL and path
    return Validation(
        scenario=name, incident=incident, path=path, plan="static", verdict=verdict, headline=headline, findings=found,
        correction=name_correction(verdict, found),
        next=suggest_command(verdict, path, "static", found) if failed else "",
    )  # fmt: skip


def _conclude(out: Path, validation: Validation) -> int:
    """Print a verdict without trials, and write its summary and report."""
    from scenario_kit.report.document import Report, format_timestamp

    _write_reports(out, Report(created=format_timestamp(), validation=validation))
    _annotate(validation.findings)
    show_findings(validation.findings)
    scenario = f"{validation.scenario}: " if validation.scenario else ""
    typer.echo(make_printable(f"{scenario}{validation.headline}."))
    _ask_for_reading(validation.incident)
    return validation.verdict.exit_code


def _ask_for_reading(incident: Incident | None) -> None:
    """Print the brief and the answer, so that a reviewer can judge whether the brief reveals it."""
    from scenario_kit.report.incident import READING

    if incident is None:
        return
    typer.echo(fold_text(READING))
    typer.echo(fold_text(make_printable(f"brief:  {incident.brief}"), "  "))
    broken = "; ".join(f"{fault.type} on {fault.target}" for fault in incident.faults)
    typer.echo(
        fold_text(make_printable(f"answer: {', '.join(incident.causes) or 'no cause'} ({broken or 'no fault'})"), "  ")
    )


def _annotate(findings: Sequence[Finding]) -> None:
    from scenario_kit.cli.authoring.lint import format_annotation

    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for finding in findings[:_ANNOTATIONS]:
        typer.echo(format_annotation(finding))
    if len(findings) > _ANNOTATIONS:
        typer.echo(f"::notice::{len(findings) - _ANNOTATIONS} more findings are in the summary")


def _clear_output(out: Path) -> None:
    """Remove the output of an earlier call.

    Raises:
        UsageError: the folder cannot be created or emptied.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (_SUMMARY, *_REPORTS):
            (out / name).unlink(missing_ok=True)
        if (out / "runs").is_dir():
            shutil.rmtree(out / "runs")
    except OSError as error:
        fix = "choose a dedicated folder with --out"
        raise UsageError(f"cannot write reports to {out}: {error.strerror}", fix=fix) from error


def _write_reports(out: Path, report: Report, note: str = "") -> None:
    """Write the report in all formats that CI shows, and the summary."""
    from scenario_kit.report import html, markdown
    from scenario_kit.report.document import dump_report

    summary = markdown.render(report) + (f"\n\n{note}\n" if note else "\n")
    (out / "report.json").write_text(dump_report(report, indent=2), encoding="utf-8")
    (out / "report.html").write_text(html.render(report), encoding="utf-8")
    (out / _SUMMARY).write_text(summary, encoding="utf-8")
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8") as step:
            step.write(summary)

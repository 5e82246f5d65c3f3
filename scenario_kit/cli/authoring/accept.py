"""``try --accept``: write the observed alerts into the scenario file."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

import typer

from scenario_kit.campaign import Validation
from scenario_kit.campaign.results.result import TrialResult
from scenario_kit.catalog import Catalog
from scenario_kit.cli.terminal.output import show_findings
from scenario_kit.draft import draw_edges, select_observed, write_accepted
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.load.atomic_file import replace_file
from scenario_kit.load.yaml.edit import Unfit
from scenario_kit.model import Finding, Severity
from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.model.results.purpose import is_repeat
from scenario_kit.render import resolve
from scenario_kit.render.faults.applicability import find_affected_component

#: The last steps before any repair; alerts firing at their end are caused by the fault alone.
_BEFORE_REPAIR = ("hold", "expectAlerts")


def accept(file: Path, validation: Validation, catalog: Catalog) -> None:
    """Write the alerts that fired, and the propagation edges to them, into the file; print the diff.

    Nothing is written if the trial did not inject all faults, if a fault had no effect, or if the file cannot be edited
    safely.
    """
    trial = next((t for t in validation.trials if is_repeat(t.purpose)), None)
    if trial is None or trial.history is None or trial.injected_at is None:
        typer.echo("nothing accepted: the trial ended before the injection")
        return
    if any(step.kind == "inject" and step.outcome in ("Broken", "Infra") for step in trial.steps):
        typer.echo("nothing accepted: a fault had no effect, so the alerts cannot be attributed")
        return
    judged_at = _find_judged_at(trial)
    seen = select_observed(trial.history, trial.injected_at, judged_at, _find_repaired_at(trial)) if judged_at else ()
    if not seen:
        typer.echo("nothing accepted: no alert fired after the injection")
        return
    text = file.read_text(encoding="utf-8")
    new = _edit(file, text, seen, trial, catalog)
    if new == text:
        typer.echo("accepted: the file already declares all observed alerts")
        return
    known = _find_errors(file, catalog)
    replace_file(file, new.encode())
    if worse := [finding for finding in _find_errors(file, catalog) if finding.code not in {f.code for f in known}]:
        replace_file(file, text.encode())
        show_findings(worse)
        typer.echo(f"nothing accepted: {file} would violate the rules above; edit it by hand")
        return
    changed = difflib.unified_diff(text.splitlines(), new.splitlines(), str(file), str(file), lineterm="", n=1)
    typer.echo("\n".join(changed))
    typer.echo(f"accepted into {file}; one trial is weak evidence: scenario-kit verify {file.parent}")


def _edit(file: Path, text: str, seen: Sequence[AlertExpectation], trial: TrialResult, catalog: Catalog) -> str:
    """Return the text of the file with the observed alerts, and the propagation edges to them."""
    scenario = load_scenario(file).scenario
    app = catalog.app(scenario.spec.app.name, scenario.spec.app.version)
    runbook = resolve(scenario, catalog, app.namespace, beside=file.parent)
    hit = {f.name: find_affected_component(app, runbook.objects, f.target, f) for f in runbook.faults}
    edges, held = draw_edges(seen, runbook.faults, app, hit), _has_held(trial)
    try:
        return write_accepted(
            text, scenario.spec, seen, edges, held=held, rules=runbook.rules, injections=trial.injections
        )
    except Unfit as error:
        fix = "write the alerts above into spec.expect.alerts by hand"
        raise AuthoringError(f"{file} cannot be edited: {error}", fix=fix) from error


def _find_errors(file: Path, catalog: Catalog) -> list[Finding]:
    return [finding for finding in lint_file(file, catalog) if finding.severity == Severity.ERROR]


def _has_held(trial: TrialResult) -> bool:
    """Return whether all MustFire alerts were still firing at the end of the hold."""
    return any(step.kind == "hold" and step.outcome == "Held" for step in trial.steps)


def _find_judged_at(trial: TrialResult) -> float | None:
    for name in _BEFORE_REPAIR:
        for step in trial.steps:
            if step.kind == name and step.finished_at is not None:
                return step.finished_at
    return None


def _find_repaired_at(trial: TrialResult) -> float | None:
    """Return when the repair started; None if the trial ended before."""
    begun = None
    for step in trial.steps:
        if step.kind == "change":
            begun = step.started_at
        elif step.kind == "expectCleared" and step.outcome != "Skipped":
            return begun
    return None

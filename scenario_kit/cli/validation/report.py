"""``report``: render the report of a validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.options import declare_choice
from scenario_kit.cli.terminal.output import show_json
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.report import Report


def report(
    run: Annotated[Path, typer.Argument(help="A run's folder, its report.json, or a folder of runs (the newest).")],
    format: Annotated[
        str, declare_choice("--format", "md|html|json|junit|sarif", help="Format of the rendering.")
    ] = "md",
    record: Annotated[bool, typer.Option("--record", help="Write evidence.json next to the scenario.")] = False,
) -> None:
    """Render the report of a validation.

    With --record, a pass of plan standard or thorough is written as evidence to commit next to the scenario.
    The scenario must not have changed since the run.

    Example: scenario-kit report runs/product-catalog-wrong-target-port --format md
    """
    from scenario_kit.report import html, junit, markdown, read_report, sarif

    if not run.exists():
        raise UsageError(f"{run} does not exist", fix="pass a folder printed by `scenario-kit verify`")
    document = read_report(run)
    if record:
        typer.echo(f"wrote {record_evidence(document)}")
        return
    match format:
        case "md":
            typer.echo(markdown.render(document))
        case "html":
            typer.echo(html.render(document))
        case "junit":
            typer.echo(junit.render(document))
        case "sarif":
            typer.echo(sarif.render(document))
        case _:
            show_json(document.to_json())


def record_evidence(report: Report) -> Path:
    """Write the evidence of a report and return its path.

    Raises:
        UsageError: the report is not evidence, or the scenario file is missing.
        AuthoringError: the scenario cannot be resolved any more.
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.catalog.evidence import read_evidence, write_evidence
    from scenario_kit.load import load_scenario
    from scenario_kit.render.scenarios.runbook import render_as_written, resolve
    from scenario_kit.render.scenarios.version import compute_version_key
    from scenario_kit.report.evidence import build_evidence, refuse_weaker_evidence

    path = Path(report.validation.path)
    if not path.is_file():
        raise UsageError(
            f"{path}, the scenario of this run, does not exist",
            fix="run it in the folder in which `scenario-kit verify` ran",
        )
    catalog = Catalog(find_collections([path]))
    scenario = load_scenario(path).scenario
    runbook = resolve(scenario, catalog, "app", beside=path.parent)
    objects = render_as_written(scenario.spec, runbook.app, catalog.templates(runbook.app.name))
    key = compute_version_key(scenario.spec, runbook, objects, report.kubernetes, report.engine)
    evidence = build_evidence(report, runbook.digest, key)
    refuse_weaker_evidence(read_evidence(path), evidence)
    return write_evidence(path, evidence)

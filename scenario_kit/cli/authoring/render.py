"""``render``: show the objects and changes of a scenario, and their times."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenario_kit.cli.terminal.options import Format, ScenarioPath, declare_choice
from scenario_kit.cli.terminal.output import show_json, show_table
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.model import Runbook

SECTIONS = ("summary", "manifests", "changes", "rules", "timeline", "all")


def render(
    path: ScenarioPath,
    show: Annotated[str, declare_choice("--show", "|".join(SECTIONS), help="What to show.")] = "summary",
    namespace: Annotated[str, typer.Option(help="Namespace of the app; its conventional one by default.")] = "",
    bundle: Annotated[
        bool, typer.Option("--bundle", help="Print the scenario as one object, its fault types inside.")
    ] = False,
    format: Format = "text",
) -> None:
    """Show what a scenario would apply: manifests, changes, alert rules, timeline. With --bundle, print what
    kubectl applies on a cluster, whatever fault types its catalogue has.

    Example: scenario-kit render catalog/scenarios/cart-scaled-to-zero --show changes
    """
    from scenario_kit.catalog import Catalog, find_collections
    from scenario_kit.load import find_scenario_files, load_scenario
    from scenario_kit.render import resolve

    files = find_scenario_files([path])
    if len(files) > 1:
        raise UsageError(f"{path} holds {len(files)} scenarios", fix="name one of them")
    catalog = Catalog(find_collections(files[:1]))
    if bundle:
        _print_bundle(files[0], catalog, format)
        return
    scenario = load_scenario(files[0]).scenario
    choice = scenario.spec.app
    app = catalog.app(choice.name, choice.version)
    runbook = resolve(scenario, catalog, namespace or app.namespace, beside=files[0])
    if format == "json":
        show_json(_document(runbook, show))
    else:
        _print_text(runbook, show)


def _print_bundle(file: Path, catalog: Catalog, format: str) -> None:
    from scenario_kit.render.scenarios.bundle import bundle_scenario

    obj = bundle_scenario(file, catalog)
    if format == "json":
        show_json(obj)
    else:
        typer.echo(_dump_yaml(obj), nl=False)


def _document(runbook: Runbook, show: str) -> dict[str, Any]:
    from scenario_kit.render import build_preview

    document = build_preview(runbook).to_json()
    document["rules"] = [rule.to_json() for rule in runbook.rules]
    sections = {"manifests": ["objects"], "changes": ["changes"], "rules": ["rules"], "timeline": ["timeline", "noise"]}
    kept = sections.get(show, list(document))
    return {name: document.get(name, []) for name in kept}


def _print_text(runbook: Runbook, show: str) -> None:
    from scenario_kit.render import build_preview

    planned = build_preview(runbook)
    if show in ("summary", "all"):
        kinds: dict[str, int] = {}
        for obj in planned.objects:
            kinds[obj["kind"]] = kinds.get(obj["kind"], 0) + 1
        typer.echo(f"{planned.scenario}  {planned.digest}")
        typer.echo(f"objects: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")
        typer.echo(f"alert rules: {', '.join(planned.rules)}\n")
    if show in ("summary", "changes", "all"):
        for name, changes in planned.changes.items():
            typer.echo(f"# {name}\n{_dump_yaml([change.to_json() for change in changes])}")
    if show in ("rules", "all"):
        typer.echo(_dump_yaml([rule.to_json() for rule in runbook.rules]))
    if show in ("summary", "timeline", "all"):
        rows = [(f"+{stage.starts_at} s", f"{stage.seconds} s", stage.name, stage.what) for stage in planned.timeline]
        show_table(("from", "at most", "stage", "what"), rows)
        if planned.noise:
            typer.echo("\nmeanwhile, with seed 1:")
            drawn = [(f"+{each.starts_at} s", f"{each.seconds} s", each.name, each.what) for each in planned.noise]
            show_table(("from", "for", "noise", "what"), drawn)
    if show in ("manifests", "all"):
        typer.echo("---\n".join(_dump_yaml(obj) for obj in planned.objects))


def _dump_yaml(document: Any) -> str:
    import yaml

    return yaml.safe_dump(document, sort_keys=False, width=120, allow_unicode=True)

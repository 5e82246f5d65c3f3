"""``new``: a complete scenario from six answers, each of which is also a flag."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.shell_completion import complete_names, list_apps, list_components, list_faults
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.catalog import Catalog
    from scenario_kit.draft import Answers, Draft
    from scenario_kit.model import App
    from scenario_kit.model.authored.capability import UnmetNeed


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(rich_help_panel="Write it")
    def new(
        name: Annotated[str, typer.Argument(help="Name of the scenario; derived by default.")] = "",
        app: Annotated[
            str, typer.Option(help="App, for example otel-demo.", autocompletion=complete_names(list_apps))
        ] = "",
        version: Annotated[str, typer.Option(help="Version of the app; by default the first one listed.")] = "",
        target: Annotated[
            str,
            typer.Option(
                help="A component or object of the app, for example cart.",
                autocompletion=complete_names(list_components),
            ),
        ] = "",
        fault: Annotated[
            str, typer.Option(help="Fault type, for example network-delay.", autocompletion=complete_names(list_faults))
        ] = "",
        parameter: Annotated[list[str], typer.Option(help="NAME=VALUE; may be repeated.")] = [],  # noqa: B006
        also: Annotated[
            list[str], typer.Option(help="A further fault, FAULT@TARGET[,NAME=VALUE…]; may be repeated.")
        ] = [],  # noqa: B006
        users: Annotated[str, typer.Option(help="Users of the load generator; 50 by default.")] = "",
        profile: Annotated[str, typer.Option(help="Load profile of the app.")] = "",
        pack: Annotated[list[str], typer.Option(help="Alert pack; may be repeated. By default `default`.")] = [],  # noqa: B006
        outcome: Annotated[
            str, typer.Option(help="Incident, Benign or NoIncident; by default derived from the fault.")
        ] = "",
        author: Annotated[str, typer.Option(help="Author; git's user.name by default.")] = "",
        output: Annotated[Path | None, typer.Option(help="Folder in which the scenario's folder is created.")] = None,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the file instead of writing it.")] = False,
    ) -> int:
        """Write a complete scenario. Asks for the app, what breaks and how, and offers only valid combinations.

        Example: scenario-kit new --app otel-demo --target cart --fault deployment-scaled-to-zero
        """
        from scenario_kit.catalog import Catalog
        from scenario_kit.cli.authoring.questions import LoadOptions, ask_others, ask_setting, complete
        from scenario_kit.draft import draft, join_drafts

        catalog = Catalog()
        given = {"app": app, "version": version, "target": target, "fault": fault, "name": name, "outcome": outcome}
        ask = sys.stdin.isatty()
        answers = complete(given, parameter, author or read_git_name(), catalog, ask=ask)
        answers = ask_setting(
            answers, LoadOptions(users, profile, tuple(pack)), catalog, ask=ask and not (target and fault)
        )
        more = ask_others(answers, also, catalog, ask=ask and not (target and fault)) if answers.fault else []
        made = join_drafts([draft(each, catalog) for each in (answers, *more)])
        lacks = _lacks(made, catalog.app(answers.app, answers.version), catalog)
        if dry_run:
            typer.echo(made.text, nl=False)
            _warn(made, lacks)
            return 0
        file = _choose_file(output, made.name)
        if sys.stdin.isatty():
            _show_preview(made, file)
            _warn(made, lacks)
            typer.confirm("Write it?", default=True, abort=True)
        return _write(made, file, answers, catalog, lacks)


def _choose_file(output: Path | None, name: str) -> Path:
    from scenario_kit.load import COLLECTIONS

    folder = output or next((c for c in COLLECTIONS if c.is_dir()), Path())
    file = folder / name / "scenario.yaml"
    if file.exists():
        raise UsageError(f"{file} exists already", fix="choose another name, or edit that file")
    return file


def _show_preview(made: Draft, file: Path) -> None:
    typer.echo(f"\n{file}\n")
    typer.echo(made.text)


def _lacks(made: Draft, app: App, catalog: Catalog) -> list[UnmetNeed]:
    from scenario_kit.cli.authoring.missing_capabilities import find_missing_for

    return [] if made.offer is None else find_missing_for(made.offer, app, catalog)


def _warn(made: Draft, lacks: Iterable[UnmetNeed]) -> None:
    """Warn of what may come otherwise, and what the lab cannot judge; on stderr, for on stdout is the file."""
    for caution in made.cautions:
        typer.echo(f"  beware: {caution}", err=True)
    for lack in lacks:
        why = f": {lack.because}" if lack.because else ""
        typer.echo(f"  beware: it needs {lack.need}, which the lab does not have{why}", err=True)
        typer.echo(f"    `try` and `verify` cannot judge it; apply it in {lack.where}", err=True)


def _write(made: Draft, file: Path, answers: Answers, catalog: Catalog, lacks: Sequence[UnmetNeed]) -> int:
    """Write the file, and lint it: a draft with a finding is a mistake of ours, and its author shall know."""
    from scenario_kit.cli.terminal.output import show_findings
    from scenario_kit.draft import build_schema_header, dump_schema
    from scenario_kit.lint import lint_file
    from scenario_kit.model import Severity

    header, copy = build_schema_header(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(header + made.text, encoding="utf-8")
    if copy is not None:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(dump_schema(catalog), encoding="utf-8")
    findings = lint_file(file, catalog)
    show_findings(findings)
    typer.echo(f"wrote {file}")
    if answers.fault:
        typer.echo(
            f"  {'changes' if answers.outcome == 'NoIncident' else 'breaks'} {answers.target} with {answers.fault}"
        )
    for alert in made.alerts:
        typer.echo(f"  expects {alert.name} on {alert.entity} ({alert.alert_class})")
    _warn(made, lacks)
    then = "apply it in such a cluster" if lacks else f"scenario-kit try {file.parent}"
    typer.echo(f"  next: edit its title, brief and description, then {then}")
    return 1 if any(f.severity == Severity.ERROR for f in findings) else 0


def read_git_name() -> str:
    """Read the name that git signs commits with; empty without one."""
    try:
        found = subprocess.run(
            ["git", "config", "user.name"],
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip()

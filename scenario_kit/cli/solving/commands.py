"""``solve``: hands incidents to a solver, takes its answers, scores them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenario_kit.cli.terminal.options import Format, declare_choice
from scenario_kit.errors import UsageError

if TYPE_CHECKING:
    from scenario_kit.cli.solving.solvers import SolverChoice
    from scenario_kit.scoring.scores.run_score import TruthContext
    from scenario_kit.scoring.scores.summary import ScoreReport

_LAB = "solve"


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command(rich_help_panel="Solve it")
    def solve(
        paths: Annotated[list[Path], typer.Argument(help="Scenario files, or folders that hold some.")],
        solver: Annotated[str, typer.Option(help="A program that speaks the protocol, with its arguments.")] = "",
        baseline: Annotated[
            list[str] | None, typer.Option(help="A solver of the kit, or all; oracle and nop check the scoring.")
        ] = None,
        label: Annotated[str, typer.Option(help="What the solver's runs are called; by default its program.")] = "",
        repeats: Annotated[int, typer.Option(min=1, help="Runs of each scenario.")] = 3,
        turns: Annotated[int, typer.Option(min=1, help="Turns that a run may take.")] = 100,
        tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that a run may use.")] = None,
        seconds: Annotated[
            float | None, typer.Option(min=1, help="Seconds of the incident's time that a run may take.")
        ] = None,
        wall_seconds: Annotated[float, typer.Option(min=1, help="Seconds that a run may really take.")] = 3600.0,
        seconds_per_call: Annotated[
            float, typer.Option(min=0, help="Seconds of the incident's time that every turn costs.")
        ] = 15.0,
        stage: Annotated[
            str, declare_choice("--stage", "both", "diagnosis", help="Diagnosis and mitigation, or diagnosis alone.")
        ] = "both",
        isolation: Annotated[
            str,
            declare_choice(
                "--isolation",
                "auto",
                "full",
                "network",
                "none",
                help="Without network and files of labs; with the network; as any program; full where possible.",
            ),
        ] = "auto",
        pass_env: Annotated[
            list[str] | None, typer.Option("--pass-env", help="A variable that the solver gets, such as an API key.")
        ] = None,
        seed: Annotated[int, typer.Option(min=0, help="Seed of the first run; each further one has the next.")] = 1,
        name: Annotated[str, typer.Option("--name", help="Name of the lab, which only solvers use.")] = _LAB,
        runs: Annotated[Path, typer.Option("--runs", help="Folder for records; runs that ended are not repeated.")] = (
            Path("solutions")
        ),
        format: Format = "text",
    ) -> int:
        """Hand incidents to a solver, and score its answers.

        Exit codes: 0 all runs were made, whatever they scored; 1 an incident did not come; 2 the lab failed; 3 usage.

        Example: scenario-kit solve catalog/scenarios/product-catalog-wrong-target-port --baseline loudest-alert
        """
        from scenario_kit.cli.solving.runs import RunSettings
        from scenario_kit.solver.protocol.messages import STAGES
        from scenario_kit.solver.session.machine import SessionLimits

        limits = SessionLimits(turns=turns, tokens=tokens, seconds=seconds, wall_seconds=wall_seconds)
        stages = STAGES if stage == "both" else STAGES[:1]
        settings = RunSettings(limits, stages, repeats, seed, seconds_per_call, "Virtual", runs)
        choices = _choose_solvers(solver, baseline or [], label, isolation, pass_env or [], runs)
        reports = _solve(paths, choices, settings, name)
        _show(reports, format)
        return 0


def _choose_solvers(
    command: str, baselines: list[str], label: str, isolation: str, passed: list[str], runs: Path
) -> list[SolverChoice]:
    from scenario_kit.cli.solving.solvers import choose_baseline, choose_program
    from scenario_kit.solver.baselines.catalogue import BASELINES

    if bool(command) == bool(baselines):
        raise UsageError("who solves?", fix="one of --solver 'COMMAND' and --baseline NAME")
    if command:
        return [choose_program(command, label, isolation, passed, runs)]
    names = [name for each in baselines for name in (BASELINES if each == "all" else (each,))]
    return [choose_baseline(name) for name in dict.fromkeys(names)]


def _solve(paths: list[Path], choices: list[SolverChoice], settings: object, name: str) -> dict[str, ScoreReport]:
    from scenario_kit.cli.scoring.truths import load_contexts
    from scenario_kit.cli.solving.live import LabStage
    from scenario_kit.cli.solving.runs import RunSettings, SolverRuns
    from scenario_kit.lab.lifecycle import occupy
    from scenario_kit.load import find_scenario_files
    from scenario_kit.scoring.scores.settings import build_settings
    from scenario_kit.scoring.scores.summary import score_runs

    assert isinstance(settings, RunSettings)
    files = find_scenario_files(paths)
    contexts: dict[str, TruthContext] = {}
    for file in files:  # before a lab is started: a truth that cannot be scored is found at once
        contexts |= load_contexts(file, None, "")[0]
    scoring = build_settings(duplicates="penalise", aliases="merge", ignored=(), repeats=settings.repeats)
    with occupy(name, _say, alone=True):
        runs = SolverRuns(settings, lambda: LabStage(name, _say), _say)
        found = {each.name: [record for file in files for record in runs.run(file, each)] for each in choices}
    return {solver: score_runs(contexts, records, scoring) for solver, records in found.items()}


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _show(reports: dict[str, ScoreReport], format: str) -> None:
    from scenario_kit.cli.terminal.output import show_json, show_table

    if format == "json":
        show_json({name: report.to_json() for name, report in reports.items()})
        return
    keys = ("recall_gated_precision", "fault_localisation", "mitigation", "turns")
    rows = []
    for name, report in reports.items():
        values = [f"{report.metrics[key].mean:.3g}" if key in report.metrics else "–" for key in keys]
        rows.append((name, str(len(report.runs)), *values))
    show_table(("solver", "runs", *keys), rows)

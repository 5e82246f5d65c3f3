"""``solve`` and ``mcp``: run solvers on incidents and score their answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from scenario_kit.cli.terminal.option_groups import expand_groups
from scenario_kit.cli.terminal.options import Format, ScenarioPath, declare_choice
from scenario_kit.cli.terminal.output import print_progress, show_json, show_table
from scenario_kit.errors import UsageError
from scenario_kit.solver.programs.limits import DEFAULT_LIMITS, ProgramLimits

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from scenario_kit.cli.solving.incidents import IncidentTask, PlayedIncident
    from scenario_kit.cli.solving.live import LabStage
    from scenario_kit.cli.solving.runs import RunSettings
    from scenario_kit.cli.solving.solvers import SolverChoice
    from scenario_kit.model import Scenario
    from scenario_kit.model.results.trial import ClockMode
    from scenario_kit.scoring.runs.record import RunRecord
    from scenario_kit.scoring.scores.run_score import TruthContext
    from scenario_kit.scoring.scores.summary import ScoreReport
    from scenario_kit.solver.programs.mcp_bridge import CallBridge

#: Metrics in the table.
_SHOWN = ("recall_gated_precision", "fault_localisation", "mitigation", "escalation.score", "turns")


class RunOptions(NamedTuple):
    """Limits and settings of runs."""

    turns: Annotated[int, typer.Option(min=1, help="Maximum number of turns of a run.")] = 100
    tokens: Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens of a run.")] = None
    seconds: Annotated[
        float | None, typer.Option(min=1, help="Maximum duration of a run in seconds of incident time.")
    ] = None
    wall_seconds: Annotated[float, typer.Option(min=1, help="Maximum duration of a run in seconds of wall time.")] = (
        3600.0
    )
    seconds_per_call: Annotated[float, typer.Option(min=0, help="Seconds of incident time that each turn takes.")] = (
        15.0
    )
    clock: Annotated[
        str,
        declare_choice(
            "--clock", "virtual|wall", help="Incident time advances per turn only (virtual) or continuously (wall)."
        ),
    ] = "virtual"
    stage: Annotated[
        str, declare_choice("--stage", "both|diagnosis", help="Diagnosis and mitigation, or diagnosis only.")
    ] = "both"
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run; incremented for each further run.")] = 1
    name: Annotated[str, typer.Option("--name", help="Name of the lab, which is reserved for solvers.")] = "solve"
    runs: Annotated[Path, typer.Option("--runs", help="Folder for records; completed runs are not repeated.")] = Path(
        "solutions"
    )

    def build_settings(self, repeats: int | None = None) -> RunSettings:
        """Build the settings of the command's runs."""
        from scenario_kit.cli.solving.runs import RunSettings
        from scenario_kit.solver.protocol.messages import STAGES
        from scenario_kit.solver.session import SessionLimits

        limits = SessionLimits(
            turns=self.turns, tokens=self.tokens, seconds=self.seconds, wall_seconds=self.wall_seconds
        )
        stages = STAGES if self.stage == "both" else STAGES[:1]
        mode: ClockMode = "Wall" if self.clock == "wall" else "Virtual"
        return RunSettings(limits, stages, repeats, self.seed, self.seconds_per_call, mode, self.runs)


Label = Annotated[str, typer.Option(help="Name of the solver in records; its program by default.")]


class SolverOptions(NamedTuple):
    """The choice of solvers: exactly one of ``solver``, ``baseline`` and ``human``."""

    solver: Annotated[str, typer.Option(help="Program that speaks the solver protocol, with its arguments.")] = ""
    baseline: Annotated[
        list[str] | None, typer.Option(help="Built-in solver, or all; oracle and nop check the scoring.")
    ] = None
    human: Annotated[bool, typer.Option("--human", help="Solve interactively at this terminal.")] = False
    label: Label = ""
    isolation: Annotated[
        str,
        declare_choice(
            "--isolation",
            "auto|full|network|none",
            help="full: no network and no lab files; network: no lab files; none; auto: full if possible.",
        ),
    ] = "auto"
    pass_env: Annotated[
        list[str] | None,
        typer.Option("--pass-env", help="Environment variable to pass to the solver, such as an API key."),
    ] = None
    solver_memory: Annotated[
        int, typer.Option(min=64, help="MiB of memory for each process of the program, and for all together.")
    ] = DEFAULT_LIMITS.memory
    solver_processes: Annotated[int, typer.Option(min=8, help="Maximum number of processes of the program.")] = (
        DEFAULT_LIMITS.processes
    )
    solver_files: Annotated[
        int, typer.Option(min=64, help="Maximum number of open files of each process of the program.")
    ] = DEFAULT_LIMITS.open_files
    solver_file_size: Annotated[
        int, typer.Option(min=1, help="Maximum size in MiB of a file that the program writes.")
    ] = DEFAULT_LIMITS.file_size

    def choose(self, runs: Path) -> list[SolverChoice]:
        """Choose the solvers; ``runs`` is hidden from programs.

        Raises:
            UsageError: none or several are given, or one cannot be used.
        """
        from scenario_kit.cli.solving.solvers import choose_baseline, choose_person, choose_program
        from scenario_kit.solver.baselines.catalogue import BASELINES

        if bool(self.solver) + bool(self.baseline) + self.human != 1:
            raise UsageError(
                "no solver chosen, or several", fix="pass one of --solver 'COMMAND', --baseline NAME and --human"
            )
        if self.human:
            return [choose_person(self.label)]
        if self.solver:
            limits = ProgramLimits(self.solver_memory, self.solver_processes, self.solver_files, self.solver_file_size)
            return [choose_program(self.solver, self.label, self.isolation, self.pass_env or (), runs, limits)]
        names = [name for each in self.baseline or () for name in (BASELINES if each == "all" else (each,))]
        return [choose_baseline(name) for name in dict.fromkeys(names)]


Paths = Annotated[
    list[Path] | None, typer.Argument(help="Scenario files, or folders that contain some.", show_default=False)
]
Snapshots = Annotated[
    list[Path] | None, typer.Option(help="Solve offline: a snapshot, or a folder of snapshots; may be repeated.")
]
Truth = Annotated[
    Path | None, typer.Option(help="Ground truth of the snapshots, or a folder of truths; next to them by default.")
]
Repeats = Annotated[
    int | None, typer.Option(min=1, help="Runs per scenario; 3 by default, with --human one more than exist.")
]
Transport = Annotated[
    str, declare_choice("--transport", "stdio|http", help="Standard input and output, or streamable HTTP.")
]


@expand_groups
def solve(
    choice: SolverOptions,
    options: RunOptions,
    paths: Paths = None,
    snapshot: Snapshots = None,
    truth: Truth = None,
    repeats: Repeats = None,
    format: Format = "text",
) -> int:
    """Run a solver on incidents and score its answers.

    Exit codes: 0 all runs completed, whatever their score; 1 an incident did not occur; 2 the lab failed; 3 usage.

    With --snapshot, no lab is used, and diagnosis is the only stage because a recording cannot be repaired.

    Example: scenario-kit solve catalog/scenarios/product-catalog-wrong-target-port --baseline loudest-alert
    """
    if bool(paths) == bool(snapshot):
        raise UsageError("what is to be solved?", fix="either SCENARIO… or --snapshot FOLDER")
    if truth is not None and not snapshot:
        raise UsageError("--truth belongs to --snapshot", fix="scenarios have their truth in them")
    choices = choice.choose(options.runs)
    if snapshot:
        if options.clock == "wall":
            raise UsageError("a snapshot has no wall clock", fix="leave --clock out: turns cost time all the same")
        settings = options._replace(stage="diagnosis").build_settings(repeats)
        reports = _solve_offline(snapshot, truth, choices, settings)
    else:
        reports = _solve(paths or [], choices, options.build_settings(repeats), options.name)
    _show(reports, format)
    return 0


@expand_groups
def mcp(
    options: RunOptions,
    path: ScenarioPath,
    transport: Transport = "stdio",
    port: Annotated[int, typer.Option(min=0, max=65535, help="HTTP port on this machine; 0 picks a free one.")] = 0,
    label: Label = "mcp",
) -> int:
    """Serve one incident to an MCP client: kubectl, metrics, alerts, traces, logs, submit. Requires the extra mcp.

    The HTTP server listens on loopback only; the printed address contains a token.

    Example: scenario-kit mcp catalog/scenarios/product-catalog-wrong-target-port --transport http
    """
    from scenario_kit.cli.solving.mcp import serve_run
    from scenario_kit.cli.solving.solvers import choose_callers

    settings = options.build_settings()

    def play(file: Path, bridge: CallBridge) -> None:
        reports = _solve([file], [choose_callers(bridge, label)], settings, options.name)
        for line in _list_scores(reports):
            print_progress(": ".join(line))

    serve_run(path, transport, port, play)
    return 0


def _solve(paths: list[Path], choices: list[SolverChoice], settings: RunSettings, name: str) -> dict[str, ScoreReport]:
    from functools import cache, partial

    from scenario_kit.catalog import Catalog
    from scenario_kit.cli.scoring.truths import load_contexts
    from scenario_kit.cli.solving.incidents import IncidentTask
    from scenario_kit.cli.solving.live import LabStage
    from scenario_kit.cli.solving.runs import refuse_outdated
    from scenario_kit.lab.lifecycle import occupy
    from scenario_kit.load import find_scenario_files, load_scenario
    from scenario_kit.render import resolve

    files = find_scenario_files(paths)
    contexts: dict[str, TruthContext] = {}
    for file in files:  # before a lab is started, so that unusable truths are reported at once
        contexts |= load_contexts(file, None, "")[0]

    @cache
    def bring_stage() -> LabStage:
        return LabStage(name, print_progress)

    def build_task(file: Path) -> IncidentTask:
        scenario = load_scenario(file).scenario
        play = partial(_play_live, bring_stage, scenario, file, settings)
        digest = resolve(scenario, catalog, "app", beside=file.parent).digest
        return IncidentTask(scenario.name, scenario.spec.brief.strip(), digest, play)

    catalog = Catalog()
    tasks = [build_task(file) for file in files]
    refuse_outdated(settings, tasks, choices)  # before a lab is started
    with occupy(name, print_progress, alone=True):
        return _score(tasks, contexts, choices, settings)


def _play_live(
    bring_stage: Callable[[], LabStage], scenario: Scenario, file: Path, settings: RunSettings, trial: str, seed: int
) -> AbstractContextManager[PlayedIncident]:
    """Play a scenario in the lab, which starts when the first run needs it."""
    return bring_stage().play(scenario, file, trial, seed, settings.clock)


def _solve_offline(
    snapshots: list[Path], truth: Path | None, choices: list[SolverChoice], settings: RunSettings
) -> dict[str, ScoreReport]:
    from contextlib import closing

    from scenario_kit.cli.solving.runs import refuse_outdated
    from scenario_kit.cli.solving.snapshots import SnapshotStage, list_snapshot_tasks

    with closing(SnapshotStage()) as stage:
        found = list_snapshot_tasks(snapshots, truth, stage)
        contexts = {each.task.name: each.context for each in found}
        refuse_outdated(settings, [each.task for each in found], choices)
        return _score([each.task for each in found], contexts, choices, settings)


def _score(
    tasks: list[IncidentTask], contexts: dict[str, TruthContext], choices: list[SolverChoice], settings: RunSettings
) -> dict[str, ScoreReport]:
    """Execute all runs, one incident after the other, and score them by solver."""
    from scenario_kit.cli.solving.runs import SolverRuns
    from scenario_kit.scoring.scores.settings import ScoreSettings
    from scenario_kit.scoring.scores.summary import score_runs

    runs = SolverRuns(settings, print_progress)
    records: dict[str, list[RunRecord]] = {each.name: [] for each in choices}
    for task in tasks:
        for each in choices:
            records[each.name] += runs.run(task, each)
    return {solver: score_runs(contexts, found, ScoreSettings()) for solver, found in records.items()}


def _show(reports: dict[str, ScoreReport], format: str) -> None:
    if format == "json":
        show_json({name: report.to_json() for name, report in reports.items()})
        return
    header = ("solver", "runs", *_SHOWN)
    values = [
        [report.metrics[key].mean if key in report.metrics else None for key in _SHOWN] for report in reports.values()
    ]
    rows = [
        (name, str(len(report.runs)), *("–" if value is None else f"{value:.3g}" for value in row))
        for (name, report), row in zip(reports.items(), values, strict=True)
    ]
    show_table(header, rows)


def _list_scores(reports: dict[str, ScoreReport]) -> list[tuple[str, str]]:
    """List the scores of the last run of each solver, by metric."""
    return [
        (key, f"{report.runs[-1].values[key]:.3g}")
        for report in reports.values() for key in _SHOWN if key in report.runs[-1].values
    ]  # fmt: skip

"""Run solvers on scenarios sequentially and record the runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scenario_kit import __version__
from scenario_kit.cli.solving.folders import (
    JOURNAL,
    RECORD,
    count_ended,
    find_run_folder,
    has_ended,
    prepare_run_folder,
    write_record,
)
from scenario_kit.cli.solving.incidents import PREFIX, IncidentTask, PlayedIncident
from scenario_kit.cli.solving.solvers import SolverChoice
from scenario_kit.errors import UsageError
from scenario_kit.model.results.trial import ClockMode
from scenario_kit.scoring.files.run_records import read_run_record
from scenario_kit.scoring.files.source import read_source
from scenario_kit.scoring.runs.record import RunRecord
from scenario_kit.solver.investigation import Assignment, Investigation
from scenario_kit.solver.programs.drive import drive
from scenario_kit.solver.protocol.messages import StageName
from scenario_kit.solver.records.journal import Journal, read_journal
from scenario_kit.solver.records.run_record import RunIdentity, RunOutcome, build_run_record
from scenario_kit.solver.records.trajectory import build_trajectory
from scenario_kit.solver.session import SessionLimits


class RunSettings(NamedTuple):
    """Settings shared by all runs of one command."""

    limits: SessionLimits
    stages: tuple[StageName, ...]
    repeats: int | None
    seed: int
    seconds_per_call: float
    clock: ClockMode
    runs: Path


class SolverRuns:
    """Runs solvers sequentially."""

    def __init__(self, settings: RunSettings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = say

    def run(self, task: IncidentTask, solver: SolverChoice) -> list[RunRecord]:
        """Run a solver on an incident for the configured repeats; completed runs are read from their records.

        Raises:
            AuthoringError: the incident does not develop as declared.
            InfrastructureError: the lab failed; the current run does not count.
        """
        records = []
        repeats = self._settings.repeats or 3
        if solver.counts_on and not self._settings.repeats:
            repeats = count_ended(self._settings.runs, task.name, solver.name) + 1
        for repeat in range(1, repeats + 1):
            folder = find_run_folder(self._settings.runs, task.name, solver.name, repeat)
            what = f"{task.name}, {solver.name}, run {repeat} of {repeats}"
            if has_ended(folder):
                self._say(f"{what}: already complete")
            else:
                began = time.monotonic()
                record = self._run_once(task, solver, repeat, folder)
                self._say(f"{what}: {_describe(record)}; {time.monotonic() - began:.0f} s")
            records.append(read_run_record(read_source(folder / RECORD)))
        return records

    def _run_once(self, task: IncidentTask, solver: SolverChoice, repeat: int, folder: Path) -> dict[str, Any]:
        settings = self._settings
        prepare_run_folder(folder)
        trial = name_incident(task.name, solver.name, settings.seed, repeat)
        began = time.monotonic()
        with task.play(trial, settings.seed + repeat - 1) as played:
            investigation, journal = self._investigate(task, trial, played, solver, folder)
            ended = played.incident.now()
            resolved, because = played.incident.judge() if "mitigation" in settings.stages else (None, ())
            identity = RunIdentity(
                run_id=f"{solver.name}-{repeat}", scenario=task.name, digest=played.digest,
                solver=solver.name, repeat=repeat, seed=settings.seed + repeat - 1, version=__version__,
            )  # fmt: skip
            outcome = RunOutcome(
                resolved=resolved, because=because, changed=played.incident.list_changed(),
                isolation=solver.isolation.message, wall_seconds=round(time.monotonic() - began, 2),
            )  # fmt: skip
            times = played.incident.measure(investigation.began, ended)
            lines = read_journal(journal)
            record = build_run_record(identity, settings.limits, investigation.state, times, outcome, lines)
            write_record(folder, record, build_trajectory(identity, investigation.state, lines))
        return record

    def _investigate(
        self, task: IncidentTask, trial: str, played: PlayedIncident, solver: SolverChoice, folder: Path
    ) -> tuple[Investigation, Path]:
        journal = Journal(folder / JOURNAL)
        try:
            given = self._settings
            assigned = Assignment(trial, task.brief, given.stages, given.seconds_per_call)
            investigation = Investigation(assigned, played.sources, played.incident, journal, given.limits)
            drive(investigation, solver.start(played, folder))
        finally:
            journal.close()
        return investigation, journal.path


def refuse_outdated(settings: RunSettings, tasks: Sequence[IncidentTask], choices: Sequence[SolverChoice]) -> None:
    """Refuse complete runs of another version of an incident: they would count beside runs of this one.

    Raises:
        UsageError: a record was made with another version of its incident.
    """
    for task in tasks:
        for solver in choices:
            for number in range(1, count_ended(settings.runs, task.name, solver.name) + 1):
                path = find_run_folder(settings.runs, task.name, solver.name, number) / RECORD
                observed = read_run_record(read_source(path)).digest
                if observed and task.digest and observed != task.digest:
                    raise UsageError(
                        f"{path} was made with another version of {task.name}: its digest is {observed}, that of the "
                        f"incident now {task.digest}",
                        fix="choose another folder with --runs, move the old runs away, or check out the version of "
                        "the scenario that they were made with",
                    )


def name_incident(scenario: str, solver: str, seed: int, repeat: int) -> str:
    """Build an incident name that does not reveal the fault."""
    text = f"{scenario} {solver} {seed} {repeat}"
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:8]


def _describe(record: dict[str, Any]) -> str:
    parts = [f"{record['turns']} turns, {record['stop_reason']}"]
    if (message := record.get("stop_message")) and record["stop_reason"] in ("error", "timeout", "escalated"):
        parts.append(str(message)[:120])
    if "resolved" in record:
        parts.append("resolved" if record["resolved"] else "not resolved")
    return "; ".join(parts)

"""Read runs of solvers: single files, files of records, or folders in the layout of ITBench's evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.load import suggest_path
from scenario_kit.model.base import encode_json
from scenario_kit.scoring.files.answers import format_problem
from scenario_kit.scoring.files.incident_names import normalise_incident
from scenario_kit.scoring.files.run_records import fill_answer, is_run_record, read_run_record
from scenario_kit.scoring.files.source import read_lines, read_source
from scenario_kit.scoring.files.stirrup_records import is_stirrup_record, read_stirrup_record
from scenario_kit.scoring.runs.record import RunRecord

#: Files of a trial's answer, in order of preference.
ANSWER_FILES: Final = (
    "outputs/agent_output.json", "outputs/agent_response.json", "agent_output.json", "agent_response.json"
)  # fmt: skip


def read_runs(paths: Sequence[Path], incidents: Sequence[str]) -> list[RunRecord]:
    """Read the runs at paths; a single answer belongs to the only incident, or to the one named by its folder.

    Raises:
        UsageError: a path does not exist or contains no runs, or the incident of an answer is unknown.
        AuthoringError: a record is invalid.
    """
    runs = [run for path in paths for run in _read_path(path, incidents)]
    known = {normalise_incident(name): name for name in incidents}
    for run in runs:
        if normalise_incident(run.incident) not in known:
            raise UsageError(
                f"no ground truth for incident '{run.incident}' of run '{run.trial}'",
                fix=f"also pass its ground truth; given are: {', '.join(sorted(incidents)[:20])}",
            )
    placed = [msgspec.structs.replace(run, incident=known[normalise_incident(run.incident)]) for run in runs]
    _refuse_repeated(placed)
    return _number_trials(placed)


def _read_path(path: Path, incidents: Sequence[str]) -> Iterator[RunRecord]:
    if not path.exists():
        raise UsageError(f"{path} does not exist", fix=suggest_path(path) or "pass an answer, or a folder of runs")
    if path.is_dir():
        found = list(_read_folder(path, incidents))
        if not found:
            raise UsageError(
                f"{path} contains no runs",
                fix="expected <incident>/<trial>/agent_output.json, or run records as *.json",
            )
        yield from found
    elif path.suffix == ".jsonl":
        yield from map(read_run_record, read_lines(path))
    else:
        run = _read_file(path, "", "")
        yield run if run.incident else msgspec.structs.replace(run, incident=_guess_incident(path, run, incidents))


def _read_folder(folder: Path, incidents: Sequence[str]) -> Iterator[RunRecord]:
    """Read ITBench's output tree, one incident of it, or the records below a folder."""
    known = {normalise_incident(name) for name in incidents}
    if normalise_incident(folder.name) in known and _list_trials(folder):
        yield from _read_trials(folder)
        return
    trees = [each for each in sorted(folder.iterdir()) if each.is_dir() and normalise_incident(each.name) in known]
    for tree in trees:
        yield from _read_trials(tree)
    if not trees:
        for path in sorted(folder.rglob("*.json")):
            if (run := _read_if_record(path)) is not None:
                yield run
        for path in sorted(folder.rglob("*.jsonl")):
            yield from map(read_run_record, read_lines(path))


def _read_trials(tree: Path) -> Iterator[RunRecord]:
    for trial in sorted(_list_trials(tree), key=lambda each: int(each.name)):
        yield _read_trial(tree.name, trial)


def _list_trials(folder: Path) -> list[Path]:
    """List the trial folders, whose names are numbers, as the evaluator does."""
    return [each for each in folder.iterdir() if each.is_dir() and each.name.isdecimal()]


def _read_if_record(path: Path) -> RunRecord | None:
    source = read_source(path)
    if is_stirrup_record(source.data):
        return read_stirrup_record(source)
    return read_run_record(source) if is_run_record(source.data) else None


def _read_trial(incident: str, folder: Path) -> RunRecord:
    """Read a trial; without an answer file, the run gave no answer."""
    path = next((folder / name for name in ANSWER_FILES if (folder / name).exists()), None)
    if path is None:
        return RunRecord(incident=incident, trial=folder.name, problem=f"{folder}: no agent_output.json")
    return _read_file(path, incident, folder.name)


def _read_file(path: Path, incident: str, trial: str) -> RunRecord:
    """Read a record or an answer. An answer that is not JSON counts as no answer."""
    try:
        source = read_source(path)
    except AuthoringError as error:
        return RunRecord(incident=incident, trial=trial, state="Invalid", problem=format_problem(error))
    if is_stirrup_record(source.data) or is_run_record(source.data):
        record = read_stirrup_record(source) if is_stirrup_record(source.data) else read_run_record(source)
        return record if record.incident else msgspec.structs.replace(record, incident=incident)
    return fill_answer(RunRecord(incident=incident, trial=trial), source)


def _guess_incident(path: Path, run: RunRecord, incidents: Sequence[str]) -> str:
    if len(incidents) == 1:
        return incidents[0]
    known = {normalise_incident(name): name for name in incidents}
    names = [normalise_incident(part) for part in reversed(path.absolute().parts[:-1])]
    found = next((known[name] for name in names if name in known), "")
    if not found:
        why = f"; it is no answer either: {run.problem}" if run.state == "Invalid" else ""
        raise UsageError(
            f"{path}: the incident of this answer is unknown{why}",
            fix="pass a single ground truth, or move the answer below a folder named after its incident",
        )
    return found


def _refuse_repeated(runs: Sequence[RunRecord]) -> None:
    """Refuse a run that is given twice: it would weigh twice, and stand for one that is missing."""
    seen: set[bytes] = set()
    for run in runs:
        content = encode_json(run)
        if run.trial and content in seen:
            who = f", by {run.solver}" if run.solver else ""
            raise UsageError(
                f"run '{run.trial}' of incident '{run.incident}' is given twice{who}",
                fix="pass every record once; two runs never have the same `run_id`, calls and times",
            )
        seen.add(content)


def _number_trials(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Number unnamed runs, per incident."""
    counts: dict[str, int] = {}
    numbered = []
    for run in runs:
        counts[run.incident] = counts.get(run.incident, 0) + 1
        numbered.append(run if run.trial else msgspec.structs.replace(run, trial=str(counts[run.incident])))
    return numbered

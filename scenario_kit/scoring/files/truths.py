"""Read ITBench ground truths: a file, a list, an ITBench-AA table, or folders of incidents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast, get_args

import msgspec

from scenario_kit.errors import UsageError
from scenario_kit.load import suggest_path
from scenario_kit.model import Finding
from scenario_kit.model.json_document import Place
from scenario_kit.scoring.entities.truth import IncidentTruth, Outcome
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.incident_names import normalise_incident
from scenario_kit.scoring.files.itbench_truth import is_itbench_truth, read_itbench_truth
from scenario_kit.scoring.files.source import Source, parse_source, read_lines, read_source
from scenario_kit.scoring.scores.problems import find_truth_problems

#: File names of the ground truth in a folder, in order of preference. ITBench (commit 8949d5b2, 2026-08-19) has two in
#: each folder: version 1 also has propagations, version 2 (`groundtruth`) lists the roots alone.
TRUTH_FILES: Final = tuple(
    f"{name}.{kind}"
    for name in ("ground_truth", "groundtruth_v1", "groundtruth", "gt")
    for kind in ("yaml", "yml", "json")
)
LIST_FILE: Final = "ground_truths.json"
#: What a snapshot of this kit says beside ITBench's truth, which cannot say that nothing is broken.
OWN_FILE: Final = "scenario_truth.json"


class LoadedTruth(NamedTuple):
    """A ground truth, and warnings about its file."""

    truth: IncidentTruth
    warnings: tuple[Finding, ...] = ()


def read_truths(path: Path) -> list[LoadedTruth]:
    """Read the ITBench ground truths at a path.

    Raises:
        UsageError: the path does not exist or contains no ground truth.
        AuthoringError: a ground truth is invalid, or has a root that no answer can name.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist", fix=suggest_path(path) or "pass a ground truth")
    if path.is_dir():
        return _read_folder(path)
    if path.suffix == ".jsonl":
        return [_read_row(source, number) for number, source in enumerate(read_lines(path))]
    source = read_source(path)
    if isinstance(source.data, list):
        return [_read(source, (i,), "") for i in range(len(source.data))]
    if isinstance(source.data, dict) and source.data and all(map(is_itbench_truth, source.data.values())):
        return [_read(source, (name,), name) for name in source.data]
    return [_read(source, (), _name_by_folder(path), _read_outcome(path))]


def _read_outcome(path: Path) -> Outcome:
    """Read from the file beside a truth whether there is an incident at all; without one, there is."""
    own = path.with_name(OWN_FILE)
    if path.name not in TRUTH_FILES or not own.is_file():
        return "Incident"
    source = read_source(own)
    found = source.data.get("outcome", "Incident") if isinstance(source.data, dict) else None
    if found not in get_args(Outcome):
        mistakes = Mistakes(source)
        mistakes.note(("outcome",), "this is no outcome", expected=", ".join(get_args(Outcome)), fix="correct it")
        mistakes.raise_errors()
    return cast("Outcome", found)


def find_truth_file(folder: Path) -> Path | None:
    """Find the ground truth file of an incident in its folder."""
    return next((folder / name for name in TRUTH_FILES if (folder / name).is_file()), None)


def _read_folder(folder: Path) -> list[LoadedTruth]:
    if (own := find_truth_file(folder)) is not None:
        return read_truths(own)
    if (folder / LIST_FILE).is_file():
        return read_truths(folder / LIST_FILE)
    files = [file for each in sorted(folder.iterdir()) if each.is_dir() and (file := find_truth_file(each))]
    if not files:
        raise UsageError(
            f"{folder} contains no ground truth",
            fix=f"expected <incident>/{TRUTH_FILES[0]}, {LIST_FILE}, or scenario.yaml",
        )
    return [loaded for file in files for loaded in read_truths(file)]


def _read(source: Source, place: Place, incident: str, outcome: Outcome = "Incident") -> LoadedTruth:
    mistakes = Mistakes(source)
    data = source.data
    for step in place:
        data = data[step]
    fields = Fields(mistakes, place, data)
    if isinstance(data, dict) and not is_itbench_truth(data):
        expected = "groups, or kind: GroundTruth"
        mistakes.note_missing(place, "not a ground truth", expected=expected, fix="pass a ground truth or a scenario")
    mistakes.raise_errors()
    given = next(
        (text for name in ("id", "scenario_id", "incident_id") if (text := fields.read_text(name, numbers=True))), ""
    )
    truth = msgspec.structs.replace(read_itbench_truth(fields, incident or given), outcome=outcome)
    for problem in find_truth_problems(truth):
        mistakes.note(place, problem.message, expected=problem.expected, fix=problem.fix)
    mistakes.raise_errors()
    name = normalise_incident(truth.incident) or str(place[-1] if place else "1")
    return LoadedTruth(msgspec.structs.replace(truth, incident=name), tuple(mistakes.findings))


def _read_row(row: Source, number: int) -> LoadedTruth:
    """Read a row of an ITBench-AA table, whose ground truth is YAML text."""
    mistakes = Mistakes(row)
    fields = Fields(mistakes, (), row.data)
    text = fields.read_text("ground_truth_yaml", required=True)
    name = fields.read_text("scenario_id", numbers=True) or fields.read_text("id_aa", numbers=True) or str(number + 1)
    mistakes.raise_errors()
    return _read(parse_source(text, f"{row.path}#{name}"), (), name)


def _name_by_folder(path: Path) -> str:
    """Return the incident name from the folder of a ground truth file; empty for other file names."""
    return normalise_incident(path.absolute().parent.name) if path.name in TRUTH_FILES else ""


def list_incidents(truths: Sequence[LoadedTruth]) -> list[str]:
    """List the names of incidents.

    Raises:
        UsageError: two ground truths have the same name.
    """
    names = [loaded.truth.incident for loaded in truths]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"duplicate ground truth '{name}'", fix="pass only one of them")
    return names

"""Folders of runs: ``<runs>/<scenario>/<solver>/<repeat>/``; a run with a record is complete."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from scenario_kit.load.atomic_file import replace_file
from scenario_kit.model.base import encode_json

RECORD: Final = "record.json"
TRAJECTORY: Final = "trajectory.json"
JOURNAL: Final = "journal.jsonl"
ERRORS: Final = "solver.err"
WORK: Final = "work"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def name_solver(label: str, command: Sequence[str]) -> str:
    """Return the folder name of a solver: its label, else its program."""
    return _UNSAFE.sub("-", label or Path(command[0]).name if command else label).strip("-.") or "solver"


def find_run_folder(runs: Path, scenario: str, solver: str, repeat: int) -> Path:
    """Return the folder of a run."""
    return runs / scenario / solver / str(repeat)


def count_ended(runs: Path, scenario: str, solver: str) -> int:
    """Count the consecutive complete runs, from the first one."""
    number = 0
    while has_ended(find_run_folder(runs, scenario, solver, number + 1)):
        number += 1
    return number


def has_ended(folder: Path) -> bool:
    """Return whether a run is complete."""
    return (folder / RECORD).is_file()


def prepare_run_folder(folder: Path) -> Path:
    """Create the folder of a new run and return the solver's working folder; an unfinished run is moved aside."""
    if folder.exists():
        number = 1
        while (aside := folder.with_name(f"{folder.name}.unfinished-{number}")).exists():
            number += 1
        folder.rename(aside)
    work = folder / WORK
    work.mkdir(parents=True)
    return work


def write_record(folder: Path, record: dict[str, Any], trajectory: dict[str, Any]) -> None:
    """Write the trajectory of a run, then its record, each atomically; a run with a record has both."""
    _write(folder / TRAJECTORY, trajectory)
    _write(folder / RECORD, record)


def _write(path: Path, document: dict[str, Any]) -> None:
    replace_file(path, msgspec.json.format(encode_json(document), indent=2) + b"\n")

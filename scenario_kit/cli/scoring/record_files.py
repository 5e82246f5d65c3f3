"""Find the records of runs below given paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from scenario_kit.errors import UsageError
from scenario_kit.scoring.files.run_records import is_run_record
from scenario_kit.scoring.files.source import read_source


def find_records(paths: Iterable[Path]) -> Iterator[Path]:
    """Find the records below folders; a path to a file is a record under any name.

    Raises:
        UsageError: a path does not exist, a folder has no record, or a file is not one.
        AuthoringError: a file cannot be read as JSON.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}", fix="name the folder that `scenario-kit solve --runs` wrote")
        if path.is_file():
            yield _check_record(path)
            continue
        found = sorted((*path.rglob("record.json"), *path.rglob("*.jsonl")))
        records = [each for each in found if each.name == "record.json" or not (each.parent / "record.json").exists()]
        if not records:
            raise UsageError(f"{path} holds no record.json and no *.jsonl", fix="scenario-kit solve … --runs FOLDER")
        yield from map(_check_record, records)


def _check_record(path: Path) -> Path:
    """Check that a file is a record, or has one in each line; otherwise the run cannot be identified."""
    if path.suffix != ".jsonl" and not is_run_record(read_source(path).data):
        raise UsageError(f"{path} is not a run record", fix="a record has `run_id` and `scenario` (docs/scoring.md)")
    return path

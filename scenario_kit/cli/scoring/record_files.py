"""Where the records of runs lie below what somebody names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from scenario_kit.errors import UsageError


def find_records(paths: Iterable[Path]) -> Iterator[Path]:
    """Find the records below folders; a file is one, whatever it is called.

    Raises:
        UsageError: there is no such path, or no record below a folder.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no {path}", fix="name the folder that `scenario-kit solve --runs` wrote")
        if path.is_file():
            yield path
            continue
        found = sorted((*path.rglob("record.json"), *path.rglob("*.jsonl")))
        records = [each for each in found if each.name == "record.json" or not (each.parent / "record.json").exists()]
        if not records:
            raise UsageError(f"{path} holds no record.json and no *.jsonl", fix="scenario-kit solve … --runs FOLDER")
        yield from records

"""The matrix of an app: ``matrix.jsonl`` beside its definition, one line for each fault type on each target.

`ci/matrix` writes it. It is what drafts promise and what incidents are compared with; an app without it has neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.model.results.matrix import MatrixRow

FILE: Final = "matrix.jsonl"


def read_rows(path: Path) -> list[MatrixRow]:
    """Read the records of a file, the last one for each fault type, version of it, and target; none where there is no
    file.

    Half a line, which whoever was interrupted leaves, is no record.

    Raises:
        AuthoringError: a line is none.
    """
    if not path.is_file():
        return []
    decoder = msgspec.json.Decoder(MatrixRow)
    found: dict[tuple[str, str, str, int, str], MatrixRow] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.endswith(b"}"):
            continue
        try:
            row = decoder.decode(line)
        except msgspec.ValidationError as problem:
            reported = f"{path}:{number}: no record of a trial: {problem}"
            raise AuthoringError(reported, fix="take the line out; ci/matrix tries the pair again") from problem
        found[row.app, row.version, row.fault, row.change, row.target] = row
    return list(found.values())


def select_current(found: Iterable[MatrixRow], version: str, changes: dict[str, int]) -> tuple[MatrixRow, ...]:
    """Select those of one version of the app whose fault types are still the same; ``changes`` are their versions by
    name.
    """
    return tuple(row for row in found if row.version == version and changes.get(row.fault) == row.change)

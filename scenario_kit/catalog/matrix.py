"""The matrix of an app: ``matrix.jsonl`` beside its definition, one line for each fault type on each target.

`ci/matrix` writes it. Drafts take their expectations from it, and incidents are compared with it.
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
    """Read the latest record per fault type, version and target; empty without a file.

    Partial lines from an interrupted write are skipped.

    Raises:
        AuthoringError: a line is invalid.
    """
    if not path.is_file():
        return []
    found: dict[tuple[str, str, str, int, str], MatrixRow] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.endswith(b"}"):
            continue
        try:
            row = MatrixRow.from_json(msgspec.json.decode(line))
        except msgspec.ValidationError as error:
            message = f"{path}:{number}: invalid record: {error}"
            raise AuthoringError(message, fix="remove the line and run ci/matrix again") from error
        found[row.app, row.version, row.fault, row.change, row.target] = row
    return list(found.values())


def select_current(found: Iterable[MatrixRow], version: str, changes: dict[str, int]) -> tuple[MatrixRow, ...]:
    """Select the rows of one app version whose fault types have not changed; ``changes`` maps types to versions."""
    return tuple(row for row in found if row.version == version and changes.get(row.fault) == row.change)

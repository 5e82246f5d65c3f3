"""Source excerpt of a finding, with a caret below its position."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenario_kit.errors import ScenarioKitError

if TYPE_CHECKING:
    from scenario_kit.model import Finding

#: Codes of findings on the form of a file, for which an excerpt helps.
_FORM: Final = re.compile(r"SK10[1-6]$")
#: Maximum width of an excerpt, and the columns kept left of the caret in a longer line.
_MAX_WIDTH: Final = 100
_BEFORE: Final = 40


def format_excerpt(finding: Finding) -> list[str]:
    """Format the line of a finding with a caret, preceded by those of related places in the same file."""
    at = finding.position
    if at is None or not _FORM.match(finding.code):
        return []
    try:
        lines = _read_lines(Path(at.path), Path(at.path).stat().st_mtime_ns)
    except OSError:
        return []
    related = [(each.line, each.column) for each in finding.related if each.path == at.path and each.line != at.line]
    places = [*related, (at.line, at.column)]
    width = len(str(max(line for line, _ in places)))
    return [shown for place in places for shown in _mark_columns(lines, *place, width)]


@lru_cache(maxsize=1)
def _read_lines(path: Path, changed: int) -> list[str]:  # noqa: ARG001 - part of the cache key
    from scenario_kit.load.yaml.document import read_text

    try:
        return read_text(path).removeprefix("\ufeff").split("\n")
    except (ScenarioKitError, OSError):
        return []


def _mark_columns(lines: list[str], number: int, column: int, width: int) -> Iterator[str]:
    if not 0 < number <= len(lines):
        return
    line = lines[number - 1]
    room = min(_MAX_WIDTH, max(shutil.get_terminal_size().columns - width - 7, _BEFORE + 10))
    first = max(0, column - 1 - _BEFORE) if len(line) > room else 0
    shown = ("…" if first else "") + line[first : first + room + 1].rstrip("\r").replace("\t", " ")
    while _measure_width(shown) > room:
        shown = shown[:-2] + "…"
    caret = _measure_width(line[first : column - 1]) + (1 if first else 0)
    yield f"  {number:>{width}} | {shown}".rstrip()
    yield f"  {'':>{width}} | {' ' * caret}^"


def _measure_width(text: str) -> int:
    """Return the width of a text in terminal columns."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1 for c in text
    )

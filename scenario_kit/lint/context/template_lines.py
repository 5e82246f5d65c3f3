"""Find the line of a template from which a field of an app's object comes.

A template does not record what it produced. Its lines are indented as YAML, so the names above a line tell to which
field it belongs: the line counts whose names agree with most of the steps to the field, in the document that names the
object, if one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.model import Object, Position
from scenario_kit.model.json_document import Place

_NAME: Final = re.compile(r"""(?:^|[-{,\s])["']?([A-Za-z_$][-\w./$]*)["']?\s*:(?=\s|$)""")


def find_template_line(templates: Mapping[Path, str], obj: Object, place: Place) -> Position | None:
    """Return the position of the field's name in the templates; None if none of its names stands there."""
    names = [str(step) for step in place if isinstance(step, str)]
    metadata = obj.get("metadata") or {}
    marks = [f"kind: {obj.get('kind')}", str(metadata.get("name", ""))]
    for depth in range(len(names), 0, -1):
        best: tuple[tuple[int, int], Position] | None = None
        for path, text in templates.items():
            for agreed, at in _find_name(path, text, names[:depth], marks):
                if best is None or agreed > best[0]:
                    best = agreed, at
        if best is not None:
            return best[1]
    return None


def _find_name(
    path: Path, text: str, names: Sequence[str], marks: Sequence[str]
) -> Iterator[tuple[tuple[int, int], Position]]:
    """Yield each position of the last name, with how many names above it agree, and marks of the object beside it."""
    above: list[tuple[int, str]] = []
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("---")]
    for i, line in enumerate(lines):
        if line.startswith("---"):
            above = []
        for match in _NAME.finditer(line):
            column = match.start(1)
            above = [each for each in above if each[0] < column]
            above.append((column, match[1]))
            if match[1] == names[-1]:
                at = Position(path=str(path), line=i + 1, column=column + 1)
                agreed = _count_agreeing([name for _, name in above], names)
                yield (agreed, _count_marks(lines, starts, i, marks)), at


def _count_agreeing(above: Sequence[str], names: Sequence[str]) -> int:
    count = 0
    for one, other in zip(reversed(above), reversed(names), strict=False):
        if one != other:
            break
        count += 1
    return count


def _count_marks(lines: Sequence[str], starts: Sequence[int], i: int, marks: Sequence[str]) -> int:
    """Count the marks of an object in the document of a line."""
    begin = max((start for start in starts if start <= i), default=0)
    end = min((start for start in starts if start > i), default=len(lines))
    document = "\n".join(lines[begin:end])
    return sum(bool(mark) and mark in document for mark in marks)

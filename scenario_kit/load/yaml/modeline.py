"""The comment in which an editor reads where the schema of a file lies: ``# yaml-language-server: $schema=PATH``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

#: Folders of schemas: in a checkout of this project, and of the copies that lie beside scenarios elsewhere.
IN_CHECKOUT: Final = Path("schema")
COPIES: Final = Path(".schema")
_MODELINE: Final = re.compile(r"(#[ \t]*yaml-language-server[ \t]*:[ \t]*\$schema=)(\S{1,500})(?!\S)")


class Modeline(NamedTuple):
    """The path that the comment names, and where that begins: line and column, from zero."""

    schema: str
    line: int
    column: int


def find_modeline(text: str) -> Modeline | None:
    """Find the first such comment above the content of a file."""
    for number, line in enumerate(text.split("\n")):
        if found := _MODELINE.match(line):
            return Modeline(found[2], number, found.start(2))
        if line.strip() and not line.startswith(("#", "---", "%")):
            return None
    return None


def replace_schema(text: str, schema: str) -> str:
    """Return the text with another path in its comment; unchanged without one."""
    found = find_modeline(text)
    if found is None:
        return text
    lines = text.split("\n")
    line = lines[found.line]
    lines[found.line] = line[: found.column] + schema + line[found.column + len(found.schema) :]
    return "\n".join(lines)


def exists(file: Path, schema: str) -> bool:
    """Return whether there is a file at the path that the comment of a file names; no text is too odd to ask."""
    return os.path.isfile(file.absolute().parent / schema)  # noqa: PTH113 - a name that is too long raises elsewhere


def find_schema(file: Path, name: str) -> Path | None:
    """Find the schema of that name for a file: the nearest one in a folder above that holds schemas."""
    for parent in file.absolute().parent.parents:
        for folder in (COPIES, IN_CHECKOUT):
            if (parent / folder / name).is_file():
                return parent / folder / name
    return None


def make_schema_path(file: Path, schema: Path) -> str:
    """Make the path of a schema as the comment of a file spells it."""
    return Path(os.path.relpath(schema, file.absolute().parent)).as_posix()

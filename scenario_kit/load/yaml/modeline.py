"""The comment that names a file's schema for editors: ``# yaml-language-server: $schema=PATH``."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

#: Schema folders: in a checkout of this project, and beside scenarios outside of one.
IN_CHECKOUT: Final = Path("schema")
COPIES: Final = Path(".schema")
_MODELINE: Final = re.compile(r"(#[ \t]*yaml-language-server[ \t]*:[ \t]*\$schema=)(\S{1,500})(?!\S)")


class Modeline(NamedTuple):
    """The path in the comment, and where it begins: line and column from zero."""

    schema: str
    line: int
    column: int


def find_modeline(text: str) -> Modeline | None:
    """Find the first such comment before the content of a file."""
    for number, line in enumerate(text.split("\n")):
        if found := _MODELINE.match(line):
            return Modeline(found[2], number, found.start(2))
        if line.strip() and not line.startswith(("#", "---", "%")):
            return None
    return None


def replace_schema(text: str, schema: str) -> str:
    """Replace the path in the comment; unchanged without one."""
    found = find_modeline(text)
    if found is None:
        return text
    lines = text.split("\n")
    line = lines[found.line]
    lines[found.line] = line[: found.column] + schema + line[found.column + len(found.schema) :]
    return "\n".join(lines)


def exists(file: Path, schema: str) -> bool:
    """Return whether the schema that a file names exists."""
    return os.path.isfile(file.absolute().parent / schema)  # noqa: PTH113 - Path raises if the name is too long


def find_schema(file: Path, name: str) -> Path | None:
    """Return the nearest schema of that name in a schema folder of the file's ancestors."""
    for parent in file.absolute().parent.parents:
        for folder in (COPIES, IN_CHECKOUT):
            if (parent / folder / name).is_file():
                return parent / folder / name
    return None


def make_schema_path(file: Path, schema: Path) -> str:
    """Return the relative path of a schema for the comment of a file."""
    return Path(os.path.relpath(schema, file.absolute().parent)).as_posix()

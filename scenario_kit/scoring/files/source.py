"""Parse YAML or large JSON files into plain values with positions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.load.yaml.document import build_syntax_error, parse, read_text
from scenario_kit.model import Finding, Position
from scenario_kit.model.json_document import Place
from scenario_kit.scoring.files.json_position import count_lines, find_offset

#: Maximum size in bytes; it allows for topologies of some hundred thousand nodes.
MAX_BYTES: Final = 512 * 1024 * 1024
_MARK: Final = "\ufeff"
#: The reason for which Python reads no number of several thousand digits.
_LONG_NUMBER: Final = "a number has too many digits"


class Source(NamedTuple):
    """The contents of a file, and a function that returns the position of a path."""

    path: str
    data: Any
    locate: Callable[[Place], Position]


def read_source(path: Path) -> Source:
    """Read a file by its extension; without one, as JSON if it looks like JSON, else as YAML.

    Raises:
        UsageError: no such file.
        AuthoringError: a syntax error, with its position.
    """
    return parse_source(read_text(path, MAX_BYTES).removeprefix(_MARK), str(path))


def parse_source(text: str, path: str) -> Source:
    """Parse text; ``path`` appears in positions. Raises like ``read_source``."""
    unknown = not path.endswith((".json", ".yaml", ".yml"))
    if path.endswith(".json") or (unknown and text.lstrip()[:1] in ("{", "[")):
        return _parse_json(text, path)
    document = parse(text, path)
    if document.findings:
        raise AuthoringError(f"{path}: invalid file", document.findings)
    return Source(path, document.data, lambda place: document.positions.value(*place))


def read_lines(path: Path) -> list[Source]:
    """Read a file with one JSON value per line, skipping empty lines. Raises like ``read_source``."""
    lines = read_text(path, MAX_BYTES).removeprefix(_MARK).split("\n")
    return [_parse_json(line, str(path), number) for number, line in enumerate(lines) if line.strip()]


def _parse_json(text: str, path: str, before: int = 0) -> Source:
    """Parse JSON; ``before`` is the number of preceding lines in the file."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise _refuse(text, path, before, str(error)) from error

    def locate(place: Place) -> Position:
        line, column = count_lines(text, find_offset(text, place))
        return Position(path=path, line=line + before, column=column)

    return Source(path, data, locate)


def _refuse(text: str, path: str, before: int, reason: str) -> AuthoringError:
    line, column = 1, 1
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        reason, line, column = error.msg, error.lineno, error.colno
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError:
        reason = _LONG_NUMBER
    message, fix = f"the file is not JSON: {reason}", "write one valid JSON document"
    finding: Finding = build_syntax_error(path, (line + before - 1, column - 1), message, fix)
    return AuthoringError(f"{finding.position}: {message}", (finding,), fix=fix)

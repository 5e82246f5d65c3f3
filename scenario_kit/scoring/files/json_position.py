"""Positions of values in JSON text, computed only for findings."""

from __future__ import annotations

import json
import re
from typing import Final

from scenario_kit.model.json_document import Place

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


def find_offset(text: str, place: Place) -> int:
    """Return the offset of the value at a path in valid JSON, or of its nearest existing ancestor.

    Of duplicate keys the last one counts, as in decoding.
    """
    at = _skip(text, 0)
    for step in place:
        found = _find_member(text, at, step)
        if found is None:
            return at
        at = found
    return at


def count_lines(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset, from 1."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _find_member(text: str, at: int, step: str | int) -> int | None:
    opened, found, index = text[at], None, 0
    if opened not in "{[":
        return None
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        name: str | int = index
        if opened == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # after the colon
        if name == step:
            found = at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return found


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # the pattern matches the empty string
    return match.end()

"""The journal of a run: an append-only file with every message in order, one JSON object per line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from scenario_kit.errors import AuthoringError
from scenario_kit.model.base import encode_json, to_plain
from scenario_kit.solver.protocol.messages import KitMessage, SolverMessage


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, tag="message"):
    """A message. ``now`` is incident time and ``wall`` is wall time, both in seconds since the epoch."""

    sender: Literal["solver", "kit"]
    now: float
    wall: float
    message: dict[str, Any]


class BadLineEntry(msgspec.Struct, frozen=True, kw_only=True, tag="line"):
    """An invalid line of a solver, truncated."""

    now: float
    wall: float
    text: str
    problem: str


JournalLine = JournalEntry | BadLineEntry


class Journal:
    """A journal open for writing. Each line is synced to disk before its message takes effect."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("xb")

    def write(self, line: JournalLine) -> None:
        """Append a line."""
        self._file.write(encode_json(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def write_message(self, message: SolverMessage | KitMessage, *, solver: bool, now: float, wall: float) -> None:
        """Append a message."""
        plain = to_plain(message)
        self.write(JournalEntry(sender="solver" if solver else "kit", now=now, wall=wall, message=plain))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_journal(path: Path) -> list[JournalLine]:
    """Read a journal, without a truncated last line (left by a killed writer).

    Raises:
        AuthoringError: any other line is invalid.
    """
    return list(_read_lines(path))


def _read_lines(path: Path) -> Iterator[JournalLine]:
    decoder = msgspec.json.Decoder(JournalLine)
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            if number == len(lines):  # truncated: no newline at its end
                return
            raise AuthoringError(
                f"{path}:{number}: not a journal entry: {error}", fix="journals are not written by hand"
            ) from error

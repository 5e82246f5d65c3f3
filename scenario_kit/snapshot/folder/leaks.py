"""Scan a snapshot, as its solver reads it, for the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.judge.leaks import ReadableText, Token, find_leaks, list_tokens
from scenario_kit.model import Finding, Runbook
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP

_CHUNK: Final = 1 << 20
#: Overlap of consecutive chunks in bytes, longer than any token.
_OVERLAP: Final = 4096
#: Separators that are ignored in comparisons.
_JOINTS: Final = b"-_. \t\r\n\\"


def scan_folder(folder: Path, runbook: Runbook) -> list[Finding]:
    """Scan names and contents of all files for texts that reveal the answer; one finding each."""
    tokens = [*list_tokens(runbook), Token(text=CHAOS_GROUP, what="a trace of the fault injector", injector=True)]
    return find_leaks(_read_suspicious(folder, tokens), tokens)


def _read_suspicious(folder: Path, tokens: Sequence[Token]) -> Iterator[ReadableText]:
    """Yield chunks of files that contain the letters of a token, as candidates for the exact search."""
    needles = {_squeeze(token.text.encode()) for token in tokens} - {b""}
    for path in sorted(folder.rglob("*")):
        where = path.relative_to(folder).as_posix()
        yield ReadableText(where=where, text=where)
        if path.is_file():
            for piece in _read_pieces(path):
                squeezed = _squeeze(piece)
                if any(needle in squeezed for needle in needles):
                    yield ReadableText(where=where, text=piece.decode("utf-8", "replace"))


def _squeeze(text: bytes) -> bytes:
    return text.lower().translate(None, _JOINTS)


def _read_pieces(path: Path) -> Iterator[bytes]:
    """Read a file in overlapping chunks."""
    with path.open("rb") as stream:
        before = b""
        while chunk := stream.read(_CHUNK):
            yield before + chunk
            before = chunk[-_OVERLAP:]

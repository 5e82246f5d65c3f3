"""A snapshot read as its solver reads it, and searched for the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scenario_kit.judge.leaks import ReadableText, Token, find_leaks, list_tokens
from scenario_kit.model import Finding, Runbook
from scenario_kit.model.chaos.kinds import GROUP as CHAOS_GROUP

_CHUNK: Final = 1 << 20
#: Bytes of one piece that are read again with the next one: longer than any text that is searched for.
_OVERLAP: Final = 4096
#: What joins the words of a token, and is left out before texts are compared.
_JOINTS: Final = b"-_. \t\r\n\\"


def scan_folder(folder: Path, runbook: Runbook) -> list[Finding]:
    """Scan names and contents of all files for what gives the answer away; one finding for each such text."""
    tokens = [*list_tokens(runbook), Token(text=CHAOS_GROUP, what="a trace of the fault injector", injector=True)]
    return find_leaks(_read_suspicious(folder, tokens), tokens)


def _read_suspicious(folder: Path, tokens: Sequence[Token]) -> Iterator[ReadableText]:
    """Read the pieces of files in which the letters of a token follow each other; only those are worth a close look."""
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
    """Read a file in pieces that overlap."""
    with path.open("rb") as stream:
        before = b""
        while chunk := stream.read(_CHUNK):
            yield before + chunk
            before = chunk[-_OVERLAP:]

"""Records that survive an interruption: files with one line of JSON each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeVar

import msgspec

from scenario_kit.model.base import convert

_R = TypeVar("_R", bound=msgspec.Struct)


def append(path: Path, record: msgspec.Struct) -> None:
    """Append a line to a file of records, after completing a partial last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with path.open("ab") as out:
        out.write(b"\n" * torn + msgspec.json.encode(record, enc_hook=str) + b"\n")


def read(path: Path, kind: type[_R], key: Callable[[_R], Hashable]) -> list[_R]:
    """Read the records of a file, the last one for each key, without a partial last line; empty if there is no file."""
    lines = path.read_bytes().splitlines() if path.is_file() else []
    found = [convert(msgspec.json.decode(line), kind) for line in lines if line.endswith(b"}")]
    return list({key(record): record for record in found}.values())

"""What became of mutants: records that survive an interruption, and the survivors that are accepted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tools import records
from tools.mutation.mutants import Mutant
from tools.mutation.workspace import Answer

FOLDER = Path(__file__).parent
RECORD = FOLDER / "record.jsonl"
ACCEPTED = FOLDER / "survivors.txt"


class Tried(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of the tests to one mutant, and the day."""

    key: str
    answer: Answer
    date: str


def read(path: Path = RECORD) -> dict[str, Tried]:
    """Read the last answer for each mutant."""
    return {tried.key: tried for tried in records.read(path, Tried, lambda tried: tried.key)}


def compact(path: Path, package: str, every: Sequence[Mutant]) -> None:
    """Write each answer once, sorted, without those to mutants of the package that are no more."""
    known = {mutant.key for mutant in every}
    stay = sorted(key for key in read(path) if not key.startswith(f"{package}.") or key in known)
    lines = [msgspec.json.encode(read(path)[key]) + b"\n" for key in stay]
    path.write_bytes(b"".join(lines))


def accepted(text: str) -> dict[str, str]:
    """Read the survivors that may stay: ``function digest: reason`` a line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {key.strip(): reason.strip() for key, _, reason in (line.partition(":") for line in lines)}

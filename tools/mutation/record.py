"""Records of mutants, which survive an interruption, and the accepted survivors."""

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
    """The result for one mutant, and its date."""

    key: str
    answer: Answer
    date: str


def read(path: Path = RECORD) -> dict[str, Tried]:
    """Read the records, the latest of each mutant."""
    return {tried.key: tried for tried in records.read(path, Tried, lambda tried: tried.key)}


def compact_records(path: Path, package: str, every: Sequence[Mutant]) -> None:
    """Rewrite the records sorted, without those of the package's former mutants."""
    known = {mutant.key for mutant in every}
    stay = sorted(key for key in read(path) if not key.startswith(f"{package}.") or key in known)
    lines = [msgspec.json.encode(read(path)[key]) + b"\n" for key in stay]
    path.write_bytes(b"".join(lines))


def read_accepted(text: str) -> dict[str, str]:
    """Parse the accepted survivors: ``function digest: reason`` per line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {key.strip(): reason.strip() for key, _, reason in (line.partition(":") for line in lines)}

"""``lint --fix``: the text of a scenario with every mistake corrected that can be corrected in one way only.

An edit is kept only if the text is better after it, which is found by judging it again: its finding is gone, and
nothing is found that was not found before. The one exception are findings that could not be made before, because what
the edit corrected stood in their way (a file that cannot be read, an unknown app): those are news, not damage.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.lint import lint_file, lint_text
from scenario_kit.lint.framework.consequential_findings import drop_consequential
from scenario_kit.lint.renaming import Renamed, rename_former
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.document import read_bytes
from scenario_kit.load.yaml.edit import Unfit, apply_edits
from scenario_kit.model import Finding

#: Edits of one file; each leaves fewer findings, so only a file with more mistakes than this comes near it.
_MOST: Final = 500
#: Characters that may be judged for one file: each edit that is tried judges the whole file again.
_MOST_JUDGED: Final = 6_000_000
#: Findings that keep others from being made, by how much they hide; all others hide nothing.
_HIDING: Final = {**dict.fromkeys(("SK101", "SK102", "SK103", "SK104", "SK105", "SK106"), 0), "SK107": 1, "SK108": 2}
_BOM: Final = b"\xef\xbb\xbf"


class Fixed(NamedTuple):
    """A text after all edits; what they corrected, as it was found then, and what is left."""

    text: str
    corrected: tuple[Finding, ...]
    left: tuple[Finding, ...]


class FixedFile(NamedTuple):
    """A file before and after; ``new`` is ``old`` where nothing can be corrected."""

    path: Path
    old: bytes
    new: bytes
    corrected: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix_text(text: str, study: Callable[[str], Sequence[LocatedFinding]]) -> Fixed:
    """Return the text with every edit made that betters it, until none does; ``study`` judges a text.

    Fixing the answer again changes nothing, unless the file is so large and so wrong that this ended early.
    """
    found, corrected, judged = study(text), [], [_MOST_JUDGED]
    for _ in range(_MOST):
        step = _apply_step(text, found, study, judged)
        if step is None:
            break
        text, found, finding = step
        corrected.append(finding)
    return Fixed(text, tuple(corrected), tuple(drop_consequential(found)))


def _apply_step(
    text: str, found: Sequence[LocatedFinding], study: Callable[[str], Sequence[LocatedFinding]], judged: list[int]
) -> tuple[str, Sequence[LocatedFinding], Finding] | None:
    """Return the first edit that betters the text: the text and its findings after it, and the finding that it
    corrected.

    ``judged`` holds how many characters may still be judged.
    """
    for mistake in found:
        if not mistake.edits or judged[0] < len(text):
            continue
        judged[0] -= len(text)
        try:
            tried = apply_edits(text, mistake.edits)
        except Unfit:
            continue
        after = study(tried)
        if _is_better(mistake.finding, found, after):
            return tried, after, mistake.finding
    return None


def _is_better(finding: Finding, before: Sequence[LocatedFinding], after: Sequence[LocatedFinding]) -> bool:
    """Compare without positions, which move with the text."""
    old, new = (Counter(_make_key(mistake.finding) for mistake in found) for found in (before, after))
    appeared = new - old
    return new[_make_key(finding)] < old[_make_key(finding)] and all(
        _rank_code(code) > _rank_code(finding.code) for code, _ in appeared
    )


def _make_key(finding: Finding) -> tuple[str, str]:
    return finding.code, finding.message


def _rank_code(code: str) -> int:
    return _HIDING.get(code, 3)


def fix_file(path: Path, catalog: Catalog) -> FixedFile:
    """Return what fixing a scenario file would make of it; nothing is written.

    Raises:
        UsageError: there is no such file.
    """
    try:
        raw = read_bytes(path)
        text = raw.removeprefix(_BOM).decode()
    except (AuthoringError, UnicodeDecodeError):  # no file, too large, or no text: that is the one finding
        return FixedFile(path, b"", b"", (), tuple(lint_file(path, catalog)))
    renamed, windows = _rename_former(text, path)
    result = fix_text(renamed.text, lambda tried: lint_text(tried, path, catalog))
    new = _encode(raw, result.text, windows=windows)
    return FixedFile(path, raw, new, (*renamed.corrected, *result.corrected), result.left)


def rename_file(path: Path) -> FixedFile:
    """Give every field with a former name its present one; nothing else is judged, and nothing written."""
    try:
        raw = read_bytes(path)
        text = raw.removeprefix(_BOM).decode()
    except (AuthoringError, UnicodeDecodeError):
        return FixedFile(path, b"", b"", (), ())
    renamed, windows = _rename_former(text, path)
    new = _encode(raw, renamed.text, windows=windows) if renamed.corrected else raw
    return FixedFile(path, raw, new, renamed.corrected, ())


def _rename_former(text: str, path: Path) -> tuple[Renamed, bool]:
    """Rename fields of a text; the answer has line feeds alone. Also tells whether its lines end as on Windows."""
    windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return rename_former(text.replace("\r\n", "\n") if windows else text, path), windows


def _encode(raw: bytes, text: str, *, windows: bool) -> bytes:
    """Encode a text, with the mark and the line ends that the file had."""
    return (_BOM if raw.startswith(_BOM) else b"") + (text.replace("\n", "\r\n") if windows else text).encode()


def mark_fixable(path: Path, mistakes: Sequence[LocatedFinding], catalog: Catalog) -> list[LocatedFinding]:
    """Return the mistakes of a file; ``fixable`` are findings that fixing it would correct, which is found
    by trying.
    """
    if not any(mistake.edits for mistake in mistakes):
        return list(mistakes)
    corrected = {_make_key(finding) for finding in fix_file(path, catalog).corrected}
    return [
        m._replace(finding=msgspec.structs.replace(m.finding, fixable=True)) if _make_key(m.finding) in corrected else m
        for m in mistakes
    ]


def format_diff(file: FixedFile) -> str:
    """Format the change as a unified diff that ``patch -p0`` applies; empty where there is none."""
    old, new = (data.decode().splitlines(keepends=True) for data in (file.old, file.new))
    lines = unified_diff(old, new, str(file.path), str(file.path))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def write(file: FixedFile) -> None:
    """Replace the file by its fixed text in one step; its mode is kept, and a link still leads to it.

    Raises:
        UsageError: it cannot be written, or has changed since it was read.
    """
    target = file.path.resolve()
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(file.new)
        shutil.copymode(target, temporary)
        if target.read_bytes() != file.old:
            raise UsageError(f"{file.path} changed while it was judged", fix="run the command again")
        Path(temporary).replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {file.path}: {error.strerror}", fix="allow writing to its folder") from error
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()

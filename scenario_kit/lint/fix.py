"""``lint --fix``: apply all edits that are the only possible correction.

An edit is kept only if checking the text again shows an improvement: its finding is gone, and no new one appeared.
Exceptions are findings that the corrected mistake had hidden (a file that cannot be parsed, an unknown app).
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

#: Maximum number of edits per file.
_MAX_EDITS: Final = 500
#: Maximum number of characters to check per file: each edit that is tried checks the whole file again.
_MAX_CHECKED: Final = 6_000_000
#: Ranks of findings that hide others; all others hide nothing.
_HIDING: Final = {**dict.fromkeys(("SK101", "SK102", "SK103", "SK104", "SK105", "SK106"), 0), "SK107": 1, "SK108": 2}
_BOM: Final = b"\xef\xbb\xbf"


class Fixed(NamedTuple):
    """A text after all edits, the findings that they corrected, and those that remain."""

    text: str
    corrected: tuple[Finding, ...]
    left: tuple[Finding, ...]


class FixedFile(NamedTuple):
    """A file before and after; ``new`` equals ``old`` if there is nothing to correct."""

    path: Path
    old: bytes
    new: bytes
    corrected: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix_text(text: str, study: Callable[[str], Sequence[LocatedFinding]]) -> Fixed:
    """Apply edits as long as they improve the text; ``study`` checks a text.

    The result is a fixed point, unless the limits of edits or characters end this early.
    """
    found, corrected, judged = study(text), [], [_MAX_CHECKED]
    for _ in range(_MAX_EDITS):
        step = _apply_step(text, found, study, judged)
        if step is None:
            break
        text, found, finding = step
        corrected.append(finding)
    return Fixed(text, tuple(corrected), tuple(drop_consequential(found)))


def _apply_step(
    text: str, found: Sequence[LocatedFinding], study: Callable[[str], Sequence[LocatedFinding]], judged: list[int]
) -> tuple[str, Sequence[LocatedFinding], Finding] | None:
    """Apply the first edit that improves the text; return the text, its findings, and the finding that was corrected.

    ``judged`` holds the number of characters that may still be checked.
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
    """Compare findings without positions, which move with the text."""
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
    """Return the result of fixing a scenario file, without writing it.

    Raises:
        UsageError: there is no such file.
    """
    try:
        raw = read_bytes(path)
        text = raw.removeprefix(_BOM).decode()
    except (AuthoringError, UnicodeDecodeError):  # missing, too large, or not text: the only finding
        return FixedFile(path, b"", b"", (), tuple(lint_file(path, catalog)))
    renamed, windows = _rename_former(text, path)
    result = fix_text(renamed.text, lambda tried: lint_text(tried, path, catalog))
    new = _encode(raw, result.text, windows=windows)
    return FixedFile(path, raw, new, (*renamed.corrected, *result.corrected), result.left)


def rename_file(path: Path) -> FixedFile:
    """Rename fields with former names. Nothing else is checked, and nothing is written."""
    try:
        raw = read_bytes(path)
        text = raw.removeprefix(_BOM).decode()
    except (AuthoringError, UnicodeDecodeError):
        return FixedFile(path, b"", b"", (), ())
    renamed, windows = _rename_former(text, path)
    new = _encode(raw, renamed.text, windows=windows) if renamed.corrected else raw
    return FixedFile(path, raw, new, renamed.corrected, ())


def _rename_former(text: str, path: Path) -> tuple[Renamed, bool]:
    """Rename fields of a text with line feeds; also return whether its lines end with CRLF."""
    windows = "\r\n" in text and text.count("\r\n") == text.count("\n")
    return rename_former(text.replace("\r\n", "\n") if windows else text, path), windows


def _encode(raw: bytes, text: str, *, windows: bool) -> bytes:
    """Encode a text with the byte order mark and line endings of the original file."""
    return (_BOM if raw.startswith(_BOM) else b"") + (text.replace("\n", "\r\n") if windows else text).encode()


def mark_fixable(path: Path, mistakes: Sequence[LocatedFinding], catalog: Catalog) -> list[LocatedFinding]:
    """Mark findings as ``fixable`` if fixing the file corrects them, which is found by trying."""
    if not any(mistake.edits for mistake in mistakes):
        return list(mistakes)
    corrected = {_make_key(finding) for finding in fix_file(path, catalog).corrected}
    return [
        m._replace(finding=msgspec.structs.replace(m.finding, fixable=True)) if _make_key(m.finding) in corrected else m
        for m in mistakes
    ]


def format_diff(file: FixedFile) -> str:
    """Format the change as a unified diff for ``patch -p0``; empty if there is none."""
    old, new = (data.decode().splitlines(keepends=True) for data in (file.old, file.new))
    lines = unified_diff(old, new, str(file.path), str(file.path))
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def write(file: FixedFile) -> None:
    """Replace the file atomically by its fixed text, keeping its mode and symbolic links.

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
            raise UsageError(f"{file.path} changed while it was checked", fix="run the command again")
        Path(temporary).replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {file.path}: {error.strerror}", fix="allow writing to its folder") from error
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()

"""Drop findings that follow from others, so that one mistake is reported once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from scenario_kit.load import LocatedFinding
from scenario_kit.model import Finding, Severity

#: An unknown app, fault, object or alert is named.
_UNKNOWN: Final = ("SK107", "SK108", "SK109", "SK110", "SK112", "SK113", "SK114", "SK115", "SK131")
#: Errors from which a code may follow: while one of them is in the file, the code is not reported.
_FOLLOWS: Final[dict[str, tuple[str, ...]]] = {
    "SK116": _UNKNOWN,
    "SK121": ("SK003", "SK131", "SK142"),
    "SK123": ("SK142",),
    "SK125": _UNKNOWN,
    "SK220": ("SK123",),
    "SK236": ("SK119", "SK121", *_UNKNOWN),
    "SK404": ("SK131",),
    "SK405": ("SK131",),
    "SK410": ("SK131",),
    "SK416": ("SK131",),
    "SK607": ("SK003", *_UNKNOWN),
}


def drop_consequential(mistakes: Sequence[LocatedFinding]) -> list[Finding]:
    """Return the findings of one file without consequential ones; equal findings in several lines are merged."""
    findings = [mistake.finding for mistake in mistakes if not mistake.follows]
    errors = {finding.code for finding in findings if finding.severity == Severity.ERROR}
    first: dict[str, Finding] = {}
    lines: dict[str, set[int]] = {}
    for finding in findings:
        if not errors.isdisjoint(_FOLLOWS.get(finding.code, ())):
            continue
        key = finding.message if finding.code in _UNKNOWN else f"{id(finding)}"
        first.setdefault(key, finding)
        lines.setdefault(key, set()).update([finding.position.line] if finding.position else [])
    return [_add_lines(finding, lines[key]) for key, finding in first.items()]


def _add_lines(finding: Finding, lines: set[int]) -> Finding:
    others = sorted(lines - {finding.position.line if finding.position else 0})
    if not others:
        return finding
    more = f"line{'s' if len(others) > 1 else ''} {', '.join(str(line) for line in others)}"
    return msgspec.structs.replace(finding, message=f"{finding.message} (also in {more})")

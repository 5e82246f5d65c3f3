"""Which findings a scenario may suppress, for how long, and what replaces them.

Codes are listed explicitly, so that a new rule cannot be suppressed until there is a reason to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec

from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem
from scenario_kit.load import LocatedFinding
from scenario_kit.load.yaml.edit import Drop, Edit
from scenario_kit.model import Severity
from scenario_kit.model.authored.month import Month
from scenario_kit.model.authored.scenario import Suppression
from scenario_kit.model.json_document import Place

#: Codes that a scenario may suppress, each with a case in which its author may be right.
SUPPRESSIBLE: Final[Mapping[str, str]] = {
    "SK118": "a query may be meant to cover several objects whose names begin alike",
    "SK218": "a private collection may stay out of the public benchmark that the canary protects",
    "SK417": "two procedures may be worth documenting although they end in the same commands",
    "SK432": "an object may be so obviously broken that there is no plausible decoy",
    "SK602": "a word that looks like a placeholder may be the name of a product",
}
#: Maximum duration of a suppression; the last month is the one that contains its end.
LONGEST: Final = timedelta(days=180)


def get_today() -> date:
    """Return the current day in UTC."""
    return datetime.now(UTC).date()


def find_latest_month(day: date) -> Month:
    """Return the last month that a suppression checked on ``day`` may name."""
    return Month.of_day(day + LONGEST)


def list_active(entries: Iterable[Suppression], day: date) -> dict[str, Suppression]:
    """Return the suppressions that are valid on ``day``, by code."""
    first, last = Month.of_day(day), find_latest_month(day)
    return {
        entry.code: entry
        for entry in entries
        if entry.code in SUPPRESSIBLE and first <= entry.until <= last and entry.reason.strip()
    }


def note_suppression(mistake: LocatedFinding, entry: Suppression) -> LocatedFinding:
    """Replace a suppressed finding by a note without edits."""
    finding = mistake.finding
    message = f"suppressed until {entry.until} ({entry.reason.strip()}): {finding.message}"
    return LocatedFinding(msgspec.structs.replace(finding, severity=Severity.NOTE, message=message))


def check_stale(case: LintContext, found: set[str]) -> Iterator[Problem]:
    """Check for suppressions without a finding to suppress (SK606)."""
    entries = case.scenario.spec.suppress
    known = list_active(entries, get_today())
    for i, entry in enumerate(entries):
        if entry.code in known and entry.code not in found:
            place, message = ("spec", "suppress", i), f"the file has no finding {entry.code} to suppress"
            edits = build_drop_edit(case, i)
            yield Problem((*place, "code"), message, entry.code, "no suppression", "drop it", edits=edits)


def build_drop_edit(case: LintContext, number: int) -> tuple[Edit, ...]:
    """Build the edit that removes a suppression, and the whole list with the last one."""
    place: Place = ("spec", "suppress", number)
    return (Drop(place if len(case.scenario.spec.suppress) > 1 else place[:-1]),)

"""docs/matrix.md: what was tried, as tables. Pure but for reading the catalogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tests.matrix.pairs import Pair
from tests.matrix.record import Row

_MOST = 4

_HEAD = """# Faults and targets: what fires

<!-- Written by `ci/matrix --page` from matrix.jsonl beside it; do not edit. -->

Every line is one trial in virtual time in a lab: one fault with its default parameters on one object, and nothing else;
quiet before, in force for 20 minutes, then removed. *Alerts* are those of the default pack that began meanwhile, with
the seconds from the injection to each. *Recovered* is yes if the fault's effect was gone, no alert fired any more and
users were served as before, after no more than the removal, and nothing was left in the cluster.

`ci/matrix --lab NAME --sample 40` tries more of them (`--help`); what has a record is not tried again.
"""


def page(
    rows: Sequence[Row],
    total: int,
    aimless: Mapping[str, str],
    why: Callable[[Row], str],
    *,
    outlasts: Callable[[Row], str] = lambda _: "",
    untried: Sequence[Pair] = (),
) -> str:
    """The page; ``total`` is how many pairs there are, ``aimless`` are fault types without any, and the reasons.

    ``why`` tells why a row has no alert, ``outlasts`` why it did not recover; of ``untried`` there is no row of that
    type of fault in that app.
    """
    judged = [row for row in rows if row.outcome != "Infra"]
    parts = [_HEAD, summary(judged, total, why, outlasts)]
    for app in sorted({(row.app, row.version) for row in judged}):
        mine = sorted((r for r in judged if (r.app, r.version) == app), key=lambda r: (r.family, r.fault, r.target))
        lines = [
            f"## {app[0]} {app[1]}",
            "",
            "| family | fault | target | alerts | first after | recovered | on |",
            "|---|---|---|---|--:|---|---|",
            *(line(row, why(row)) for row in mine),
        ]
        parts.append("\n".join(lines) + "\n")
    if untried:
        apps = {app: sorted({p.fault for p in untried if p.app == app}) for app in sorted({p.app for p in untried})}
        lines = [f"* {app}: {', '.join(faults)}" for app, faults in apps.items()]
        parts.append("\n".join(["## Types of fault that nobody has tried yet", "", *lines]) + "\n")
    if aimless:
        lines = [f"* {fault}: {reason}" for fault, reason in sorted(aimless.items())]
        parts.append("\n".join(["## Types of fault without a target", "", *lines]) + "\n")
    return "\n".join(parts)


def summary(rows: Sequence[Row], total: int, why: Callable[[Row], str], outlasts: Callable[[Row], str]) -> str:
    """How many there are, and what is not as it should be."""
    count = Counter(row.outcome for row in rows)
    ran = [row for row in rows if row.outcome == "Ran"]
    silent = [row for row in ran if not row.alerts]
    faults = len({row.fault for row in rows})
    lines = [
        f"{len(rows)} of {total:,} pairs so far (fault types: {faults}). {count['Ran']} ran "
        f"({len(ran) - len(silent)} with alerts, {len(silent)} without), {count['NoEffect']} had no effect, "
        f"{count['Lacking']} need what a lab has not. Of those that ran, "
        f"{sum(row.recovered is True for row in ran)} recovered and {sum(row.clean is True for row in ran)} left "
        "nothing behind.",
    ]
    for title, found in (
        ("Silent, and nobody knows why yet", [row for row in silent if not why(row)]),
        ("Did not recover, or not cleanly", [row for row in ran if not (row.recovered and row.clean)]),
    ):
        if found:
            lines += ["", f"{title}:", "", *(f"* {name(row)}{_told(outlasts(row) or row.told)}" for row in found)]
    return "\n".join(lines) + "\n"


def line(row: Row, reason: str) -> str:
    """One row of a table."""
    shown = [f"{a.name} on {a.on} ({a.seconds:.0f} s)" if a.on else f"{a.name} ({a.seconds:.0f} s)" for a in row.alerts]
    more = [f"and {len(shown) - _MOST} more"] if len(shown) > _MOST else []
    alerts = "; ".join([*shown[:_MOST], *more]) or f"*{reason or 'none, and nobody knows why yet'}*"
    first = f"{row.alerts[0].seconds:.0f} s" if row.alerts else "–"
    cells = [row.family, row.fault, row.target, alerts, first, recovery(row), row.date]
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def recovery(row: Row) -> str:
    """Whether it is as before, in words."""
    if row.recovered is None:
        return "–"
    if not row.recovered:
        return "no"
    return "yes" if row.clean else "not clean"


def name(row: Row) -> str:
    """A row in words."""
    return f"{row.fault} on {row.target} in {row.app}"


def _told(words: str) -> str:
    return f": {words}" if words else ""

"""Renders docs/matrix.md and its tables. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median

from scenario_kit.model.results.matrix import MatrixRow
from scenario_kit.model.shortening import shorten_list
from tools.matrix.pairs import Pair

_MOST = 4

_NOTE = "<!-- Written by `ci/matrix --page` from the apps' matrix.jsonl; do not edit. -->"

_HEAD = f"""# Faults and targets: what fires

{_NOTE}

Each trial injects one fault with default parameters into one object, in virtual time in a lab: a quiet period, 20
minutes with the fault, then its removal. *Alerts* are those of the default pack that started during the fault, with the
seconds from the injection to the first. *Recovered* counts trials in which, after the removal alone, the effect was
gone, no alert fired and users were served as before. All trials are listed in {{tables}}.

The results are used by `scenario-kit new` to predict alerts in drafts, by validation to name faults that raise the same
alerts, and by `scenario-kit catalog faults show NAME`, which ends with a fault's trials.

To try more pairs, run `ci/matrix --lab NAME --sample 40` (see `--help`); recorded pairs are skipped.
"""


def render_page(
    rows: Sequence[MatrixRow],
    total: int,
    fitting: int,
    aimless: Mapping[str, str],
    why: Callable[[MatrixRow], str],
    *,
    outlasts: Callable[[MatrixRow], str] = lambda _: "",
    untried: Sequence[Pair] = (),
) -> str:
    """Render the summary page.

    Args:
        rows: the records.
        total: number of pairs in which the fault has an effect.
        fitting: number of pairs with a target of the right kind.
        aimless: fault types without a pair, and why.
        why: returns why a row has no alert.
        outlasts: returns why a row did not recover.
        untried: one pair for each fault type without a record in an app.
    """
    judged = [row for row in rows if row.outcome != "Infra"]
    ran = [row for row in judged if row.outcome == "Ran"]
    silent = [row for row in ran if not row.alerts]
    lasting = [row for row in ran if not row.recovered]
    apps = sorted({(row.app, row.version) for row in judged})
    parts = [
        _HEAD.replace("{tables}", ", ".join(f"[{app} {version}]({name_page(app)})" for app, version in apps)),
        _summarise_rows(judged, total, fitting),
        _open(silent, lasting, ran, why, outlasts),
    ]
    for app, version in apps:
        parts.append(_render_types(app, version, [r for r in judged if (r.app, r.version) == (app, version)]))
    for title, found, reason in (
        ("Pairs without alerts, and why", silent, why),
        ("Pairs that did not recover, and why", lasting, outlasts),
        ("Without effect", [row for row in judged if row.outcome == "NoEffect"], lambda row: row.reported),
        ("Not supported by a lab", [row for row in judged if row.outcome == "Lacking"], lambda row: row.reported),
    ):
        parts.append(_render_groups(title, [row for row in found if reason(row)], reason))
    if untried:
        named = {app: sorted({p.fault for p in untried if p.app == app}) for app in sorted({p.app for p in untried})}
        parts.append(_list("Fault types not tried yet", (f"{a}: {', '.join(f)}" for a, f in named.items())))
    if aimless:
        parts.append(_list("Fault types without a target", (f"{f}: {r}" for f, r in sorted(aimless.items()))))
    return "\n".join(part for part in parts if part)


def render_table(app: str, version: str, rows: Sequence[MatrixRow], why: Callable[[MatrixRow], str]) -> str:
    """Render all rows of an app."""
    judged = [row for row in rows if row.outcome != "Infra"]
    lines = [
        f"# Faults and targets in {app} {version}",
        "",
        _NOTE,
        "",
        "One trial per line; [matrix.md](matrix.md) explains and summarizes them.",
        "",
        "| family | fault | target | alerts | first after | recovered | on |",
        "|---|---|---|---|--:|---|---|",
        *(format_row(row, why(row)) for row in sorted(judged, key=lambda r: (r.family, r.fault, r.target))),
    ]
    return "\n".join(lines) + "\n"


def name_page(app: str) -> str:
    """Return the name of an app's page."""
    return f"matrix-{app}.md"


def format_row(row: MatrixRow, reason: str) -> str:
    """Format a row."""
    shown = [
        f"{a.name} on {a.entity} ({a.seconds:.0f} s)" if a.entity else f"{a.name} ({a.seconds:.0f} s)"
        for a in row.alerts
    ]
    alerts = shorten_list(shown, _MOST, "; ") or f"*{reason or 'none, for an unknown reason'}*"
    first = f"{row.alerts[0].seconds:.0f} s" if row.alerts else "–"
    return _format_cells(row.family, row.fault, row.target, alerts, first, describe_recovery(row), str(row.date))


def describe_recovery(row: MatrixRow) -> str:
    """Return in words whether the app recovered."""
    if row.recovered is None:
        return "–"
    if not row.recovered:
        return "no"
    return "yes" if row.clean else "not clean"


def name(row: MatrixRow) -> str:
    """Describe a row in words."""
    return f"{row.fault} on {row.target} in {row.app}"


def _summarise_rows(rows: Sequence[MatrixRow], total: int, fitting: int) -> str:
    count = Counter(row.outcome for row in rows)
    ran = [row for row in rows if row.outcome == "Ran"]
    loud = sum(bool(row.alerts) for row in ran)
    return (
        f"{len(rows):,} of {total:,} pairs so far (fault types: {len({row.fault for row in rows})}). In "
        f"{fitting - total:,} more pairs the target is of the right kind but the fault has no effect there, so `new` "
        f"does not offer them. {count['Ran']:,} ran ({loud:,} with alerts, {len(ran) - loud:,} without), "
        f"{count['NoEffect']:,} had no effect, {count['Lacking']:,} need what a lab lacks. Of those "
        f"that ran, {sum(row.recovered is True for row in ran):,} recovered and "
        f"{sum(row.clean is True for row in ran):,} left nothing behind.\n"
    )


def _open(
    silent: Sequence[MatrixRow],
    lasting: Sequence[MatrixRow],
    ran: Sequence[MatrixRow],
    why: Callable[[MatrixRow], str],
    outlasts: Callable[[MatrixRow], str],
) -> str:
    """Render the rows to investigate, or a sentence that there are none."""
    lines = []
    for title, found in (
        ("Without alerts, for an unknown reason", [row for row in silent if not why(row)]),
        ("Did not recover, for an unknown reason", [row for row in lasting if not outlasts(row)]),
        ("Left something behind", [row for row in ran if not row.clean]),
    ):
        if found:
            lines += [f"{title}:", "", *(f"* {name(row)}{_format_reported(row.reported)}" for row in found), ""]
    return "\n".join(lines) or "Every row without alerts or recovery is explained below.\n"


def _render_types(app: str, version: str, rows: Sequence[MatrixRow]) -> str:
    """Render a table with one line per fault type of an app."""
    lines = [
        f"## {app} {version}",
        "",
        "| family | fault | targets | with alerts | first after: median (range) | what fires | recovered |",
        "|---|---|--:|--:|--:|---|--:|",
    ]
    for (family, fault), group in groupby(sorted(rows, key=_type), key=_type):
        mine = list(group)
        ran = [row for row in mine if row.outcome == "Ran"]
        loud = [row for row in ran if row.alerts]
        if not ran:
            lines.append(_format_cells(family, fault, str(len(mine)), f"*{_summarise_reasons(mine)}*", "–", "–", "–"))
            continue
        count = Counter(alert for row in loud for alert in {fired.name for fired in row.alerts})
        most = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
        lines.append(
            _format_cells(
                family,
                fault,
                str(len(mine)),
                f"{len(loud)} of {len(ran)}",
                _format_range([row.alerts[0].seconds for row in loud]),
                ", ".join(f"{alert} ({times})" for alert, times in most) or "–",
                f"{sum(row.recovered is True for row in ran)} of {len(ran)}",
            )
        )
    return "\n".join(lines) + "\n"


def _type(row: MatrixRow) -> tuple[str, str]:
    return row.family, row.fault


def _summarise_reasons(rows: Sequence[MatrixRow]) -> str:
    """Summarise why none of the rows ran."""
    return " and ".join(sorted({"no effect" if row.outcome == "NoEffect" else "not in a lab" for row in rows}))


def _format_range(seconds: Sequence[float]) -> str:
    if not seconds:
        return "–"
    low, high = min(seconds), max(seconds)
    return f"{low:.0f} s" if low == high else f"{median(seconds):.0f} s ({low:.0f}–{high:.0f})"


def _render_groups(title: str, rows: Sequence[MatrixRow], reason: Callable[[MatrixRow], str]) -> str:
    """Render the rows grouped by reason, the most frequent first; empty without rows."""
    groups: dict[str, dict[tuple[str, str], list[str]]] = {}
    for row in sorted(rows, key=lambda r: (r.app, r.fault, r.target)):
        groups.setdefault(reason(row), {}).setdefault((row.app, row.fault), []).append(row.target.partition("/")[2])
    if not groups:
        return ""
    lines = [f"## {title}", ""]
    for text, found in sorted(groups.items(), key=lambda item: (-sum(map(len, item[1].values())), item[0])):
        lines.append(f"* {' '.join(text.split())}:")
        for app, group in groupby(found.items(), key=lambda item: item[0][0]):
            lines.append(f"    * {app}: " + "; ".join(f"{fault} on {', '.join(on)}" for (_, fault), on in group))
    return "\n".join(lines) + "\n"


def _list(title: str, items: Iterable[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"* {item}" for item in items)]) + "\n"


def _format_cells(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _format_reported(words: str) -> str:
    return f": {' '.join(words.split())}" if words else ""

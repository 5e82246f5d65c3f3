"""The table of results, one row per kind, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tools.defects.kind import Kind
from tools.defects.record import UNTOUCHED, Caught, LintTally

_HEAD = (
    "| kind of defect | what is wrong | right codes | applied | right | other | missed |",
    "|---|---|---|--:|--:|--:|--:|",
)


def count_answers(records: Iterable[Caught], kinds: Sequence[Kind]) -> dict[str, Counter[str]]:
    """Count the copies of each kind by result."""
    counts: dict[str, Counter[str]] = {kind.name: Counter() for kind in kinds}
    for record in records:
        if record.kind in counts:
            counts[record.kind][record.answer] += 1
    return counts


def compute_rate(counts: Mapping[str, Counter[str]]) -> tuple[int, int]:
    """Return how many copies were caught with a right code, and how many were judged."""
    total: Counter[str] = sum(counts.values(), Counter())
    return total["Right"], total["Right"] + total["Other"] + total["Missed"]


def count_false_alarms(records: Iterable[Caught]) -> tuple[int, int]:
    """Return how many untouched scenarios have findings, and how many there are."""
    answers = [r.answer for r in records if r.kind == UNTOUCHED]
    return answers.count("Other"), len(answers)


def tally_lint(records: Sequence[Caught], kinds: Sequence[str], date: str) -> list[LintTally]:
    """Count the results of each kind."""
    tallies = []
    for kind in kinds:
        own = [r for r in records if r.kind == kind]
        counts = Counter(r.answer for r in own)
        tally = LintTally(
            kind=kind, date=date, right=counts["Right"], other=counts["Other"], missed=counts["Missed"],
            remarks=tuple(list_remarks(own)),
        )  # fmt: skip
        tallies.append(tally)
    return tallies


def count_tallies(tallies: Iterable[LintTally], kinds: Sequence[Kind]) -> dict[str, Counter[str]]:
    """Count the copies of each kind by result."""
    known = {t.kind: Counter({"Right": t.right, "Other": t.other, "Missed": t.missed}) for t in tallies}
    return {kind.name: known.get(kind.name, Counter()) for kind in kinds}


def render_table(counts: Mapping[str, Counter[str]], kinds: Sequence[Kind]) -> str:
    """Return the table, one row per kind that was applied, and the totals."""
    rows = []
    for kind in kinds:
        row = counts[kind.name]
        applied = row["Right"] + row["Other"] + row["Missed"]
        if applied:
            codes = " ".join(sorted(kind.codes))
            rows.append(
                f"| {kind.name} | {kind.title} | {codes} | {applied} | {row['Right']} | {row['Other'] or ''} | "
                f"{row['Missed'] or ''} |"
            )
    right, judged = compute_rate(counts)
    share = f"{100 * right / judged:.1f} %" if judged else "–"
    total: Counter[str] = sum(counts.values(), Counter())
    rows.append(f"| **all** | | | {judged} | {right} ({share}) | {total['Other'] or ''} | {total['Missed'] or ''} |")
    return "\n".join((*_HEAD, *rows)) + "\n"


def list_remarks(records: Iterable[Caught]) -> list[str]:
    """Return a line for each copy that was not caught correctly, and for each false alarm."""
    return [
        f"{r.answer if r.kind != UNTOUCHED else 'FALSE ALARM'}: {r.kind} on {r.scenario} ({r.reported}): "
        f"{', '.join(r.codes) or 'nothing'} {r.says}".rstrip()
        for r in records
        if r.answer in ("Other", "Infra") or (r.answer == "Missed" and r.kind != UNTOUCHED)
    ]

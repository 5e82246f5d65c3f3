"""docs/validator.md: writes the two generated tables and keeps everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.defects.kind import Kind
from tools.defects.record import UNTOUCHED, Caught, LintTally
from tools.defects.table import count_answers, count_false_alarms, count_tallies, list_remarks, render_table

_SO_FAR = (
    "There are {copies} such copies. {judged} have been judged so far; lint refuses {other} more for another "
    "reason. `ci/defects --lab NAME --minutes N` continues with the rest."
)
_BEGIN, _END = "<!-- {}: written by ci/defects --page -->", "<!-- end of {} -->"


def write_page(
    path: Path, linted: Sequence[LintTally], tried: Sequence[Caught], kinds: Sequence[Kind], copies: int = 0
) -> None:
    """Write the tables of lint and of trials into the page; without results, a table stays as it is.

    Args:
        copies: how many copies only trials can judge.
    """
    text = path.read_text()
    if linted:
        text = place_content(text, "lint", render_lint_part(linted, [k for k in kinds if k.stage == "Static"]))
    if tried:
        text = place_content(
            text, "trials", render_trial_part(tried, [k for k in kinds if k.stage != "Static"], copies)
        )
    path.write_text(text)


def render_lint_part(tallies: Sequence[LintTally], kinds: Sequence[Kind]) -> str:
    """Return the table of lint with its dates, the copies not caught correctly, and the false alarms."""
    names = {kind.name for kind in kinds}
    own = [t for t in tallies if t.kind in names]
    untouched = [t for t in tallies if t.kind == UNTOUCHED]
    scenarios = sum(t.other + t.missed for t in untouched)
    lines = [
        f"{_format_days([t.date for t in own])}, {len(own)} kinds over {scenarios} scenarios.",
        "",
        render_table(count_tallies(own, kinds), kinds),
        f"False alarms: {sum(t.other for t in untouched)} in {scenarios} untouched scenarios.",
    ]
    return "\n".join([*lines, *_list_wrong([line for t in (*own, *untouched) for line in t.remarks])]) + "\n"


def render_trial_part(records: Sequence[Caught], kinds: Sequence[Kind], copies: int = 0) -> str:
    """Return the table of trials with its dates, the copies not caught correctly, and the false alarms."""
    alarms, untouched = count_false_alarms(records)
    scenarios = len({r.scenario for r in records if r.kind != UNTOUCHED and r.answer != "NotApplied"})
    seconds = sum(r.seconds for r in records)
    took = f", {seconds / 60:.0f} minutes of trials" if seconds else ""
    judged = sum(r.answer not in ("NotApplied", "Infra") for r in records if r.kind != UNTOUCHED)
    other = sum(r.answer == "NotApplied" for r in records)
    lines = [
        f"{_format_days([r.date for r in records])}, {len(kinds)} kinds over {scenarios} scenarios{took}.",
        *(["", _SO_FAR.format(copies=copies, judged=judged, other=other)] if copies else []),
        "",
        render_table(count_answers(records, kinds), kinds),
    ]
    alone = "No untouched scenario was tried here: the validations of the catalogue cover those."
    lines.append(f"False alarms: {alarms} in {untouched} untouched scenarios." if untouched else alone)
    return "\n".join([*lines, *_list_wrong(list_remarks(records))]) + "\n"


def _format_days(days: Iterable[str]) -> str:
    known = sorted(filter(None, days)) or [f"{datetime.now(UTC):%Y-%m-%d}"]
    return known[0] if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def _list_wrong(remarks: Sequence[str]) -> list[str]:
    return ["", "Not caught with a right code:", "", *(f"* {line}" for line in remarks)] if remarks else []


def place_content(text: str, name: str, content: str) -> str:
    """Return ``text`` with ``content`` between the markers of that name.

    Raises:
        ValueError: the text has no such markers.
    """
    begin, end = _BEGIN.format(name), _END.format(name)
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the page has no markers for '{name}'")
    return f"{before}{begin}\n\n{content}\n{end}{after}"

"""docs/validator.md: writes the two generated tables and keeps everything else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.defects.kind import Kind
from tools.defects.record import UNTOUCHED, Caught
from tools.defects.table import count_false_alarms, list_remarks, render_table

_SO_FAR = (
    "There are {copies} such copies. {judged} have been judged so far; lint refuses {other} more for another "
    "reason. `ci/defects --lab NAME --minutes N` continues with the rest."
)
_BEGIN, _END = "<!-- {}: written by ci/defects --page -->", "<!-- end of {} -->"


def write_page(
    path: Path, linted: Sequence[Caught], tried: Sequence[Caught], kinds: Sequence[Kind], copies: int = 0
) -> None:
    """Write the tables of both sets of records into the page; without records, a table stays as it is.

    Args:
        copies: how many copies only trials can judge.
    """
    text = path.read_text()
    if linted:
        text = place_content(text, "lint", render_part(linted, [k for k in kinds if k.stage == "Static"]))
    if tried:
        text = place_content(text, "trials", render_part(tried, [k for k in kinds if k.stage != "Static"], copies))
    path.write_text(text)


def render_part(records: Sequence[Caught], kinds: Sequence[Kind], copies: int = 0) -> str:
    """Return a table with its date, the copies not caught correctly, and the false alarms."""
    alarms, untouched = count_false_alarms(records)
    scenarios = len({r.scenario for r in records if r.kind != UNTOUCHED and r.answer != "NotApplied"})
    seconds = sum(r.seconds for r in records)
    took = f", {seconds / 60:.0f} minutes of trials" if seconds else ""
    days = sorted({r.date for r in records if r.date}) or [f"{datetime.now(UTC):%Y-%m-%d}"]
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    judged = sum(r.answer not in ("NotApplied", "Infra") for r in records if r.kind != UNTOUCHED)
    other = sum(r.answer == "NotApplied" for r in records)
    lines = [
        f"{when}, {len(kinds)} kinds over {scenarios} scenarios{took}.",
        *(["", _SO_FAR.format(copies=copies, judged=judged, other=other)] if copies else []),
        "",
        render_table(records, kinds),
    ]
    alone = "No untouched scenario was tried here: the validations of the catalogue cover those."
    lines.append(f"False alarms: {alarms} in {untouched} untouched scenarios." if untouched else alone)
    if wrong := list_remarks(records):
        lines += ["", "Not caught with a right code:", "", *(f"* {line}" for line in wrong)]
    return "\n".join(lines) + "\n"


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

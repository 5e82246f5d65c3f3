"""Records and the table of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.defects.kind import Kind
from tools.defects.record import UNTOUCHED, Answer, Caught, classify_findings, read_records, read_tallies
from tools.defects.table import (
    compute_rate,
    count_answers,
    count_false_alarms,
    count_tallies,
    list_remarks,
    render_table,
    tally_lint,
)
from tools.records import append

ONE = Kind("one", "One thing", frozenset({"SK1", "SK2"}), "Static", lambda _: iter(()))
TWO = Kind("two", "Another", frozenset({"SK3"}), "Static", lambda _: iter(()))


def build_record(kind: str, result: Answer, *codes: str, scenario: str = "s") -> Caught:
    return Caught(kind=kind, scenario=scenario, answer=result, codes=codes)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [(("SK1",), "Right"), (("SK2", "SK9"), "Right"), (("SK9",), "Other"), ((), "Missed")],
)
def test_code_of_the_kind_among_the_findings_is_right(codes: tuple[str, ...], expected: str) -> None:
    assert classify_findings(ONE, codes) == expected


def test_inapplicable_copies_are_not_counted() -> None:
    records = [
        build_record("one", "Right"),
        build_record("one", "Missed"),
        build_record("one", "NotApplied"),
        build_record("two", "Other"),
    ]
    counts = count_answers(records, [ONE, TWO])
    assert compute_rate(counts) == (1, 3)
    text = render_table(counts, [ONE, TWO])
    assert "| one | One thing | SK1 SK2 | 2 | 1 |  | 1 |" in text
    assert "| **all** | | | 3 | 1 (33.3 %) | 1 | 1 |" in text


def test_unapplied_kind_has_no_row() -> None:
    assert "Another" not in render_table(count_answers([build_record("one", "Right")], [ONE, TWO]), [ONE, TWO])


def test_finding_about_an_untouched_scenario_is_a_false_alarm() -> None:
    records = [
        build_record(UNTOUCHED, "Missed"),
        build_record(UNTOUCHED, "Other", "SK9", scenario="t"),
        build_record("one", "Right"),
    ]
    assert count_false_alarms(records) == (1, 2)
    assert [line.split(":")[0] for line in list_remarks(records)] == ["FALSE ALARM"]


def test_last_record_of_a_copy_counts(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "records.jsonl"
    for record in (build_record("one", "Infra"), build_record("two", "Right"), build_record("one", "Right", "SK1")):
        append(path, record)
    assert {(r.kind, r.answer) for r in read_records(path)} == {("one", "Right"), ("two", "Right")}
    assert read_records(tmp_path / "nothing") == []


def test_tallies_of_lint_keep_counts_and_remarks(tmp_path: Path) -> None:
    records = [
        build_record("one", "Right"),
        build_record("one", "Other", "SK9", scenario="t"),
        build_record("two", "NotApplied"),
        build_record(UNTOUCHED, "Missed"),
    ]
    tallies = tally_lint(records, [UNTOUCHED, "one", "two"], "2026-11-25")
    path = tmp_path / "linted.jsonl"
    for tally in tallies:
        append(path, tally)
    known = read_tallies(path)
    assert known == tallies
    assert [(t.kind, t.right, t.other, t.missed, len(t.remarks)) for t in known] == [
        (UNTOUCHED, 0, 0, 1, 0),
        ("one", 1, 1, 0, 1),
        ("two", 0, 0, 0, 0),
    ]
    counts = count_tallies(known, [ONE, TWO])
    assert [counts["one"][answer] for answer in ("Right", "Other", "Missed")] == [1, 1, 0]
    assert counts["two"].total() == 0

"""The page keeps what people wrote, and holds the tables between its marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.defects.kind import Kind
from tools.defects.page import place_content, render_trial_part, write_page
from tools.defects.record import UNTOUCHED, Caught, LintTally

STATIC = Kind("typo", "A typo", frozenset({"SK1"}), "Static", lambda _: iter(()))
TRIED = Kind("lie", "A lie", frozenset({"SK4"}), "Trial", lambda _: iter(()))
PAGE = """before

<!-- lint: written by ci/defects --page -->
old
<!-- end of lint -->
between
<!-- trials: written by ci/defects --page -->
<!-- end of trials -->
after
"""


def test_tables_replace_text_between_markers(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    linted = [
        LintTally(kind="typo", date="2026-11-23", right=2, other=1, remarks=("Other: typo on s",)),
        LintTally(kind=UNTOUCHED, date="2026-11-24", missed=1),
        LintTally(kind="gone", date="2026-11-01", right=5),
    ]
    tried = [Caught(kind="lie", scenario="s", answer="Missed", reported="a lie", seconds=90.0)]
    write_page(path, linted, tried, [STATIC, TRIED])
    write_page(path, linted, tried, [STATIC, TRIED], copies=7)
    text = path.read_text()
    assert "old" not in text
    assert [text.count(word) for word in ("before", "between", "after", "| typo |", "| lie |")] == [1] * 5
    assert "2026-11-23, 1 kinds over 1 scenarios." in text
    assert "* Other: typo on s" in text
    assert "False alarms: 0 in 1 untouched scenarios." in text
    assert "* Missed: lie on s (a lie): nothing" in text
    assert "2 minutes of trials" in text
    assert "There are 7 such copies. 1 have been judged so far; lint refuses 0 more" in text


def test_page_states_the_dates_of_its_records() -> None:
    records = [Caught(kind="lie", scenario="s", answer="Right", date=day) for day in ("2026-11-25", "2026-11-23")]
    assert render_trial_part(records, [TRIED]).startswith("2026-11-23 to 2026-11-25, 1 kinds over 1 scenarios.")


def test_page_without_marks_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="no markers for 'lint'"):
        place_content("nothing", "lint", "table")

"""Rates, the records behind them, the accepted survivors, and the page."""

from tools import records
from tools.mutation.mutants import Mutant
from tools.mutation.rates import BEGIN, END, Rate, insert_table, list_survivors, rate, render_table
from tools.mutation.record import ACCEPTED, Tried, compact_records, read, read_accepted

ONE, TWO, THREE, FOUR = (
    Mutant(f"scenario_kit.judge.a.x_f{i}__mutmut_1", "scenario_kit/judge/a.py", 9 - i, f"-{i}") for i in range(4)
)
KNOWN = {
    m.key: Tried(key=m.key, answer=answer, date=day)
    for m, answer, day in (
        (ONE, "killed", "2026-11-24"),
        (TWO, "survived", "2026-11-25"),
        (THREE, "uncovered", "2026-11-23"),
    )
}


def test_only_tried_mutants_count_and_survivors_are_not_killed():
    found = rate("judge", 1, [ONE, TWO, THREE, FOUR], [ONE, TWO, THREE, FOUR], KNOWN, {TWO.key: "the same"})
    assert found == Rate("judge", 1, mutants=4, tried=3, killed=1, accepted=1, date="2026-11-25")
    assert round(found.percent, 1) == 33.3


def test_without_answers_the_rate_is_zero():
    assert rate("judge", 1, [ONE], [ONE], {}, {}).percent == 0


def test_survivors_are_sorted_by_file_and_line():
    assert list_survivors([ONE, TWO, THREE, FOUR], KNOWN) == [THREE, TWO]


def test_last_result_counts_and_stale_results_are_dropped(tmp_path):
    path = tmp_path / "record.jsonl"
    for key, answer in (
        (ONE.key, "survived"),
        ("judge.gone x", "killed"),
        ("campaign.b y", "killed"),
        (ONE.key, "killed"),
    ):
        records.append(path, Tried(key=key, answer=answer, date="2026-11-25"))
    compact_records(path, "judge", [ONE, TWO])
    assert {key: tried.answer for key, tried in read(path).items()} == {"campaign.b y": "killed", ONE.key: "killed"}
    assert len(path.read_text().splitlines()) == 2


def test_accepted_survivors_have_a_reason():
    assert read_accepted("# why\n\njudge.a.f 0123: the same for every number: really\n") == {
        "judge.a.f 0123": "the same for every number: really"
    }
    assert all(read_accepted(ACCEPTED.read_text()).values())


def test_page_updates_given_rates_only():
    judge, campaign = (Rate(name, 1, 10, 4, 3, 0, "2026-11-25") for name in ("judge", "campaign"))
    page = insert_table(f"before\n{BEGIN}\n{END}\nafter\n", [judge, campaign])
    later = insert_table(page, [Rate("judge", 2, 10, 4, 4, 0, "2026-11-26")])
    rows = [line for line in later.splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| campaign | 1 | 10 | 4 | 3 | 1 | 0 | 75.0 % | 2026-11-25 |",
        "| judge | 2 | 10 | 4 | 4 | 0 | 0 | 100.0 % | 2026-11-26 |",
    ]
    assert later.startswith("before\n")
    assert later.endswith("after\n")
    assert render_table([judge]).count("\n") == 2

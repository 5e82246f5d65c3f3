"""Cells of resilience tests: strikes, their outcomes, and the table."""

from collections import Counter

import pytest

from tools.resilience.cells import (
    HOWS,
    NAMESPACE,
    PARTS,
    STAGES,
    Cell,
    Outcome,
    build_cells,
    format_cells,
    sample_cells,
)

CELL = Cell(part="etcd", how="killed", stage="inject")


def outcome(verdict="NotEvaluated", ended="Infra", **more):
    return Outcome(cell=CELL, struck="inject", verdict=verdict, outcome=ended, **more)


@pytest.mark.parametrize(
    ("arrived", "word", "why"),
    [
        (outcome(), "infra", ""),
        (outcome("Pass", "Held"), "pass", ""),
        (outcome("Pass", "Infra"), "WRONG", "passed without a trial that held"),
        (outcome("Fail", "Broken"), "WRONG", "held against the scenario: Fail"),
        (outcome(codes=("SK322",)), "WRONG", "held against the scenario: SK322"),
        (outcome(left=("otel-demo-abcd",)), "WRONG", "left behind: otel-demo-abcd"),
        (Outcome(cell=CELL, verdict="Pass", outcome="Held"), "-", ""),
        (Outcome(cell=CELL, verdict="NotEvaluated", outcome="Infra", left=("otel-demo-abcd",)), "-", ""),
    ],
)
def test_strike_outcome_is_classified(arrived, word, why):
    assert (arrived.word, arrived.wrong) == (word, why)


def test_sample_covers_every_part_and_strike():
    every = build_cells()
    ways = {(p, h) for p in PARTS for h in HOWS if p != NAMESPACE or h == "killed"}
    assert len(every) == len(ways) * len(STAGES) == len(set(every))
    chosen = sample_cells(every, len(ways), 1)
    assert Counter((c.part, c.how) for c in chosen) == dict.fromkeys(ways, 1)
    assert chosen == sample_cells(every, len(chosen), 1)
    assert chosen != sample_cells(every, len(chosen), 2)
    assert len(sample_cells(every, 10_000, 1)) == len(every)


def test_table_has_rows_of_struck_components_and_defects():
    text = format_cells(
        [
            outcome(),
            Outcome(cell=Cell(part="etcd", how="hung", stage="hold"), struck="hold", verdict="Fail", outcome="Broken"),
        ]
    )
    lines = text.splitlines()
    assert lines[0].split() == ["part", "how", "inject", "hold"]
    assert lines[1].split() == ["etcd", "killed", "infra"]
    assert lines[2].split() == ["etcd", "hung", "WRONG"]
    assert lines[-2].startswith("2 strikes: 0 passed")
    assert lines[-1] == "etcd hung in hold: held against the scenario: Fail"

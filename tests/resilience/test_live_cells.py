"""Actions on a live incident: their outcomes, and the table."""

import pytest

from tools.resilience.live_cells import ACTIONS, ENDS, LIVE_STAGES, LiveCell, LiveOutcome, build_live_cells
from tools.resilience.live_cells import format_live_table as tell

CELL = LiveCell(action="scenario-edited", stage="inject")


def outcome(reached="IncidentActive", **more):
    return LiveOutcome(**{"cell": CELL, "struck": "inject", "reached": reached, "seconds": 31.4, **more})


@pytest.mark.parametrize(
    ("arrived", "word", "why"),
    [
        (outcome(), "31 s", ""),
        (outcome("Suspended", message="m"), "WRONG", "Suspended and not IncidentActive: m"),
        (outcome(""), "WRONG", "nothing and not IncidentActive: "),
        (outcome(left=("World/a",)), "WRONG", "left behind: World/a"),
        (outcome(broken=("a-g1: too late",)), "WRONG", "held against the scenario: a-g1: too late"),
        (outcome("", struck=""), "-", ""),
    ],
    ids=["as it should", "another end", "no end", "residue", "blamed", "over before"],
)
def test_live_outcome_is_classified(arrived, word, why):
    assert (arrived.word, arrived.wrong) == (word, why)


def test_every_action_has_an_end_and_happens_at_every_step():
    assert set(ENDS) == set(ACTIONS)
    assert len(set(build_live_cells())) == len(ACTIONS) * len(LIVE_STAGES)


def test_table_has_rows_of_actions_and_defects():
    lines = tell([outcome(), outcome("", cell=LiveCell(action="trial-deleted", stage="deploy"))]).splitlines()
    assert lines[0].split() == ["action", *LIVE_STAGES]
    assert lines[1].split() == ["scenario-edited", "31", "s"]
    assert lines[2].split() == ["trial-deleted", "WRONG"]
    assert lines[4:] == ["2 actions, 1 wrong", "trial-deleted in deploy: nothing and not IncidentActive: "]

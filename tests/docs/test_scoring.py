"""The page of metrics: every metric of the code has a row, with its source and a worked number, and no other has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from scenario_kit.scoring.scores.definitions import METRICS, MetricDefinition

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT

PAGE = (ROOT / "docs" / "scoring.md").read_text()
HEADER = "| key | definition | source | worked number |"
ROWS = {
    key: cells
    for part in PAGE.split(HEADER)[1:]
    for line in part.split("\n\n")[0].splitlines()
    if len(cells := re.split(r"(?<!\\)\|", line.strip().strip("|"))) == 4
    for key in re.findall(r"`([^`]+)`", cells[0])
}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.key)
def test_every_metric_is_defined_with_its_source_and_a_number(metric: MetricDefinition) -> None:
    assert metric.key in ROWS, "no row of docs/scoring.md has this key"
    _, definition, source, worked = (cell.strip() for cell in ROWS[metric.key])
    assert definition
    assert source == metric.source
    assert re.search(r"\d", worked) or worked.startswith("as ")


def test_every_documented_metric_exists() -> None:
    assert set(ROWS) - {metric.key for metric in METRICS} == set()


def test_every_scoring_option_is_documented() -> None:
    options = ("--topology", "--namespace", "--duplicates", "--aliases", "--ignore-namespace", "--repeats", "--cap")
    assert [option for option in (*options, "--seed", "--decisions", "--against", "--ntam") if option not in PAGE] == []

"""The map of the code: every path of it is there, and every package of the lab is on it."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text()


def rows(heading: str) -> list[list[str]]:
    part = PAGE.partition(heading)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[1:] if "|" in line]


def test_every_listed_path_exists() -> None:
    table = rows("| to change | see |")
    paths = [path for _, where in table for path in re.findall(r"`([^`]+)`", where)]

    assert len(table) >= 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_lab_and_twin_package_has_a_row() -> None:
    for package, heading in (("lab", "| package of `lab` |"), ("lab/twin", "| package of `lab.twin` |")):
        named = {name for first, *_ in rows(heading + " responsibility |") for name in re.findall(r"`([^`]+)`", first)}
        there = {path.parent.name for path in (ROOT / "scenario_kit" / package).glob("*/__init__.py")}
        assert named == there, package

"""The part of the tutorial that needs no lab, executed as it stands in the text."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from pages import ROOT, blocks, play, session

TEXT = (ROOT / "docs" / "tutorial.md").read_text()
FIRST = TEXT.partition("\n## In the lab")[0]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "catalog").symlink_to(ROOT / "catalog")
    (tmp_path / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
    return tmp_path


def test_tutorial_without_lab_succeeds(folder):
    before, after = FIRST.split("```yaml\n")
    shown = session(before)
    # Done already, or nothing here would run.
    assert [s.command for s in shown[:2]] == ["ci/venv", ". .venv/bin/activate"]
    for each in shown[2:]:
        play(each, folder)
    (folder / "my-scenarios/shipping-scaled-to-zero/scenario.yaml").write_text(blocks(TEXT, "yaml")[0])
    for each in session("```yaml\n" + after):
        play(each, folder)

"""The part of the tutorial that needs a lab, executed as it stands in the text."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))
from pages import ROOT, blocks, play, session

TEXT = (ROOT / "docs" / "tutorial.md").read_text()


def test_tutorial_with_lab_succeeds(lab, tmp_path):
    scenario = tmp_path / "my-scenarios" / "shipping-scaled-to-zero" / "scenario.yaml"
    scenario.parent.mkdir(parents=True)
    scenario.write_text(blocks(TEXT, "yaml")[0])
    shown = session(TEXT.partition("\n## In the lab")[2])
    assert [s.command.split()[1] for s in shown] == ["try", "report"]
    for each in shown:
        # The lab of the tests has a name of its own.
        play(each, tmp_path, extra=f" --name {lab.name}" if "try" in each.command else "")

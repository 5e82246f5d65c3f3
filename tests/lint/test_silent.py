"""SK324: an incident of which no alert tells has to be shown by something else."""

from pathlib import Path

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lint import lint_text

FILE = Path(__file__).parents[1] / "fixtures" / "language" / "silent" / "scenario.yaml"
CATALOG = Catalog()
SILENT = "    silent: true\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (SILENT, "", "no expected alert has the class MustFire"),
        ("      withinSeconds: 300\n", "      withinSeconds: 300\n      stays: true\n", "no check that shows it"),
        (
            SILENT,
            f"{SILENT}    alerts: [{{name: HighRequestLatency}}]\n",
            "must fire, but the incident is declared as silent",
        ),
        ("    rootCauses:\n", "    outcome: Benign\n    rootCauses:\n", "`silent` has no meaning"),
    ],
)
def test_what_is_wrong_with_a_silent_incident(old: str, new: str, message: str) -> None:
    text = FILE.read_text()
    assert old in text
    found = [each.finding for each in lint_text(text.replace(old, new), FILE, CATALOG) if each.finding.code == "SK324"]
    assert [message in finding.message for finding in found] == [True]

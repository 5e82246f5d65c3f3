"""A sample of `ci/crash`: whatever happens at a write, the trial holds, commands run once, and nothing stays."""

import pytest

from scenario_kit.catalog import Catalog
from tools.crash.cells import Cell
from tools.crash.strike import disturb, place_proxy, record_writes

#: The Job exists and the operator has not been told: it died, or the answer was lost.
DISTURBANCES = ("killed-after", "unanswered")
#: The operation with the most delicate receipts: what it did to a store cannot be read from an object.
OPERATION = "run"


@pytest.mark.timeout(600)
def test_a_disturbed_write_changes_nothing_about_the_end(lab):
    catalog = Catalog()
    with place_proxy(lab.name) as proxy:
        writes = record_writes(lab.name, proxy, OPERATION, catalog)
        job = next(n for n, write in enumerate(writes, start=1) if write.path.endswith("/jobs"))
        outcomes = [
            disturb(lab.name, proxy, Cell(operation=OPERATION, disturbance=each, number=job), catalog)
            for each in DISTURBANCES
        ]
    for outcome in outcomes:
        print(outcome.cell, outcome.write, outcome.word, f"{outcome.seconds} s")
    assert [o.defect for o in outcomes] == [""] * len(outcomes), outcomes
    assert [o.jobs for o in outcomes] == [1] * len(outcomes)

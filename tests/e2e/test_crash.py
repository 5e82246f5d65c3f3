"""A sample of `ci/crash`: despite a disturbed write the trial holds, commands run once, nothing is left."""

import pytest

from scenario_kit.catalog import Catalog
from tools.crash.cells import EVERY, Cell
from tools.crash.strike import place_proxy, play_cell, record_writes

#: The Job exists and the operator has not been told: it died, or the answer was lost.
DISTURBANCES = ("killed-after", "unanswered")
#: The operation with the most delicate receipts: what it did to a store cannot be read from an object.
OPERATION = "run"


@pytest.mark.timeout(600)
def test_disturbed_write_does_not_change_the_outcome(lab):
    catalog = Catalog()
    with place_proxy(lab.name) as place:
        writes = record_writes(place, OPERATION, catalog)
        job = next(n for n, write in enumerate(writes, start=1) if write.path.endswith("/jobs"))
        cells = [Cell(operation=OPERATION, disturbance=each, number=job) for each in DISTURBANCES]
        cells.append(Cell(operation=OPERATION, disturbance="watches-closed", number=EVERY))
        outcomes = [play_cell(place, cell, catalog)() for cell in cells]
    for outcome in outcomes:
        print(outcome.cell, outcome.write, outcome.word, f"{outcome.seconds} s")
    assert [o.defect for o in outcomes] == [""] * len(outcomes), outcomes
    assert [o.jobs for o in outcomes] == [1] * len(outcomes)

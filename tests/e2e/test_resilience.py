"""A sample of `ci/resilience`: infrastructure failures are not authoring errors, and nothing is left."""

import pytest

from scenario_kit.catalog import Catalog
from tools.resilience.cells import Cell
from tools.resilience.strike import disturb_campaign

#: A controller that hangs while its work is waited for, and a pause that a trial may survive; others are killed in
#: test_infrastructure.
STRUCK = (
    Cell(part="kube-controller-manager", how="hung", stage="inject"),
    Cell(part="prometheus", how="paused", stage="expectAlerts"),
)


@pytest.mark.parametrize("cell", STRUCK, ids=str)
def test_infrastructure_failure_is_not_an_authoring_error(lab, cell):
    outcome = disturb_campaign(lab.name, cell, 1, Catalog())
    print(outcome.word, outcome.struck, outcome.message, f"{outcome.seconds} s")
    assert not outcome.wrong, outcome

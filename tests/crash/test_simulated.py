"""Cells in memory: an operator that was killed at a write goes on, and a mistake would be seen."""

import logging

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.changes import ClusterStore
from scenario_kit.model import Reference
from tools.crash.cells import EVERY, Cell, build_cells, sample_cells
from tools.crash.in_memory import DISTURBANCES_IN_MEMORY, play_simulated_cell, record_simulated
from tools.crash.subjects import CHANGES

#: Of about 1,200 cells; `ci/crash --simulated` tries all.
SAMPLE = 24
CATALOG = Catalog()


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def writes():
    return {operation: record_simulated(operation, CATALOG) for operation in CHANGES}


def test_sampled_cells_have_no_defect(writes):
    cells = sample_cells(build_cells(writes, DISTURBANCES_IN_MEMORY), SAMPLE, seed=1)
    outcomes = [play_simulated_cell(cell, CATALOG) for cell in cells]
    assert [(str(o.cell), o.defect) for o in outcomes if o.defect] == []
    assert all(o.write for o in outcomes)


@pytest.mark.parametrize("disturbance", ["killed-before", "killed-after"])
def test_operator_killed_at_each_write_runs_command_once(disturbance):
    outcome = play_simulated_cell(Cell(operation="run", disturbance=disturbance, number=EVERY), CATALOG)
    assert (outcome.defect, outcome.jobs) == ("", 1)
    assert outcome.times > 30


def test_wrong_receipt_deletion_order_is_a_defect(monkeypatch):
    """As they were: the first change first. A kill in between lets the second one be judged alone."""

    def clear(store):
        for receipt in store.all():
            store._cluster.delete(Reference("ConfigMap", receipt.name, store._namespace))
        store._known = None

    monkeypatch.setattr(ClusterStore, "clear", clear)
    outcome = play_simulated_cell(Cell(operation="untaint", disturbance="killed-before", number=EVERY), CATALOG)
    assert "changed: Node/worker-1" in outcome.defect

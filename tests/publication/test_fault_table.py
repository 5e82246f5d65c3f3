"""The matrix of faults in short."""

import pytest

from scenario_kit.model.results.matrix import Fired
from scenario_kit.publication.site.fault_table import summarise_rows, tabulate_faults
from tests.publication.catalogue import row

LOUD = (Fired(name="A", seconds=200.0), Fired(name="B", seconds=300.0))


@pytest.mark.parametrize(
    ("rows", "text", "state"),
    [
        ([], "–", "none"),
        ([row(outcome="Infra")], "–", "none"),
        ([row(outcome="Lacking")], "not in a lab", "none"),
        ([row(outcome="NoEffect"), row(outcome="Lacking")], "no effect", "none"),
        ([row(alerts=LOUD), row(alerts=LOUD[1:])], "2 of 2 alert, first after 250 s", "all"),
        ([row(alerts=LOUD), row()], "1 of 2 alert, first after 200 s", "some"),
        ([row()], "0 of 1 alert", "silent"),
    ],
)
def test_cells_count_targets(rows, text, state):
    found = summarise_rows(rows)
    assert (found.text, found.state) == (text, state)


def test_most_frequent_alerts_come_first_with_recovery_counts():
    found = summarise_rows([row(alerts=LOUD, recovered=True), row(alerts=LOUD[1:], recovered=False)])
    assert found.detail == "B (2), A (1); 1 of 2 recovered"


def test_every_fault_type_has_a_cell_per_app_and_its_scenarios():
    (family,) = tabulate_faults({"a 1": [row("x"), row("y")], "b 1": [row("x")]}, {"x": ["two", "one"]})
    assert family.title == "Workload specification"
    assert [(each.fault, len(each.cells), each.scenarios) for each in family.rows] == [
        ("x", 2, ("one", "two")), ("y", 2, ()),
    ]  # fmt: skip

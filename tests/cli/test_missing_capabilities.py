"""Capabilities of an offered fault that the lab lacks, each listed once."""

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.cli.authoring.missing_capabilities import find_missing_for
from scenario_kit.cli.authoring.questions import _list_types
from scenario_kit.render.faults.first_offer import find_first_offer

CATALOG = Catalog()
SHOP = CATALOG.app("otel-demo", "2.2.0")
UNSIMULATED = msgspec.structs.replace(SHOP, twin=None)


def offer(fault):
    return find_first_offer(CATALOG.fault(fault), SHOP, CATALOG)


@pytest.mark.parametrize(
    ("fault", "app", "needs"),
    [
        ("pod-failure", SHOP, []),
        ("pod-failure", UNSIMULATED, ["real-data-plane"]),
        ("noisy-neighbor", SHOP, ["real-nodes", "real-data-plane"]),
        ("noisy-neighbor", UNSIMULATED, ["real-nodes", "real-data-plane"]),
    ],
)
def test_missing_capabilities_are_listed_once(fault, app, needs):
    assert [lack.need for lack in find_missing_for(offer(fault), app, CATALOG)] == needs


@pytest.mark.parametrize(
    ("app", "listed"),
    [
        (SHOP, "pod-failure; not in the lab: noisy-neighbor (requires real-nodes, real-data-plane)"),
        (UNSIMULATED, "pod-failure; not in the lab: noisy-neighbor (requires real-nodes)"),
    ],
)
def test_fault_list_omits_requirements_of_the_app(app, listed):
    assert _list_types([offer("pod-failure"), offer("noisy-neighbor")], app, CATALOG) == listed

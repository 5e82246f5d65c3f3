"""Selection by chaos objects."""

from typing import Any

import pytest

from scenario_kit.model.chaos.kinds import list_sides, schedule_key
from scenario_kit.model.chaos.reach import list_namespaces

SHOP = {"namespaces": ["shop"]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"selector": SHOP}, (SHOP, None)),
        ({"selector": SHOP, "target": {"selector": SHOP}}, (SHOP, SHOP)),
        ({"selector": SHOP, "target": {"mode": "all"}}, (SHOP, {})),
        ({"selector": SHOP, "target": "Request"}, (SHOP, None)),
        ({}, ({}, None)),
    ],
)
def test_list_sides_returns_selector_and_target(spec: dict[str, Any], expected: tuple[Any, Any]) -> None:
    assert list_sides(spec) == expected


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        ("NetworkChaos", {"selector": SHOP}, {"shop"}),
        ("PodChaos", {"selector": {"pods": {"shop": ["web-0"], "stores": ["db-0"]}}}, {"shop", "stores"}),
        ("NetworkChaos", {"selector": {"namespaces": ["kit"]}, "target": {"selector": SHOP}}, {"kit", "shop"}),
        ("HTTPChaos", {"selector": SHOP, "target": "Response"}, {"shop"}),
        ("NetworkChaos", {"selector": {}}, set()),
        ("PodNetworkChaos", {"tcs": []}, set()),
        ("RemoteCluster", None, set()),
    ],
)
def test_selected_namespaces_are_listed(kind: str, spec: Any, expected: set[str]) -> None:
    body = {} if spec is None else {"spec": spec}
    assert list_namespaces({"kind": kind, **body}) == expected
    if expected:
        again = {"type": kind, schedule_key(kind): spec}
        assert list_namespaces({"kind": "Schedule", "spec": again}) == expected

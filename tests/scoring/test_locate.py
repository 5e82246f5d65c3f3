"""Nodes of a topology: by kind and name, by name alone, or nowhere."""

from __future__ import annotations

from scenario_kit.scoring.entities.truth import IncidentTruth
from scenario_kit.scoring.graph.locate import Locator
from scenario_kit.scoring.graph.topology import Topology, TopologyNode
from scenario_kit.scoring.matching.matcher import build_truth_index
from tests.scoring.shop import shop
from tests.scoring.truths import group

TRUTH = IncidentTruth(
    incident="i",
    groups=(
        group("cart", "shop/Deployment", "cart(-.*)?", root=True), group("pod", "shop/Pod", "cart-.*"),
        group("chaos", "NetworkChaos/delay", root=True),
    ),
    aliases=(("cart", "pod"),),
)  # fmt: skip
INDEX = build_truth_index(TRUTH)
KINDS = Topology(
    [
        TopologyNode("1", "cart", "Deployment", "other"),
        TopologyNode("2", "cart", "Deployment", "shop"),
        TopologyNode("3", "cart-7f9-abc", "Pod", "shop"),
        TopologyNode("4", "ad", "Deployment", "shop"),
    ],
    [],
)


def test_in_a_graph_of_objects() -> None:
    locator = Locator(KINDS, INDEX)
    assert locator.list_classes(["cart", "chaos"]) == ["2", "!chaos"]
    assert locator.locate("shop/Pod/cart-7f9-abc") == "2"
    assert locator.locate("NetworkChaos/delay") == "!chaos"
    assert locator.locate("shop/Deployment/ad") == "4"
    assert locator.locate("other/Deployment/cart") == "1"
    assert locator.locate("other/Deployment/ad").startswith("?")
    assert locator.locate("ad").startswith("?")


def test_in_a_graph_of_services() -> None:
    locator = Locator(shop(), INDEX)
    assert locator.list_classes(["cart"]) == ["cart"]
    assert locator.locate_all(["shop/Pod/cart-7f9-abc", "shop/Service/ad", "shop/Pod/valkey-0", "Node/x"]) == [
        "cart", "ad", "valkey", "?Node/x",
    ]  # fmt: skip

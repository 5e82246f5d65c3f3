"""Where the pods of each workload run."""

from __future__ import annotations

from scenario_kit.model import Object, Reference
from scenario_kit.model.authored.app import App, Component
from scenario_kit.observe.placement import map_placement

SHOP = App(
    name="shop", version="1", namespace="shop", entry="cart",
    components=tuple(Component(name=n, workload=Reference("Deployment", n), service=n) for n in ("ad", "cart")),
)  # fmt: skip


def pod(name: str, node: str = "") -> Object:
    return {"metadata": {"name": name}, "spec": {"nodeName": node} if node else {}}


def test_placement_lists_a_node_per_pod() -> None:
    pods = [
        pod("cart-7d9f8b6c5d-zzzzz", "node-1"),
        pod("ad-7d9f8b6c5d-x2x4z", "node-1"),
        pod("cart-7d9f8b6c5d-bbbbb", "node-0"),
        pod("ad-7d9f8b6c5d-wwwww"),
    ]
    assert list(map_placement(pods, SHOP).items()) == [
        ("Deployment/ad", ("node-1",)),
        ("Deployment/cart", ("node-0", "node-1")),
    ]
    assert map_placement(pods, SHOP) == map_placement(pods[::-1], SHOP)

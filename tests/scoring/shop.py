"""The shop by which NTAM's worked numbers are made: 10 services, 13 calls."""

from __future__ import annotations

from scenario_kit.scoring.graph.topology import Topology, TopologyEdge, TopologyNode

CALLS = {
    "frontend-proxy": ["frontend"],
    "frontend": ["checkout", "cart", "ad", "recommendation", "product-catalog"],
    "checkout": ["payment", "cart", "product-catalog"],
    "recommendation": ["product-catalog"],
    "cart": ["valkey"],
    "payment": ["flagd"],
    "ad": ["flagd"],
}
NAMES = sorted({*CALLS, *(name for names in CALLS.values() for name in names)})


def shop() -> Topology:
    edges = [TopologyEdge(source, target, "calls") for source, targets in CALLS.items() for target in targets]
    return Topology([TopologyNode(name, name) for name in NAMES], edges)

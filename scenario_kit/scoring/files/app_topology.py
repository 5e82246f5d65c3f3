"""The topology of a catalogue app: components and calls."""

from __future__ import annotations

from scenario_kit.model import App
from scenario_kit.scoring.graph.topology import Topology, TopologyEdge, TopologyNode


def build_app_topology(app: App) -> Topology:
    """Build the call graph of an app, with nodes named after workloads."""
    nodes = [TopologyNode(each.name, each.workload.name) for each in app.components]
    known = {node.id for node in nodes}
    edges = [
        TopologyEdge(call.caller, call.callee, "calls") for call in app.calls if {call.caller, call.callee} <= known
    ]
    return Topology(nodes, edges)

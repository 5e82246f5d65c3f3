"""Read topologies in ITBench's three formats: recorded objects, operational graph, and static graph of an app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from scenario_kit.errors import UsageError
from scenario_kit.load import suggest_path
from scenario_kit.scoring.files.fields import Fields, Mistakes
from scenario_kit.scoring.files.source import Source, read_source
from scenario_kit.scoring.graph.topology import Topology, TopologyEdge, TopologyNode


class _NodeForm(msgspec.Struct):
    id: str
    name: str = ""
    kind: str = ""
    namespace: str | None = None


class _EdgeForm(msgspec.Struct):
    source: str
    target: str
    relation: str = ""
    type: str = ""


class _GraphForm(msgspec.Struct):
    nodes: list[_NodeForm]
    edges: list[_EdgeForm]


def read_topology(path: Path) -> Topology:
    """Read a topology: a file of one of the formats, or a folder with recorded ``nodes`` and ``edges``.

    Of several recordings in a folder, the last by name counts.

    Raises:
        UsageError: the path does not exist, or the folder contains no recording.
        AuthoringError: wrong types, duplicate node ids or dangling edges; one finding per error.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist", fix=suggest_path(path) or "pass a topology")
    if path.is_dir():
        return _read_recording(path)
    source = read_source(path)
    if isinstance(source.data, dict) and ("components" in source.data or "dependencies" in source.data):
        return _read_static(source)
    return _build(source, source.data)


def _read_recording(folder: Path) -> Topology:
    nodes = sorted(each for each in folder.iterdir() if each.name.partition("nodes__")[1])
    edges = nodes[-1].with_name("edges__".join(nodes[-1].name.rsplit("nodes__", 1))) if nodes else None
    if edges is None or not edges.exists():
        raise UsageError(
            f"{folder} contains no recorded topology", fix="expected …nodes__<time>.json and …edges__<time>.json"
        )
    sources = [read_source(nodes[-1]), read_source(edges)]
    places = {"nodes": sources[0], "edges": sources[1]}
    data = {name: source.data for name, source in places.items()}
    return _build(Source(str(folder), data, lambda place: places[str(place[0])].locate(place[1:])), data)


def _build(source: Source, data: Any) -> Topology:
    """Build a graph of nodes and edges; positions are only computed after a validation error."""
    try:
        graph = msgspec.convert(data, _GraphForm)
    except msgspec.ValidationError:
        _raise_type_errors(source)
        raise
    nodes = [
        TopologyNode(node.id, node.name or node.id.rpartition("/")[2], node.kind, node.namespace or "")
        for node in graph.nodes
    ]
    edges = [TopologyEdge(edge.source, edge.target, edge.relation or edge.type) for edge in graph.edges]
    _check_ends(source, nodes, edges, ("nodes", "edges"))
    return Topology(nodes, edges)


def _read_static(source: Source) -> Topology:
    mistakes = Mistakes(source)
    document = Fields(mistakes, (), source.data)
    components = document.read_object("components")
    parts = [
        part for kind in ("services", "infrastructure") for part in (components.read_list(kind) if components else ())
    ]
    nodes = [TopologyNode(name, name) for name in (part.read_text("name", required=True) for part in parts)]
    edges = [
        TopologyEdge(each.read_text("source", required=True), each.read_text("target", required=True), "calls")
        for each in document.read_list("dependencies")
    ]
    mistakes.raise_errors()
    _check_ends(source, nodes, edges, ("components", "dependencies"))
    return Topology(nodes, edges)


def _raise_type_errors(source: Source) -> None:
    """Report all fields of the wrong type.

    Raises:
        AuthoringError: one finding per error.
    """
    mistakes = Mistakes(source)
    graph = Fields(mistakes, (), source.data)
    for node in graph.read_list("nodes", required=True):
        node.read_text("id", required=True)
        for name in ("name", "kind", "namespace"):
            node.read_text(name)
    for edge in graph.read_list("edges", required=True):
        for name in ("source", "target"):
            edge.read_text(name, required=True)
        for name in ("relation", "type"):
            edge.read_text(name)
    mistakes.raise_errors()


def _check_ends(source: Source, nodes: list[TopologyNode], edges: list[TopologyEdge], names: tuple[str, str]) -> None:
    mistakes = Mistakes(source)
    known: set[str] = set()
    for i, node in enumerate(nodes):
        if node.id in known:
            mistakes.note((names[0], i), f"duplicate node id '{node.id}'", fix="use unique ids")
        known.add(node.id)
    for i, edge in enumerate(edges):
        for end in (edge.source, edge.target):
            if end not in known and len(mistakes.findings) < 100:
                mistakes.note(
                    (names[1], i), f"the edge refers to '{end}', which is not a node", fix="use the id of a node"
                )
    mistakes.raise_errors()

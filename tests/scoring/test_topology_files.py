"""Topologies in three forms, and price lists."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.errors import AuthoringError, UsageError
from scenario_kit.scoring.files.price_lists import read_price_list
from scenario_kit.scoring.files.topologies import read_topology

NODES = [
    {"id": "Deployment/cart", "kind": "Deployment", "name": "cart", "namespace": "shop"},
    {"id": "Pod/cart-1", "kind": "Pod", "name": "cart-1", "namespace": "shop", "labels": {"a": "b"}},
    {"id": "Node/one", "kind": "Node", "name": "one", "namespace": None},
]
EDGES = [
    {"source": "Deployment/cart", "target": "Pod/cart-1", "relation": "contains"},
    {"source": "Pod/cart-1", "target": "Deployment/cart", "relation": "depends_on"},
    {"source": "Pod/cart-1", "target": "Node/one", "type": "RUNS_ON", "verbose_type": "x"},
    {"source": "Node/one", "target": "Node/one", "relation": "self"},
]
STATIC = {
    "name": "shop",
    "components": {"services": [{"name": "cart", "language": "Go"}], "infrastructure": [{"name": "valkey"}]},
    "dependencies": [{"source": "cart", "target": "valkey", "protocol": "tcp"}],
}


def write(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def test_operational_graph(tmp_path: Path) -> None:
    topology = read_topology(write(tmp_path / "graph.json", {"nodes": NODES, "edges": EDGES}))
    assert (len(topology.nodes), topology.edges) == (3, 2)
    assert topology.measure_distances("Deployment/cart") == {"Deployment/cart": 0, "Pod/cart-1": 1, "Node/one": 2}
    assert topology.measure_distances("Deployment/cart", {"RUNS_ON": 0.5})["Node/one"] == 1.5


def test_recording(tmp_path: Path) -> None:
    for prefix, nodes in (("init__", NODES[:1]), ("post_fault_injection__", NODES)):
        write(tmp_path / f"{prefix}nodes__2026-11-25T10-00-00.0.json", nodes)
        write(tmp_path / f"{prefix}edges__2026-11-25T10-00-00.0.json", EDGES if len(nodes) > 1 else [])
    assert len(read_topology(tmp_path).nodes) == 3
    with pytest.raises(UsageError, match="no recorded topology"):
        read_topology(tmp_path.parent)


def test_static_graph(tmp_path: Path) -> None:
    topology = read_topology(write(tmp_path / "app.json", STATIC))
    assert (sorted(topology.nodes), topology.edges) == (["cart", "valkey"], 1)
    assert topology.list_dependents(["valkey"]) == {"valkey", "cart"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"nodes": NODES, "edges": [{"source": "x", "target": "Node/one"}]},
            "the edge refers to 'x', which is not a node",
        ),
        ({"nodes": [*NODES, NODES[0]], "edges": []}, "duplicate node id 'Deployment/cart'"),
        ({"nodes": [{"id": 5}], "edges": []}, "`nodes[0].id` is a number, not a string"),
        ({"nodes": []}, "`edges` is missing"),
        ([1], "`the document` is a list, not an object"),
        ({"components": {"services": [{}]}}, "`components.services[0].name` is missing"),
        ({**STATIC, "dependencies": [{"source": "cart", "target": "gone"}]}, "the edge refers to 'gone'"),
    ],
)
def test_topology_with_a_mistake(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(AuthoringError) as caught:
        read_topology(write(tmp_path / "graph.json", data))
    found = next(f for f in caught.value.findings if message in f.message)
    assert found.position is not None
    assert found.fix


def test_price_list(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("id: p1\ndate: 2026-11-25\nmodels: {m: {input: 2.0, cached: 0.2, output: 10}}\n")
    prices = read_price_list(path)
    assert (prices.id, prices.date, prices.models["m"].cached) == ("p1", date(2026, 11, 25), 0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id: p\nmodels: {}", "`date` is missing"),
        ("id: p\ndate: soon", "`date` is 'soon'"),
        ("id: p\ndate: 2026-01-01\nmodels: {m: {input: -1, output: 2}}", "`models.m.input` is -1"),
        ("id: p\ndate: 2026-01-01\nmodels: {m: {input: 1}}", "`models.m.output` is missing"),
    ],
)
def test_price_list_with_a_mistake(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(AuthoringError) as caught:
        read_price_list(path)
    assert any(message in finding.message for finding in caught.value.findings)

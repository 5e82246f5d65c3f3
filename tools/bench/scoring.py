"""Time that scoring takes."""

from __future__ import annotations

import json
import tempfile
from itertools import pairwise
from pathlib import Path

from tools.bench.commands import time_command


def time_scoring(runs: int, incidents: int = 60) -> float:
    """Return the seconds needed to score that many runs of incidents with four entities each."""
    with tempfile.TemporaryDirectory() as folder:
        truths, outputs = Path(folder) / "truths", Path(folder) / "outputs"
        for i in range(incidents):
            names = [f"s{(i + step) % 50}" for step in range(4)]
            groups = [{"id": n, "kind": "Deployment", "namespace": "shop", "filter": [f"{n}(-.*)?"]} for n in names]
            edges = [{"source": a, "target": b, "effect": "errors"} for a, b in pairwise(names)]
            document = {"groups": [groups[0] | {"root_cause": True}, *groups[1:]], "propagations": edges}
            write_json(truths / f"Scenario-{i}/ground_truth.json", document)
        for i in range(runs):
            names = [f"shop/Deployment/s{(i + step) % 50}" for step in (0, 1, 3)]
            entities = [{"name": name, "contributing_factor": name == names[0]} for name in names]
            edges = [{"source": a, "target": b} for a, b in pairwise(names)]
            document = {"entities": entities, "propagations": edges, "alerts_explained": []}
            write_json(outputs / f"Scenario-{i % incidents}/{i}/agent_output.json", document)
        graph = build_graph(50)
        write_json(Path(folder) / "graph.json", graph)
        more = ("--topology", str(Path(folder) / "graph.json"), "--format", "json")
        return time_command("score", str(truths), str(outputs), *more)


def time_large_score(nodes: int) -> float:
    """Return the seconds to score one answer in a topology with that many nodes and three times as many edges."""
    with tempfile.TemporaryDirectory() as folder:
        root = {"id": "r", "kind": "Deployment", "namespace": "shop", "filter": ["s7(-.*)?"], "root_cause": True}
        write_json(Path(folder) / "truth.json", {"groups": [root]})
        entities = [{"name": f"shop/Deployment/s{i}", "contributing_factor": True} for i in range(20)]
        answer = {"entities": entities, "propagations": [], "alerts_explained": []}
        write_json(Path(folder) / "answer.json", answer)
        write_json(Path(folder) / "graph.json", build_graph(nodes))
        more = ("--topology", str(Path(folder) / "graph.json"))
        return time_command("score", str(Path(folder) / "truth.json"), str(Path(folder) / "answer.json"), *more)


def build_graph(count: int) -> dict[str, list[dict[str, str]]]:
    """Build a graph of Deployments, each of which calls three others."""
    nodes = [
        {"id": f"Deployment/s{i}", "kind": "Deployment", "name": f"s{i}", "namespace": "shop"} for i in range(count)
    ]
    edges = [
        {"source": f"Deployment/s{i}", "target": f"Deployment/s{(i * 7 + step) % count}", "relation": "calls"}
        for i in range(count) for step in (1, 2, 3)
    ]  # fmt: skip
    return {"nodes": nodes, "edges": edges}


def write_json(path: Path, document: object) -> None:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))

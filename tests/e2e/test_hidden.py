"""A hidden fault, in a real control plane with the real manager: it bites, nothing of it is to be seen, it goes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenario_kit.catalog.loader import read_mapping
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.errors import ClusterError, Forbidden, NotFound
from scenario_kit.model import Reference
from scenario_kit.model.chaos.kinds import GROUP

FILE = Path(__file__).parents[1] / "fixtures" / "language" / "hidden" / "scenario.yaml"
REF = Reference("Scenario", "hidden", "scenario-kit", "scenariokit.io")
TRACES = ("NetworkChaos", "chaos-mesh.org/", "scenariokit", "catalog-delay")


def eventually(what: Callable[[], Any], within: float, message: str) -> None:
    deadline = time.monotonic() + within
    while not what():
        if time.monotonic() > deadline:
            pytest.fail(f"{message} within {within} s")
        time.sleep(0.5)


def condition(lab: Any, type: str) -> dict[str, Any]:
    status = (lab.cluster.get(REF) or {}).get("status") or {}
    return next((c for c in status.get("conditions") or [] if c["type"] == type), {})


@pytest.fixture
def deleted_afterwards(lab: Any) -> Iterator[None]:
    yield
    lab.cluster.delete(REF)
    eventually(lambda: lab.cluster.get(REF) is None, 120, "the scenario is not gone")


def readable(solver: KubeCluster, namespace: str) -> dict[str, list[dict[str, Any]]]:
    """Everything that the solver's rights let it list, by kind: in the app's namespace, and of the cluster."""
    found: dict[str, list[dict[str, Any]]] = {}
    for kind in solver.kinds():
        try:
            found[f"{kind.kind}.{kind.group}"] = solver.list(
                kind.kind, namespace if kind.namespaced else "", group=kind.group
            )
        except (Forbidden, NotFound, ClusterError):
            continue
    return found


def test_hidden_delay_has_effect_and_is_unreadable(lab: Any, deleted_afterwards: None) -> None:
    document = read_mapping(FILE)
    document["metadata"] |= {"namespace": "scenario-kit", "annotations": {"scenariokit.io/clock": "Virtual"}}
    lab.cluster.create(document)
    eventually(lambda: condition(lab, "SymptomsPresent").get("status") == "True", 240, "no symptoms")

    (hidden,) = lab.cluster.list("NetworkChaos", "scenario-kit", group=GROUP)
    assert {c["type"]: c["status"] for c in hidden["status"]["conditions"]}["AllInjected"] == "True"
    assert hidden["spec"]["selector"]["namespaces"] == ["otel-demo"]
    solver = KubeCluster(kubeconfig=Path(lab.state.solver_kubeconfig), field_manager="kubectl-edit")
    seen = readable(solver, "otel-demo")
    assert {"Pod.", "Event.", "Event.events.k8s.io", "Deployment.apps", "Secret.", "Node."} <= seen.keys()
    assert not [kind for kind in seen if "chaos" in kind.lower() or "scenariokit" in kind]
    shown = json.dumps(seen)
    assert [trace for trace in (*TRACES, hidden["metadata"]["name"]) if trace in shown] == []
    assert "Chaos" not in json.dumps(seen["Event."])
    # What the manager keeps for each pod is there, so it would have told events about it.
    children = lab.cluster.list("PodNetworkChaos", "otel-demo", group=GROUP)
    assert [c for c in children if c["status"].get("observedGeneration")]
    assert not [e for e in lab.cluster.list("Event", "otel-demo") if "Chaos" in e["involvedObject"]["kind"]]
    with pytest.raises(Forbidden):
        solver.list("NetworkChaos", "", group=GROUP)
    with pytest.raises(Forbidden):
        solver.list("PodNetworkChaos", "otel-demo", group=GROUP)

    lab.cluster.delete(REF)
    eventually(lambda: lab.cluster.get(REF) is None, 120, "the scenario is not gone")
    assert lab.cluster.list("NetworkChaos", "scenario-kit", group=GROUP) == []

"""Changes of a documented solution as kubectl commands."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.exporters.kubectl_repair import _build_call
from scenario_kit.model import App, Change, Runbook, Windows
from scenario_kit.model.authored.scenario import Expect, GroundTruth

PG = {"kind": "StatefulSet", "metadata": {"name": "pg"}, "spec": {"replicas": 2}}
RUNBOOK = Runbook(
    scenario="s", digest="d", app=App(name="shop", version="1", namespace="shop", entry="web", components=()),
    namespace="shop", namespaces={"edge": "shop-edge"}, users=1, objects=(PG,), rules=(),
    windows=Windows(quiet=1, hold=1, still_firing=1, clear=1, resolve=1), faults=(), expect=Expect(),
    ground_truth=GroundTruth(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("restart", "command"),
    [
        ({"target": "Deployment/web"}, "kubectl rollout restart deployment/web"),
        ({"target": "Deployment/web", "dropOld": True}, "kubectl rollout restart deployment/web"),
        ({"target": "StatefulSet/pg"}, "kubectl rollout restart statefulset/pg"),
        ({"target": "StatefulSet/pg", "dropOld": True}, "kubectl delete pod pg-0 pg-1"),
    ],
)
def test_restart_as_command(restart: dict[str, Any], command: str) -> None:
    assert build_command({"restart": restart}) == command


@pytest.mark.parametrize(
    ("change", "command"),
    [
        ({"delete": {"target": "edge/NetworkPolicy.networking.k8s.io/deny"}},
         "kubectl delete networkpolicy.networking.k8s.io deny -n shop-edge"),
        ({"scale": {"target": "edge/Deployment/gate", "replicas": 2}},
         "kubectl scale deployment/gate -n shop-edge --replicas=2"),
        ({"restart": {"target": "edge/Deployment/gate"}}, "kubectl rollout restart deployment/gate -n shop-edge"),
        ({"restart": {"target": "edge/StatefulSet/pg", "dropOld": True}}, "kubectl delete pod pg-0 pg-1 -n shop-edge"),
        ({"patch": {"target": "kube-system/ConfigMap/coredns", "type": "Merge", "patch": {}}},
         "kubectl patch configmap coredns -n kube-system --type merge -p '{}'"),
    ],
)  # fmt: skip
def test_other_namespace_is_named(change: dict[str, Any], command: str) -> None:
    assert build_command(change) == command


def build_command(change: dict[str, Any]) -> str:
    call = _build_call(Change.from_json(change), RUNBOOK)
    assert call is not None
    return str(call["arguments"]["cmd"])

"""Questions about workloads and their pods that several changes ask. Reads only."""

from __future__ import annotations

from typing import Final

from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

SCALABLE: Final = ("Deployment", "StatefulSet", "ReplicaSet")


def selector_labels(workload: Object) -> dict[str, str]:
    """The match labels by which a workload finds its pods; empty when it has no selector."""
    spec = workload.get("spec") or {}
    selector = spec.get("selector") or {}
    return dict(selector.get("matchLabels") or selector if "matchExpressions" not in selector else {})


def pods(cluster: Cluster, workload: Reference) -> list[Object]:
    """Pods of a workload, also those that are being deleted; empty when the workload is gone."""
    if workload.kind == "Pod":
        found = cluster.get(workload)
        return [found] if found else []
    obj = cluster.get(workload)
    labels = selector_labels(obj) if obj else {}
    return cluster.list("Pod", workload.namespace, labels=labels) if labels else []


def settled(obj: Object) -> bool:
    """Whether a rollout is through: observed, updated and available (kubectl rollout status's own condition)."""
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    if status.get("observedGeneration", 0) < (obj.get("metadata") or {}).get("generation", 0):
        return False
    wanted = spec.get("replicas", 1)
    if obj.get("kind") == "DaemonSet":
        wanted = status.get("desiredNumberScheduled", 0)
        return bool(status.get("updatedNumberScheduled", 0) >= wanted and status.get("numberAvailable", 0) >= wanted)
    return bool(
        status.get("updatedReplicas", 0) >= wanted
        and status.get("replicas", 0) == status.get("updatedReplicas", 0)
        and status.get("availableReplicas", 0) >= wanted
    )

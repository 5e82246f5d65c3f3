"""Reads of workloads and their pods that several operations share."""

from __future__ import annotations

from typing import Final

from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.label_selector import parse_object
from scenario_kit.ports import Cluster

SCALABLE: Final = ("Deployment", "StatefulSet", "ReplicaSet")


def list_pods(cluster: Cluster, workload: Reference) -> list[Object]:
    """List the pods of a workload, including terminating ones; empty if the workload is gone or selects none."""
    obj = cluster.get(workload)
    if obj is None or workload.kind == "Pod":
        return [obj] if obj else []
    selector = (obj.get("spec") or {}).get("selector") or {}
    requirements = parse_object(selector)
    if not requirements:
        return []
    # The API server matches labels; expressions are matched here.
    listed = cluster.list("Pod", workload.namespace, labels=selector.get("matchLabels") or {})
    return [p for p in listed if all(each.admits(p["metadata"].get("labels") or {}) for each in requirements)]


def is_settled(obj: Object) -> bool:
    """Return whether a rollout is complete: observed, updated and available (as ``kubectl rollout status``)."""
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    if status.get("observedGeneration", 0) < (obj.get("metadata") or {}).get("generation", 0):
        return False
    desired = spec.get("replicas", 1)
    if obj.get("kind") == "DaemonSet":
        desired = status.get("desiredNumberScheduled", 0)
        return bool(status.get("updatedNumberScheduled", 0) >= desired and status.get("numberAvailable", 0) >= desired)
    return bool(
        status.get("updatedReplicas", 0) >= desired
        and status.get("replicas", 0) == status.get("updatedReplicas", 0)
        and status.get("availableReplicas", 0) >= desired
    )

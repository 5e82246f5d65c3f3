"""Detect pods that cannot be scheduled because other apps use the cluster's capacity. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_resources import sum_pod_needs
from scenario_kit.model.kubernetes.quantity import parse_quantity

#: Scheduler messages for a node that lacks a resource, or room for another pod.
_FULL = ("Insufficient ", "Too many pods")
_ENDED = ("Succeeded", "Failed")


def explain_exhausted_capacity(own: Sequence[Object], others: Iterable[Object], nodes: Iterable[Object]) -> str:
    """Describe the pods of other apps that keep the app's pods unschedulable; empty if they are not the reason.

    Args:
        own: the pods of the app.
        others: all other pods of the cluster.
        nodes: the nodes of the cluster.
    """
    waiting = [p for p in own if _is_unschedulable(p)]
    if not waiting:
        return ""
    beside = Counter(p["metadata"]["namespace"] for p in others if _is_placed(p))
    allocatable = _sum_allocatable(nodes)
    requested = _sum_requests(own)
    if not beside or any(amount > allocatable.get(name, 0.0) for name, amount in requested.items()):
        return ""
    most = ", ".join(f"{namespace} ({count})" for namespace, count in beside.most_common(3))
    return (
        f"{len(waiting)} pods of the app are unschedulable;"
        f" {sum(beside.values())} pods of other namespaces are running: {most}"
    )


def _is_unschedulable(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(
        c.get("type") == "PodScheduled"
        and c.get("status") == "False"
        and any(full in str(c.get("message", "")) for full in _FULL)
        for c in conditions
    )


def _is_placed(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName")) and (pod.get("status") or {}).get("phase") not in _ENDED


def _sum_allocatable(nodes: Iterable[Object]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for node in nodes:
        if not (node.get("spec") or {}).get("unschedulable"):
            total.update({name: parse_quantity(amount) for name, amount in node["status"]["allocatable"].items()})
    return dict(total)


def _sum_requests(pods: Iterable[Object]) -> dict[str, float]:
    total: Counter[str] = Counter()
    for pod in pods:
        total.update(sum_pod_needs(pod["spec"]))
    return dict(total)

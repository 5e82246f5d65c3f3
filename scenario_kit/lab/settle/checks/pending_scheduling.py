"""Pending work of the scheduler and the volume binder: a pod that fits a node, a claim that matches a volume.

Both back off on wall time, and no status shows it (the pod stays unschedulable, the claim pending), so the outcome is
computed from nodes and volumes. Only certain cases count: a pod with constraints that are not evaluated here (pod
affinity, topology spread, device claims) is never due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from scenario_kit.lab.settle.checks.settle_context import SCHEDULER, Due, find_condition, list_claim_names
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_resources import sum_pod_needs
from scenario_kit.model.kubernetes.quantity import parse_quantity

Names = Mapping[str, Object]
_HARD: Final = ("NoSchedule", "NoExecute")
_ENDED: Final = ("Succeeded", "Failed")


class ClusterCapacity(NamedTuple):
    """Cluster-scoped state: nodes and volumes by name, and the pods of all namespaces, read on demand."""

    nodes: Names
    volumes: Names
    pods: Callable[[], Iterable[Object]]


def list_due(kinds: Mapping[str, Names], cluster: ClusterCapacity) -> Iterator[Due]:
    """List the pods about to be scheduled and the claims about to be bound in a namespace."""
    claims = kinds.get("PersistentVolumeClaim") or {}
    for name, claim in claims.items():
        if volume := _find_volume(claim, cluster.volumes):
            yield Due("PersistentVolumeClaim", name, claim["metadata"]["uid"], f"will be bound to volume {volume}")
    waiting = [(n, p) for n, p in (kinds.get("Pod") or {}).items() if _is_refused(p)]
    if not waiting:
        return
    used = _sum_used(cluster.pods())
    for name, pod in waiting:
        for node in cluster.nodes.values():
            if _is_judged(pod, claims, cluster.volumes) and _fits(pod, node, used.get(node["metadata"]["name"], {})):
                yield Due("Pod", name, pod["metadata"]["uid"], f"there is room on node {node['metadata']['name']}")
                break


def _is_refused(pod: Object) -> bool:
    verdict = find_condition(pod, "PodScheduled")
    placed = pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]
    return not placed and verdict is not None and verdict.get("reason") == "Unschedulable"


def _find_volume(claim: Object, volumes: Names) -> str:
    """Find the volume that the binder will give to a pending claim; empty if there is none."""
    spec, meta = claim["spec"], claim["metadata"]
    if "deletionTimestamp" in meta or (claim.get("status") or {}).get("phase") == "Bound":
        return ""
    desired = parse_quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage", "0"))
    for name, volume in volumes.items():
        has = volume["spec"]
        owner = has.get("claimRef") or {}
        ours = owner.get("name") == meta["name"] and owner.get("namespace") == meta["namespace"]
        same = owner.get("uid", "") in ("", meta["uid"])
        free = not owner and (volume.get("status") or {}).get("phase") == "Available"
        if (
            "deletionTimestamp" not in volume["metadata"]
            and ((ours and same) or (free and not spec.get("selector")))
            and spec.get("volumeName", name) in ("", name)
            and has.get("storageClassName", "") == spec.get("storageClassName", "")
            and has.get("volumeMode", "Filesystem") == spec.get("volumeMode", "Filesystem")
            and set(spec.get("accessModes") or ()) <= set(has.get("accessModes") or ())
            and parse_quantity((has.get("capacity") or {}).get("storage", "0")) >= desired
        ):
            return name
    return ""


def _is_judged(pod: Object, claims: Names, volumes: Names) -> bool:
    """Return whether all constraints of a pod are evaluated here, and those independent of the node are met."""
    spec = pod["spec"]
    affinity = spec.get("affinity") or {}
    hard = [c for c in spec.get("topologySpreadConstraints") or () if c.get("whenUnsatisfiable") != "ScheduleAnyway"]
    if affinity or hard or spec.get("resourceClaims") or spec.get("schedulingGates"):
        return False
    if spec.get("schedulerName", SCHEDULER) != SCHEDULER:
        return False
    return all(_is_bound(claims.get(name), volumes) for name in list_claim_names(pod))


def _is_bound(claim: Object | None, volumes: Names) -> bool:
    """Return whether a claim is bound to a volume that every node can attach."""
    if claim is None or "deletionTimestamp" in claim["metadata"] or (claim.get("status") or {}).get("phase") != "Bound":
        return False
    volume = volumes.get(claim["spec"].get("volumeName", ""))
    return volume is not None and not volume["spec"].get("nodeAffinity")


def _fits(pod: Object, node: Object, used: Mapping[str, float]) -> bool:
    spec, place = pod["spec"], node.get("spec") or {}
    labels = node["metadata"].get("labels") or {}
    taints = [t for t in place.get("taints") or () if t.get("effect") in _HARD]
    if "deletionTimestamp" in node["metadata"] or place.get("unschedulable"):
        return False
    if any(not _is_tolerated(t, spec.get("tolerations") or ()) for t in taints):
        return False
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    if any(port.get("hostPort") for c in spec.get("containers") or () for port in c.get("ports") or ()):
        return False
    room = (node.get("status") or {}).get("allocatable") or {}
    needed = sum_pod_needs(spec)
    return all(used.get(name, 0.0) + needed[name] <= parse_quantity(room.get(name, "0")) for name in needed)


def _is_tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    for one in tolerations:
        if one.get("effect") not in (None, "", taint.get("effect")):
            continue
        if one.get("operator") == "Exists" and one.get("key") in (None, "", taint["key"]):
            return True
        if one.get("key") == taint["key"] and (one.get("value") or "") == (taint.get("value") or ""):
            return True
    return False


def _sum_used(pods: Iterable[Object]) -> dict[str, dict[str, float]]:
    """Sum the requests on each node, by resource."""
    result: dict[str, dict[str, float]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName") or (pod.get("status") or {}).get("nominatedNodeName")
        if node and (pod.get("status") or {}).get("phase") not in _ENDED and not _is_refused(pod):
            taken = result.setdefault(node, {})
            for name, amount in sum_pod_needs(pod["spec"]).items():
                taken[name] = taken.get(name, 0.0) + amount
    return result

"""Chaos objects: bound to the pods of a workload, and bound again when those pods are replaced (design §4).

Chaos Mesh selects once and freezes: a new pod gets no call while ``AllInjected`` stays True. So the selector of the
author (labels) is resolved to explicit pods here, the receipt remembers which, and ``stale`` tells when the object
must be replaced for the pods of now.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import Object, Reference
from scenario_kit.ports import Cluster

GROUP: Final = "chaos-mesh.org"
#: One-shot actions are over once done: nothing lasts, so nothing is bound to new pods.
_ONE_SHOT: Final = {"pod-kill", "container-kill"}


def reference(obj: Object) -> Reference:
    """The reference of a chaos object."""
    metadata = obj["metadata"]
    return Reference(obj["kind"], metadata["name"], metadata.get("namespace", ""), GROUP)


def lasting(obj: Object) -> bool:
    """Whether the fault lasts until the object is deleted."""
    return (obj.get("spec") or {}).get("action") not in _ONE_SHOT


def select(cluster: Cluster, selector: Mapping[str, Any], default_namespace: str) -> list[Object]:
    """Live pods that a label selector names, oldest first; pods that are going away do not count."""
    found: list[Object] = []
    for namespace in selector.get("namespaces") or [default_namespace]:
        if "pods" in selector:
            named = (selector["pods"] or {}).get(namespace) or []
            found += [p for n in named if (p := cluster.get(Reference("Pod", n, namespace)))]
        else:
            found += cluster.list("Pod", namespace, labels=selector.get("labelSelectors") or {})
    alive = [
        p
        for p in found
        if not p["metadata"].get("deletionTimestamp")
        and (p.get("status") or {}).get("phase") in ("Running", "Pending")
        and (p.get("status") or {}).get("containerStatuses")
    ]
    return sorted(alive, key=lambda p: (p["metadata"]["creationTimestamp"], p["metadata"]["name"]))


def bind(template: Object, targets: Sequence[Object]) -> Object:
    """The chaos object with its selector replaced by exactly these pods (chaos-mesh.md C1)."""
    bound = copy.deepcopy(template)
    by_namespace: dict[str, list[str]] = {}
    for pod in targets:
        by_namespace.setdefault(pod["metadata"]["namespace"], []).append(pod["metadata"]["name"])
    bound["spec"]["mode"] = "all"
    bound["spec"]["selector"] = {"namespaces": sorted(by_namespace), "pods": by_namespace}
    return bound


def identities(targets: Sequence[Object]) -> tuple[str, ...]:
    """What a chaos fault is bound to: pod UID and the ids of its containers (both die with a restart)."""
    result = []
    for pod in targets:
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        result.append(f"{pod['metadata']['uid']}:" + ",".join(sorted(s.get("containerID", "") for s in statuses)))
    return tuple(sorted(result))


def uncovered(obj: Object, covered: Sequence[str], now: Sequence[str]) -> bool:
    """Whether pods exist that the object does not reach.

    Network effects and pod-failure live in the pod and survive a container restart; stress, IO, HTTP, time and JVM
    effects die with the container (chaos-mesh.md §5).
    """
    if obj["kind"] in ("NetworkChaos", "PodChaos"):
        return not {i.split(":")[0] for i in now} <= {i.split(":")[0] for i in covered}
    return not set(now) <= set(covered)


def injected(live: Object) -> bool | None:
    """What Chaos Mesh claims: True when every record is Injected, None before. Necessary, never sufficient."""
    experiment = (live.get("status") or {}).get("experiment") or {}
    records = experiment.get("containerRecords") or []
    if not records:
        return None
    done = all(r.get("phase") == "Injected" and r.get("injectedCount", 0) > r.get("recoveredCount", 0) for r in records)
    return True if done else None


def trouble(live: Object) -> str:
    """The last failure that Chaos Mesh noted, or empty."""
    records = ((live.get("status") or {}).get("experiment") or {}).get("containerRecords") or []
    for record in records:
        for event in reversed(record.get("events") or []):
            if event.get("type") == "Failed":
                return f"{record.get('id', '')}: {event.get('message', '')}"
    return ""

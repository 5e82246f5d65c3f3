"""Map labels of alerts to workloads, and workloads to pods."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from scenario_kit.model import AlertRule, App, Object, Reference
from scenario_kit.ports import Cluster

#: Pod name suffixes by kind of workload: ReplicaSet hash and suffix, ordinal, or suffix.
_GENERATED = (
    ("Deployment", re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{1,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$")),
    ("StatefulSet", re.compile(r"-\d+$")),
    ("DaemonSet", re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}$")),
    ("Job", re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}$")),
)


def find_entity(
    rule: AlertRule, labels: Mapping[str, str], app: App, owner_of: Callable[[str], Reference | None]
) -> Reference | None:
    """Find the entity of an alert in the app's namespace; None if the rule declares none.

    A pod is mapped to the workload that owns it; a deleted pod is recognised by name.
    """
    value = labels.get(rule.entity.label, "") if rule.entity else ""
    if not rule.entity or not value:
        return None
    kind = rule.entity.kind
    if kind == "Component":
        component = app.component(value)
        return component.workload.groupless if component else None
    if kind == "Pod":
        owner = owner_of(value)
        return _place_reference(Reference(owner.kind, owner.name), app) if owner else find_by_name(value, app)
    return _place_reference(Reference(kind, value), app)


def _place_reference(ref: Reference, app: App) -> Reference:
    """Return a reference in the symbolic namespace of its component."""
    return next((c.workload.groupless for c in app.components if c.workload.bare == ref.bare), ref)


def find_by_name(pod: str, app: App) -> Reference:
    """Find the workload of the app that a pod belongs to by name; the pod itself if there is none."""
    workloads = {c.workload.bare: c.workload.groupless for c in app.components}
    for kind, suffix in _GENERATED:
        name, found = suffix.subn("", pod)
        if found and (kind, name) in workloads:
            return workloads[kind, name]
    return Reference("Pod", pod)


class Owners:
    """Cache of pod owners by name, which survives deletion of the pods; used as ``owner_of`` of an evaluator."""

    def __init__(self, cluster: Cluster, *namespaces: str) -> None:
        self._cluster = cluster
        self._namespaces = namespaces
        self._known: dict[str, Reference] = {}

    def __call__(self, pod: str) -> Reference | None:
        """Return the top-level controller of a pod; None if it is unknown."""
        if pod not in self._known:
            self._refresh()
        return self._known.get(pod)

    def _refresh(self) -> None:
        for namespace in self._namespaces:
            replica_sets = {r["metadata"]["name"]: r for r in self._cluster.list("ReplicaSet", namespace)}
            for obj in self._cluster.list("Pod", namespace):
                if owner := _find_top_controller(obj, replica_sets):
                    self._known[obj["metadata"]["name"]] = Reference(*owner, namespace=namespace)


def list_owned_pods(cluster: Cluster, ref: Reference) -> list[Object]:
    """List the pods of a workload or Service, or the pod itself; ``ref`` has a real namespace."""
    pods = cluster.list("Pod", ref.namespace)
    if ref.kind == "Pod":
        return [p for p in pods if p["metadata"]["name"] == ref.name]
    if ref.kind == "Service":
        service = cluster.get(ref)
        selector = (service or {}).get("spec", {}).get("selector") or {}
        return [p for p in pods if selector and selector.items() <= p["metadata"].get("labels", {}).items()]
    replica_sets = {r["metadata"]["name"]: r for r in cluster.list("ReplicaSet", ref.namespace)}
    return [p for p in pods if (ref.kind, ref.name) in (_find_controller(p), _find_top_controller(p, replica_sets))]


def _find_controller(obj: Object) -> tuple[str, str] | None:
    owners = obj["metadata"].get("ownerReferences", ())
    return next(((o["kind"], o["name"]) for o in owners if o.get("controller")), None)


def _find_top_controller(pod: Object, replica_sets: Mapping[str, Object]) -> tuple[str, str] | None:
    """Find the Deployment of a pod's ReplicaSet, or the direct controller of the pod.

    None also if the ReplicaSet was deleted, as its owner is then unknown.
    """
    owner = _find_controller(pod)
    if owner is None or owner[0] != "ReplicaSet":
        return owner
    replica_set = replica_sets.get(owner[1])
    return (_find_controller(replica_set) or owner) if replica_set else None

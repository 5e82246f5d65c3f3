"""The objects of the healthy app as a cluster shows them: with the API server's defaults and a workload's status.

What depends on the cluster or on the history of the object is left out: it is not described.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from scenario_kit.judge.repair.api_defaults import complete_object
from scenario_kit.lint.rules.alerts.object_values.field_domains import list_names
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.observe.jsonpath import find

_CREATED: Final = "2026-01-01T00:00:00Z"
_METADATA: Final = {
    "uid": "00000000-0000-4000-8000-000000000000", "creationTimestamp": _CREATED, "resourceVersion": "1000",
    "managedFields": [{"manager": "a"}], "generation": 1,
}  # fmt: skip
#: Values that the cluster assigns.
_SERVICE: Final = {
    "clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
}  # fmt: skip
#: Fields of the status of which a healthy workload has none.
_ABSENT: Final = frozenset({"unavailableReplicas", "collisionCount", "numberUnavailable", "terminatingReplicas"})
_NUMBERS: Final = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")


def list_healthy_forms(obj: Object, path: str) -> Iterator[Object]:
    """Yield the forms that an object may have in the healthy app; none if what a path reads is unknown."""
    names = list_names(path)
    if names[:1] != ("status",):
        yield _complete(obj)
        return
    for status in _list_statuses(obj):
        form = {**_complete(obj), "status": status}
        if _is_described(obj["kind"], names[1:2]) or find(form, path):
            yield form


def _is_described(kind: str, field: tuple[str, ...]) -> bool:
    """Return whether it is known which values a field of the status has, also where there are none."""
    if field == ("loadBalancer",):
        return kind == "Service"
    return field == ("conditions",) or not _ABSENT.isdisjoint(field)


def _complete(obj: Object) -> Object:
    """Return the object with the defaults of the API server and what every object has; what it has itself stays."""
    completed = complete_object(obj)
    metadata = {**_METADATA, **obj["metadata"]}
    if obj["kind"] not in WORKLOADS:
        metadata.pop("generation")
    spec = {**(_SERVICE if obj["kind"] == "Service" else {}), **(completed.get("spec") or {})}
    return {**completed, "metadata": metadata, **({"spec": spec} if spec else {})}


def _list_statuses(obj: Object) -> Iterator[dict[str, Any]]:
    kind, replicas = obj["kind"], int((obj.get("spec") or {}).get("replicas", 1))
    if kind == "Service":
        yield {"loadBalancer": {}}
    elif kind == "Deployment":
        conditions = [
            _build_condition("Available", "MinimumReplicasAvailable"),
            _build_condition("Progressing", "NewReplicaSetAvailable"),
        ]
        for order in (conditions, conditions[::-1]):
            yield {"observedGeneration": 1, "conditions": order, **_count(_NUMBERS, replicas)}
    elif kind == "StatefulSet":
        yield {"observedGeneration": 1, **_count((*_NUMBERS, "currentReplicas"), replicas)}
    elif kind == "PersistentVolumeClaim":
        yield {"phase": "Bound"}


def _count(names: tuple[str, ...], replicas: int) -> dict[str, int]:
    """Return counts; the API leaves out those that are 0."""
    return dict.fromkeys(names, replicas) if replicas else {}


def _build_condition(name: str, reason: str) -> dict[str, str]:
    return {
        "type": name, "status": "True", "reason": reason, "message": "-", "lastUpdateTime": _CREATED,
        "lastTransitionTime": _CREATED,
    }  # fmt: skip

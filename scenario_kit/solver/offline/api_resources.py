"""The kinds served by a snapshot's API, and its discovery documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from scenario_kit.model import Object
from scenario_kit.ports import Kind
from scenario_kit.snapshot.files.objects import find_resource


class RecordedKind(NamedTuple):
    """A kind with its short names."""

    kind: Kind
    short: tuple[str, ...] = ()

    @property
    def group_version(self) -> str:
        """As in ``apiVersion``."""
        return f"{self.kind.group}/{self.kind.version}" if self.kind.group else self.kind.version


def _serve(group_version: str, kind: str, *short: str, plural: str = "", namespaced: bool = True) -> RecordedKind:
    group, _, version = group_version.rpartition("/")
    return RecordedKind(Kind(group, version, kind, plural or find_resource(kind), namespaced), short)


#: Kinds that are always served; names and short names are those of Kubernetes.
USUAL: Final = (
    _serve("v1", "ConfigMap", "cm"), _serve("v1", "Endpoints", "ep", plural="endpoints"), _serve("v1", "Event", "ev"),
    _serve("v1", "LimitRange", "limits"), _serve("v1", "Namespace", "ns", namespaced=False),
    _serve("v1", "Node", "no", namespaced=False), _serve("v1", "PersistentVolume", "pv", namespaced=False),
    _serve("v1", "PersistentVolumeClaim", "pvc"), _serve("v1", "Pod", "po"), _serve("v1", "ResourceQuota", "quota"),
    _serve("v1", "Secret"), _serve("v1", "Service", "svc"), _serve("v1", "ServiceAccount", "sa"),
    _serve("apps/v1", "DaemonSet", "ds"), _serve("apps/v1", "Deployment", "deploy"),
    _serve("apps/v1", "ReplicaSet", "rs"), _serve("apps/v1", "StatefulSet", "sts"),
    _serve("autoscaling/v2", "HorizontalPodAutoscaler", "hpa"), _serve("batch/v1", "CronJob", "cj"),
    _serve("batch/v1", "Job"), _serve("discovery.k8s.io/v1", "EndpointSlice"),
    _serve("networking.k8s.io/v1", "Ingress", "ing"), _serve("networking.k8s.io/v1", "NetworkPolicy", "netpol"),
    _serve("policy/v1", "PodDisruptionBudget", "pdb"),
    _serve("scheduling.k8s.io/v1", "PriorityClass", "pc", namespaced=False),
    _serve("storage.k8s.io/v1", "StorageClass", "sc", plural="storageclasses", namespaced=False),
)  # fmt: skip


def list_served(objects: Iterable[Object]) -> list[RecordedKind]:
    """List the usual kinds and the other kinds of a snapshot, in the version recorded there."""
    found = {each.kind.kind: each for each in USUAL}
    for obj in objects:
        version, kind = str(obj.get("apiVersion") or "v1"), str(obj["kind"])
        known = found.get(kind)
        if known is None or known.group_version != version:
            namespaced = bool(obj["metadata"].get("namespace"))
            served = _serve(version, kind, plural=known.kind.plural if known else "", namespaced=namespaced)
            found[kind] = served._replace(short=known.short if known else ())
    return list(found.values())


def build_discovery(served: Sequence[RecordedKind], kubernetes: str) -> dict[str, Any]:
    """Build the discovery documents by path: groups, versions and their resources."""
    versions = sorted({each.group_version for each in served})
    groups = [_build_group(each) for each in versions if "/" in each]
    major, _, minor = kubernetes.partition(".")
    documents: dict[str, Any] = {
        "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
        "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups},
        "/version": {"major": major, "minor": minor, "gitVersion": f"v{kubernetes}.0-snapshot"},
    }
    for each in versions:
        path = f"/apis/{each}" if "/" in each else f"/api/{each}"
        resources = [_build_resource(one) for one in served if one.group_version == each]
        if each == "v1":
            resources.append(
                {**_build_resource(_POD), "name": "pods/log", "verbs": ["get"], "shortNames": [], "categories": []}
            )
        documents[path] = {
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": each, "resources": resources,
        }  # fmt: skip
    return documents


_POD: Final = next(each for each in USUAL if each.kind.kind == "Pod")


def _build_group(group_version: str) -> dict[str, Any]:
    group, _, version = group_version.partition("/")
    entry = {"groupVersion": group_version, "version": version}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def _build_resource(served: RecordedKind) -> dict[str, Any]:
    kind = served.kind
    return {
        "name": kind.plural, "singularName": kind.kind.lower(), "namespaced": kind.namespaced, "kind": kind.kind,
        "verbs": ["get", "list"], "shortNames": list(served.short),
        "categories": ["all"] if kind.kind in _ALL else [],
    }  # fmt: skip


#: Kinds of ``kubectl get all``.
_ALL: Final = (
    "Pod", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "HorizontalPodAutoscaler", "CronJob",
    "Job",
)  # fmt: skip

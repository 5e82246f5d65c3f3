"""Kubernetes state as series, with the names, labels and meanings of kube-state-metrics 2.x.

Series with timestamps as values (creation, start, deletion) are omitted: the API server stamps objects with wall time,
which is meaningless on a virtual clock. As by default, labels and annotations of objects are not exported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from scenario_kit.lab.telemetry import kube_cluster, kube_pods, kube_workloads
from scenario_kit.lab.telemetry.series import Sample
from scenario_kit.model import Object
from scenario_kit.model.runtime.process import SeriesId

#: The producers of series by kind; other kinds have no series.
PRODUCERS: Mapping[str, Callable[[Object], Iterable[Sample]]] = {
    "DaemonSet": kube_workloads.sample_daemon_set,
    "Deployment": kube_workloads.sample_deployment,
    "EndpointSlice": kube_cluster.sample_endpoint_slice,
    "HorizontalPodAutoscaler": kube_workloads.sample_autoscaler,
    "Job": kube_workloads.sample_job,
    "Namespace": kube_cluster.sample_namespace,
    "Node": kube_cluster.sample_node,
    "PersistentVolumeClaim": kube_cluster.sample_claim,
    "Pod": kube_pods.sample_pod,
    "ReplicaSet": kube_workloads.sample_replica_set,
    "ResourceQuota": kube_cluster.sample_resource_quota,
    "Service": kube_cluster.sample_service,
    "StatefulSet": kube_workloads.sample_stateful_set,
}

#: Identifies a version of an object: UID and resource version.
_State = tuple[str, str]


class KubeState:
    """Series of objects, cached per object version."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], tuple[_State, dict[SeriesId, float]]] = {}

    def collect(self, objects: Mapping[str, Mapping[str, Object]]) -> dict[SeriesId, float]:
        """Collect the complete set of series of ``objects[kind][name]``, in an order that depends on the names only.

        Names must be unique within a kind: use one instance per namespace.
        """
        result: dict[SeriesId, float] = {}
        kept: dict[tuple[str, str], tuple[_State, dict[SeriesId, float]]] = {}
        for kind, produce in PRODUCERS.items():
            for name, obj in sorted((objects.get(kind) or {}).items()):
                meta = obj["metadata"]
                state = (meta.get("uid", ""), meta.get("resourceVersion", ""))
                found = self._made.get((kind, name))
                if found is None or found[0] != state or not state[1]:
                    found = (state, dict(produce(obj)))
                kept[kind, name] = found
                result.update(found[1])
        self._made = kept
        return result

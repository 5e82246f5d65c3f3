"""The kinds that the lab server follows, by purpose. Our own API group is excluded: the data plane must not see
scenarios."""

from __future__ import annotations

from typing import NamedTuple

CHAOS_GROUP = "chaos-mesh.org"


class Watched(NamedTuple):
    """A kind that is followed."""

    kind: str
    group: str = ""
    namespaced: bool = True


#: Kinds that the twin may see.
VIEW_KINDS = frozenset({
    "Pod", "Service", "EndpointSlice", "ConfigMap", "Secret", "Deployment", "ReplicaSet", "StatefulSet",
    "NetworkPolicy", "HorizontalPodAutoscaler", "ResourceQuota", "Namespace",
})  # fmt: skip

WORKLOADS = (
    Watched("Pod"),
    Watched("Service"),
    Watched("EndpointSlice", "discovery.k8s.io"),
    Watched("ConfigMap"),
    Watched("Secret"),
    Watched("Deployment", "apps"),
    Watched("ReplicaSet", "apps"),
    Watched("StatefulSet", "apps"),
    Watched("DaemonSet", "apps"),
    Watched("Job", "batch"),
    Watched("NetworkPolicy", "networking.k8s.io"),
    Watched("HorizontalPodAutoscaler", "autoscaling"),
    Watched("ResourceQuota"),
    Watched("LimitRange"),
    Watched("PersistentVolumeClaim"),
    Watched("ServiceAccount"),
)

CLUSTER = (
    Watched("Namespace", namespaced=False),
    Watched("Node", namespaced=False),
    Watched("PersistentVolume", namespaced=False),
    Watched("PriorityClass", "scheduling.k8s.io", namespaced=False),
    Watched("MutatingWebhookConfiguration", "admissionregistration.k8s.io", namespaced=False),
    Watched("ValidatingWebhookConfiguration", "admissionregistration.k8s.io", namespaced=False),
)

#: Kinds that may refuse a pod's creation, besides the namespace: a change may allow the next one.
REFUSERS = ("ResourceQuota", "LimitRange", "ServiceAccount", "PersistentVolumeClaim")
CLUSTER_REFUSERS = ("PriorityClass", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")

#: Experiments and what starts them, in the namespace of their author; they act on the namespaces of their selectors.
EXPERIMENTS = tuple(
    Watched(kind, CHAOS_GROUP)
    for kind in (
        "PodChaos", "NetworkChaos", "StressChaos", "HTTPChaos", "IOChaos", "DNSChaos", "TimeChaos", "JVMChaos",
        "Schedule",
    )
)  # fmt: skip

#: Objects that the manager writes per pod.
CHILDREN = tuple(Watched(kind, CHAOS_GROUP) for kind in ("PodNetworkChaos", "PodHttpChaos", "PodIOChaos"))

EXPERIMENT_KINDS = frozenset(w.kind for w in EXPERIMENTS)
CHILD_KINDS = frozenset(w.kind for w in CHILDREN)

#: Namespaced kinds, in no particular order.
NAMESPACED = (*WORKLOADS, *EXPERIMENTS, *CHILDREN)

#: Followed but not kept: events report refusals of pods.
PASSED_BY = (Watched("Event"),)

"""Which kinds the lab server follows, and what for. Kinds of our own API group are not among them: no part of the data
plane may know what a scenario is."""

from __future__ import annotations

from typing import NamedTuple

CHAOS_GROUP = "chaos-mesh.org"


class Watched(NamedTuple):
    """A kind that is kept in memory."""

    kind: str
    group: str = ""
    namespaced: bool = True


#: What a view for the twin may hold.
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

#: What may refuse a pod before it exists, beside the namespace itself: a change of it may let the next one in.
REFUSERS = ("ResourceQuota", "LimitRange", "ServiceAccount", "PersistentVolumeClaim")
CLUSTER_REFUSERS = ("PriorityClass", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")

#: Experiments: they live where their author put them, and act on the namespaces that their selectors name.
EXPERIMENTS = tuple(
    Watched(kind, CHAOS_GROUP)
    for kind in (
        "PodChaos", "NetworkChaos", "StressChaos", "HTTPChaos", "IOChaos", "DNSChaos", "TimeChaos", "JVMChaos",
    )
)  # fmt: skip

#: What the manager writes for one pod each, beside the pod.
CHILDREN = tuple(Watched(kind, CHAOS_GROUP) for kind in ("PodNetworkChaos", "PodHttpChaos", "PodIOChaos"))

EXPERIMENT_KINDS = frozenset(w.kind for w in EXPERIMENTS)
CHILD_KINDS = frozenset(w.kind for w in CHILDREN)

#: What is kept of namespaces, in no particular order.
NAMESPACED = (*WORKLOADS, *EXPERIMENTS, *CHILDREN)

#: Followed without being kept: refusals of pods are told by events.
PASSED_BY = (Watched("Event"),)

"""The kinds of the fake API server, and their properties."""

from __future__ import annotations

from scenario_kit.ports import Kind

_NAMESPACED = {
    ("", "v1"): "ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod ReplicationController ResourceQuota "
    "Secret Service ServiceAccount",
    ("apps", "v1"): "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    ("autoscaling", "v2"): "HorizontalPodAutoscaler",
    ("batch", "v1"): "CronJob Job",
    ("coordination.k8s.io", "v1"): "Lease",
    ("discovery.k8s.io", "v1"): "EndpointSlice",
    ("events.k8s.io", "v1"): "Event",
    ("networking.k8s.io", "v1"): "Ingress NetworkPolicy",
    ("policy", "v1"): "PodDisruptionBudget",
    ("rbac.authorization.k8s.io", "v1"): "Role RoleBinding",
    ("chaos-mesh.org", "v1alpha1"): "DNSChaos HTTPChaos IOChaos JVMChaos KernelChaos NetworkChaos PodChaos "
    "PodHttpChaos PodIOChaos PodNetworkChaos Schedule StressChaos TimeChaos",
    ("scenariokit.io", "v1alpha1"): "Scenario Trial Validation",
}
_CLUSTER = {
    ("", "v1"): "Namespace Node PersistentVolume",
    ("admissionregistration.k8s.io", "v1"): "MutatingWebhookConfiguration ValidatingAdmissionPolicy "
    "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ("apiextensions.k8s.io", "v1"): "CustomResourceDefinition",
    ("rbac.authorization.k8s.io", "v1"): "ClusterRole ClusterRoleBinding",
    ("scheduling.k8s.io", "v1"): "PriorityClass",
    ("storage.k8s.io", "v1"): "StorageClass",
}
_PLURALS = {"Endpoints": "endpoints"}

#: Kinds with a ``status`` subresource.
WITH_STATUS = frozenset({
    "CronJob", "CustomResourceDefinition", "DaemonSet", "Deployment", "HorizontalPodAutoscaler", "Ingress", "Job",
    "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget", "ReplicaSet",
    "ResourceQuota", "Scenario", "Service", "StatefulSet", "Trial", "Validation",
})  # fmt: skip
#: Kinds without ``metadata.generation``.
WITHOUT_GENERATION = frozenset({
    "ClusterRole", "ClusterRoleBinding", "ConfigMap", "ControllerRevision", "Endpoints", "Event", "Lease",
    "LimitRange", "Namespace", "Node", "PersistentVolume", "PersistentVolumeClaim", "ResourceQuota", "Role",
    "RoleBinding", "Secret", "Service", "ServiceAccount",
})  # fmt: skip
#: Kinds with a ``scale`` subresource.
SCALABLE = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})
#: Groups of custom resources: no strategic merge patch.
CUSTOM_GROUPS = frozenset({"chaos-mesh.org", "scenariokit.io"})


def pluralize(kind: str) -> str:
    """Return the plural of a built-in kind."""
    lower = kind.lower()
    if kind in _PLURALS:
        return _PLURALS[kind]
    if lower.endswith("s"):
        return f"{lower}es" if not lower.endswith("chaos") else lower
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def list_defaults() -> list[Kind]:
    """List the kinds of a cluster with Chaos Mesh's and our own CRDs, core first."""
    found = [
        Kind(group, version, kind, pluralize(kind), namespaced)
        for table, namespaced in ((_NAMESPACED, True), (_CLUSTER, False))
        for (group, version), kinds in table.items()
        for kind in kinds.split()
    ]
    return sorted(found, key=lambda k: (k.group, k.kind))

"""The kinds that a change may write, from which the operator's RBAC and admission are derived.

All others are rejected. ``declared`` is what a fault must declare to write the kind: the scope ``Cluster``, or an
exception.
"""

from __future__ import annotations

from typing import Final, NamedTuple

#: Exceptions that a fault may declare, and their purpose: `exceptions` in its definition.
EXCEPTIONS: Final[dict[str, str]] = {
    "NamespaceRights": "gives an account of the app rights in its namespaces that the app's own roles do not have",
    "ClusterRights": "lets an account of the app read plain objects of every namespace",
    "AdmissionWebhook": "has the API server ask about objects in the app's namespace before it takes them",
    "PodSecurity": "sets the pod security standard of the app's namespace",
    "SystemComponent": "restarts or scales a component of the cluster, or changes its DNS configuration",
}
#: The scope of a fault that reaches beyond its app.
CLUSTER: Final = "Cluster"


class Writable(NamedTuple):
    """A kind with its resource, whether it is namespaced, and what must be declared."""

    group: str
    kind: str
    resource: str
    namespaced: bool = True
    declared: str = ""


def _list_group(group: str, *kinds: str, namespaced: bool = True, declared: str = "") -> list[Writable]:
    named = (each.partition("/") for each in kinds)
    return [Writable(group, kind, plural or f"{kind.lower()}s", namespaced, declared) for kind, _, plural in named]


#: Experiments of Chaos Mesh limited to pods: not on machines, clouds, kernels or other clusters.
EXPERIMENTS: Final = (
    "DNSChaos/dnschaos", "HTTPChaos/httpchaos", "IOChaos/iochaos", "JVMChaos/jvmchaos", "NetworkChaos/networkchaos",
    "PodChaos/podchaos", "Schedule", "StressChaos/stresschaos", "TimeChaos/timechaos",
)  # fmt: skip

WRITABLE: Final = (
    *_list_group(
        "", "ConfigMap", "Endpoints/endpoints", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate",
        "ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount",
    ),
    *_list_group("", "Namespace", "Node", "PersistentVolume", namespaced=False, declared=CLUSTER),
    *_list_group("apps", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    *_list_group("autoscaling", "HorizontalPodAutoscaler"),
    *_list_group("batch", "CronJob", "Job"),
    *_list_group("discovery.k8s.io", "EndpointSlice"),
    *_list_group("networking.k8s.io", "Ingress/ingresses", "NetworkPolicy/networkpolicies"),
    *_list_group("policy", "PodDisruptionBudget"),
    *_list_group("rbac.authorization.k8s.io", "Role", "RoleBinding"),
    *_list_group("rbac.authorization.k8s.io", "ClusterRole", "ClusterRoleBinding", namespaced=False,
    declared="ClusterRights"),
    *_list_group("scheduling.k8s.io", "PriorityClass/priorityclasses", namespaced=False, declared=CLUSTER),
    *_list_group(
        "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
        namespaced=False, declared="AdmissionWebhook",
    ),
    *_list_group("security.istio.io", "AuthorizationPolicy/authorizationpolicies", "PeerAuthentication"),
    *_list_group("crd.projectcalico.org", "IPPool", namespaced=False, declared=CLUSTER),
    *_list_group("chaos-mesh.org", *EXPERIMENTS),
)  # fmt: skip

#: The label of namespaces that the operator creates; it writes in no others. The value reveals nothing to a solver.
OWNED: Final = ("app.kubernetes.io/managed-by", "platform")
#: The ClusterRole with what the operator may do there, which it binds to itself in each of them.
APP_ROLE: Final = "scenario-kit-app"
#: Namespaces of system components for the exception `SystemComponent`.
SYSTEM_NAMESPACES: Final = ("calico-system", "ingress-nginx", "istio-system", "kube-system", "local-path-storage")
#: Types of Secrets for configuration. Others are credentials of the cluster.
SECRET_TYPES: Final = (
    "", "Opaque", "kubernetes.io/basic-auth", "kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson",
    "kubernetes.io/ssh-auth", "kubernetes.io/tls",
)  # fmt: skip

"""What else a cluster needs for the operator: its namespace, its rights, and the Deployment that runs it."""

from __future__ import annotations

from typing import Any

from scenario_kit.schema import solver
from scenario_kit.schema.crd import GROUP

NAMESPACE = "scenario-kit"
NAME = "scenario-kit-operator"
_WRITE = ["create", "update", "patch", "delete"]
_READ = ["get", "list", "watch"]

_EVENT_FILTER = "pod-event-filter"
#: What the manager of Chaos Mesh keeps for each pod, in the namespace of the pod.
_PER_POD = ("PodHttpChaos", "PodIOChaos", "PodNetworkChaos")

#: (API groups, resources, verbs, reason)
_RULES: tuple[tuple[list[str], list[str], list[str]], ...] = (
    # Our own kinds, their status and finalizers.
    ([GROUP], ["*"], [*_READ, *_WRITE]),
    # The clean room compares everything that the API serves before and after a trial.
    (["*"], ["*"], _READ),
    # Apps are deployed, broken and repaired.
    (
        [""],
        [
            "namespaces", "pods", "services", "configmaps", "secrets", "serviceaccounts", "persistentvolumeclaims",
            "resourcequotas", "limitranges", "events",
        ],
        _WRITE,
    ),
    ([""], ["nodes"], ["patch"]),
    ([""], ["pods/eviction"], ["create"]),
    # Checks ask ports of pods: HTTP through the proxy, TCP through a forwarded port.
    ([""], ["pods/proxy"], ["get"]),
    ([""], ["pods/portforward"], ["get", "create"]),
    # Faults of storage and scheduling offer volumes and priorities.
    ([""], ["persistentvolumes"], _WRITE),
    (["scheduling.k8s.io"], ["priorityclasses"], _WRITE),
    (["apps", "batch", "autoscaling", "policy", "networking.k8s.io"], ["*"], _WRITE),
    (["chaos-mesh.org"], ["*"], _WRITE),
    # The solver gets its rights in the namespace of its incident, and only there.
    (["rbac.authorization.k8s.io"], ["roles", "rolebindings"], _WRITE),
)  # fmt: skip


def access() -> list[dict[str, Any]]:
    """Namespace, ServiceAccount, ClusterRole and binding of the operator; roles of the solver; the event filter."""
    rules = [{"apiGroups": groups, "resources": resources, "verbs": verbs} for groups, resources, verbs in _RULES]
    # The leak scan reads what the solver could read, with the solver's rights.
    user = {"apiGroups": [""], "resources": ["users"], "resourceNames": [solver.SOLVER]}
    rules.append(user | {"verbs": ["impersonate"]})
    bind: dict[str, Any] = {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]}
    rules.append(bind | {"resourceNames": [solver.SOLVER], "verbs": ["bind"]})
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": NAME},
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
        },
        *solver.access(),
        *quiet_events(),
    ]


def quiet_events() -> list[dict[str, Any]]:
    """Keeps events of Chaos Mesh about single pods out of their namespaces.

    For every network, HTTP or IO experiment the manager keeps an object per pod, in the pod's namespace, and reports
    events on it there. A solver reads events; it cannot read those objects, but would learn from the events that they
    exist. The events of the experiments themselves are not concerned.
    """
    kinds = ", ".join(f"'{kind}'" for kind in _PER_POD)
    api = "admissionregistration.k8s.io/v1"
    events = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["events"]}
    told = "object.involvedObject"
    validation = {
        "expression": f"!has({told}.kind) || !({told}.kind in [{kinds}])",
        "message": "events of this kind are not kept",
    }
    return [
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": _EVENT_FILTER},
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [events]},
                "validations": [validation],
            },
        },
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": _EVENT_FILTER},
            "spec": {"policyName": _EVENT_FILTER, "validationActions": ["Deny"]},
        },
    ]


def deployment(image: str) -> list[dict[str, Any]]:
    """The Deployment that runs the operator: one replica, never two at the same time."""
    container = {
        "name": "operator",
        "image": image,
        "command": ["python", "-m", "operators.scenario", "--in-cluster"],
        "env": [{"name": "SCENARIO_KIT_PROMETHEUS_URL", "value": "http://prometheus.monitoring:9090"}],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    labels = {"app.kubernetes.io/name": NAME}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
            "spec": {
                "replicas": 1,
                "strategy": {"type": "Recreate"},
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"serviceAccountName": NAME, "containers": [container]},
                },
            },
        }
    ]

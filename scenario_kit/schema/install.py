"""What a cluster needs for the operator beside its kinds: its namespace, and its rights."""

from __future__ import annotations

from typing import Any

from scenario_kit.schema import policies, solver
from scenario_kit.schema.crd import GROUP
from scenario_kit.schema.writable import WRITABLE

NAMESPACE = "scenario-kit"
NAME = "scenario-kit-operator"
_RBAC = "rbac.authorization.k8s.io"
_WRITE = ["create", "update", "patch", "delete"]
_READ = ["get", "list", "watch"]

_EVENT_FILTER = "pod-event-filter"
#: What the manager of Chaos Mesh keeps for each pod, in the namespace of the pod.
_PER_POD = ("PodHttpChaos", "PodIOChaos", "PodNetworkChaos")
#: What is read and never written, and what for; beside it the operator reads the kinds that it may write. Logs, ports
#: and evictions of pods, and Secrets, are a matter of namespaces: the solver's role is bound there for it, too.
READ_ONLY: tuple[tuple[str, str, str], ...] = (
    ("", "events", "checks about events; whether the events of a Job are gone"),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings", "the canary of hidden experiments"),
    ("apiextensions.k8s.io", "customresourcedefinitions", "Kopf waits for our kinds; the canary of operators"),
    ("apps", "controllerrevisions", "ClusterRights of a fault; nobody grants rights beyond his own"),
    ("metrics.k8s.io", "nodes", "the canary of resource metrics; ClusterRights"),
    ("metrics.k8s.io", "pods", "ClusterRights"),
    ("networking.k8s.io", "ingressclasses", "the canary of ingress controllers; ClusterRights"),
    ("storage.k8s.io", "storageclasses", "the canary of provisioners; ClusterRights"),
    ("chaos-mesh.org", "*", "every kind of experiment that there is, which differs between versions"),
)

#: (API groups, resources, verbs), beside what follows from the list of writable kinds.
_RULES: tuple[tuple[list[str], list[str], list[str]], ...] = (
    # Our own kinds, their status and finalizers.
    ([GROUP], ["*"], [*_READ, *_WRITE]),
    ([""], ["nodes"], [*_READ, "patch"]),
    # What a Job of a command leaves in the events would tell a solver of it.
    ([""], ["events"], ["delete"]),
    # Checks ask ports of pods by HTTP through the proxy, which is no right of the solver.
    ([""], ["pods/proxy"], ["get"]),
    # Whatever an experiment has left goes with its app; and a solver may be shown the experiments.
    (["chaos-mesh.org"], ["*"], ["delete"]),
)
#: One operator acts at a time: it holds a Lease beside its own objects.
_LEASE_RULE: dict[str, Any] = {
    "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "patch"],
}  # fmt: skip
#: Kinds of the list that this role does not write: nodes are only patched, Secrets are a matter of namespaces.
_APART = ("nodes", "secrets")


def get_identity() -> str:
    """Get the user as which the API server knows the operator, in a cluster and in a lab."""
    return f"system:serviceaccount:{NAMESPACE}:{NAME}"


def build_operator_access() -> list[dict[str, Any]]:
    """Build the operator's roles and bindings, and what the API server refuses it all the same."""
    by_group: dict[str, list[str]] = {}
    for each in WRITABLE:
        if each.resource not in _APART:
            by_group.setdefault(each.group, []).append(each.resource)
    written = [([group], resources, [*_READ, *_WRITE]) for group, resources in by_group.items()]
    read = [([group], [resource], _READ) for group, resource, _ in READ_ONLY]
    rules: list[dict[str, Any]] = [
        {"apiGroups": groups, "resources": resources, "verbs": verbs}
        for groups, resources, verbs in (*_RULES, *read, *written)
    ]
    # The leak scan reads what the solver could read, with the solver's rights.
    user = {"apiGroups": [""], "resources": ["users"], "resourceNames": [solver.SOLVER]}
    rules.append(user | {"verbs": ["impersonate"]})
    # The solver's role is bound in the namespaces of an app: for the solver, and for the operator itself, which has no
    # right to Secrets elsewhere. It is the only role that is bound without being held.
    bind: dict[str, Any] = {"apiGroups": [_RBAC], "resources": ["clusterroles"]}
    rules.append(bind | {"resourceNames": [solver.SOLVER], "verbs": ["bind"]})
    secrets = [{"apiGroups": [""], "resources": ["secrets"], "verbs": [*_READ, *_WRITE]}]
    return [
        {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": rules},
        _build_binding("ClusterRoleBinding", "ClusterRole", {"name": NAME}),
        # Receipts of what was changed: a Secret where it holds Secret data.
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "Role",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "rules": [*secrets, _LEASE_RULE],
        },
        _build_binding("RoleBinding", "Role", {"name": NAME, "namespace": NAMESPACE}),
        *policies.build_bounds(NAMESPACE, NAME),
    ]


def _build_binding(kind: str, role: str, metadata: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": role, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
    }


def build_access() -> list[dict[str, Any]]:
    """Build namespace, ServiceAccount, roles and bounds of the operator; roles of the solver; the other policies."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}},
        *build_operator_access(),
        *solver.build_solver_access(),
        *solver.build_solver_account(NAMESPACE),
        *build_event_exclusion(),
        *policies.build_scenario_policies(),
    ]


def build_event_exclusion() -> list[dict[str, Any]]:
    """Keep events of Chaos Mesh about single pods out of their namespaces.

    For every network, HTTP or IO experiment the manager keeps an object per pod, in the pod's namespace, and reports
    events on it there. A solver reads events; it cannot read those objects, but would learn from the events that they
    exist. The events of the experiments themselves are not concerned.
    """
    kinds = ", ".join(f"'{kind}'" for kind in _PER_POD)
    events = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["events"]}
    reported = "object.involvedObject"
    validation = {
        "expression": f"!has({reported}.kind) || !({reported}.kind in [{kinds}])",
        "message": "events of this kind are not kept",
    }
    return policies.bound(_EVENT_FILTER, [events], [validation])

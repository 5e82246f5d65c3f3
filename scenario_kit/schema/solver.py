"""The solver's identity and access: it can read and change the app, but nothing of scenario-kit."""

from __future__ import annotations

from itertools import starmap
from typing import Any, Final

from scenario_kit.schema.rbac import RBAC_GROUP, Grant, build_binding, build_role, make_account_subject

#: The user, and the ClusterRole that the operator binds to it in the namespaces of an incident.
SOLVER: Final = "oncall"
_CLUSTER_ROLE = f"{SOLVER}-cluster-reader"
_ACCOUNT_ROLE = f"{SOLVER}-account"
_READ = ("get", "list", "watch")
_WRITE = (*_READ, "create", "update", "patch", "delete", "deletecollection")

_MINE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", "pods pods/ephemeralcontainers services configmaps secrets serviceaccounts persistentvolumeclaims", _WRITE),
    ("", "resourcequotas limitranges endpoints replicationcontrollers", _WRITE),
    ("", "pods/exec pods/portforward pods/eviction", ("create", "get")),
    ("", "pods/log pods/status events", _READ),
    ("events.k8s.io", "events", _READ),
    ("apps", "deployments statefulsets daemonsets replicasets controllerrevisions", _WRITE),
    ("apps", "deployments/scale statefulsets/scale replicasets/scale", ("get", "update", "patch")),
    ("batch", "jobs cronjobs", _WRITE),
    ("autoscaling", "horizontalpodautoscalers", _WRITE),
    ("policy", "poddisruptionbudgets", _WRITE),
    ("networking.k8s.io", "networkpolicies ingresses", _WRITE),
    ("discovery.k8s.io", "endpointslices", _WRITE),
    ("metrics.k8s.io", "pods", _READ),
)
_EVERYWHERE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", "nodes namespaces persistentvolumes", _READ),
    ("storage.k8s.io", "storageclasses csinodes", _READ),
    ("scheduling.k8s.io", "priorityclasses", _READ),
    ("networking.k8s.io", "ingressclasses", _READ),
    ("metrics.k8s.io", "nodes", _READ),
)


def build_solver_access() -> list[dict[str, Any]]:
    """Build the solver's roles, and the binding of its read-only cluster role."""
    user = {"apiGroup": RBAC_GROUP, "kind": "User", "name": SOLVER}
    return [
        build_role("ClusterRole", {"name": SOLVER}, starmap(Grant, _MINE)),
        build_role("ClusterRole", {"name": _CLUSTER_ROLE}, starmap(Grant, _EVERYWHERE)),
        build_binding("ClusterRoleBinding", "ClusterRole", _CLUSTER_ROLE, {"name": _CLUSTER_ROLE}, user),
    ]


def build_solver_account(namespace: str) -> list[dict[str, Any]]:
    """Build the ServiceAccount whose tokens allow impersonating the solver, and nothing else.

    The solver is a user, and clusters differ in how they authenticate users. All of them support tokens of
    ServiceAccounts, and impersonation.
    """
    role = {"name": _ACCOUNT_ROLE}
    subject = make_account_subject(SOLVER, namespace)
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": SOLVER, "namespace": namespace}},
        build_role("ClusterRole", role, [Grant("", "users", ("impersonate",), names=(SOLVER,))]),
        build_binding("ClusterRoleBinding", "ClusterRole", _ACCOUNT_ROLE, role, subject),
    ]

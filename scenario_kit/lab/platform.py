"""What a cluster needs before the first incident: namespaces, definitions, and what the solver may see and do."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from scenario_kit.lab.identity import MANAGEMENT_NAMESPACE, SOLVER
from scenario_kit.model.base import Object

CHAOS_NAMESPACE = "chaos-mesh"
#: The ClusterRole that the operator binds, by a RoleBinding, in a namespace whose incident a solver is to handle.
SOLVER_ROLE = SOLVER
_CLUSTER_ROLE = f"{SOLVER}-cluster-reader"
_READ = ("get", "list", "watch")
_WRITE = (*_READ, "create", "update", "patch", "delete", "deletecollection")
_RBAC = "rbac.authorization.k8s.io/v1"

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


def namespaces() -> list[Object]:
    """The namespaces of our own objects and of the chaos manager. A solver can read neither's content."""
    names = (MANAGEMENT_NAMESPACE, CHAOS_NAMESPACE)
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in names]


def access() -> list[Object]:
    """The solver's roles, and the binding of the one that only reads things outside of namespaces."""
    return [
        _role(SOLVER_ROLE, _MINE),
        _role(_CLUSTER_ROLE, _EVERYWHERE),
        {
            "apiVersion": _RBAC,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": _CLUSTER_ROLE},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _CLUSTER_ROLE},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SOLVER}],
        },
    ]


def own_definitions() -> list[Object]:
    """Our CustomResourceDefinitions, generated beside the operator."""
    package = operators_folder()
    path = package / "manifests" / "crds.yaml" if package else None
    if path is None or not path.exists():
        return []
    documents: list[Any] = list(yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    return [document for document in documents if document]


def operators_folder() -> Path | None:
    """Where the operators are installed; they are programs to the lab, no library."""
    spec = find_spec("operators")
    return Path(spec.origin).parent if spec and spec.origin else None


def _role(name: str, rules: tuple[tuple[str, str, tuple[str, ...]], ...]) -> Object:
    return {
        "apiVersion": _RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [
            {"apiGroups": [group], "resources": resources.split(), "verbs": list(verbs)}
            for group, resources, verbs in rules
        ],
    }

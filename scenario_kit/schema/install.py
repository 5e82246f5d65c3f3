"""Prerequisites of the operator besides the CRDs: its namespace and permissions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from scenario_kit.schema import policies, solver
from scenario_kit.schema.api_group import GROUP
from scenario_kit.schema.rbac import RBAC_GROUP, Grant, build_binding, build_role, make_account_subject
from scenario_kit.schema.solver_limits import build_solver_limits
from scenario_kit.schema.writable import APP_ROLE, WRITABLE, Writable

NAMESPACE = "scenario-kit"
NAME = "scenario-kit-operator"
#: What the operator may do to the components of a cluster, in the namespaces where that is granted.
SYSTEM_ROLE: Final = "scenario-kit-system"
#: The namespace of components that every cluster has.
_SYSTEM_NAMESPACE: Final = "kube-system"
_CHAOS: Final = "chaos-mesh.org"
_READ = ("get", "list")
_WATCH = (*_READ, "watch")
#: What requests of the operator are: it applies on the server's side, and never replaces an object.
_WRITE = ("create", "patch", "delete")

_EVENT_FILTER = "pod-event-filter"
#: What the manager of Chaos Mesh keeps for each pod, in the namespace of the pod.
_PER_POD = ("PodHttpChaos", "PodIOChaos", "PodNetworkChaos")


#: What is read and never written; beside it the operator reads the kinds that it may write. Logs, ports and evictions
#: of pods, and Secrets, are a matter of namespaces.
READ_ONLY: Final = (
    Grant("", "events", _READ, "checks about events; whether the events of a Job are gone"),
    Grant("admissionregistration.k8s.io", "validatingadmissionpolicybindings", _READ, "canary of hidden experiments"),
    Grant("apiextensions.k8s.io", "customresourcedefinitions", _WATCH, "Kopf waits for our kinds; a canary"),
    Grant("apps", "controllerrevisions", _READ, "ClusterRights"),
    Grant("metrics.k8s.io", "nodes pods", _READ, "the canary of resource metrics; ClusterRights"),
    Grant("networking.k8s.io", "ingressclasses", _READ, "the canary of ingress controllers; ClusterRights"),
    Grant("storage.k8s.io", "storageclasses", _READ, "the canary of provisioners; ClusterRights"),
    Grant(_CHAOS, "*", _WATCH, "experiments, whose kinds differ between versions; a solver may be shown them"),
)
#: Nobody grants rights beyond his own: what a fault's ClusterRights may give (``admission.rights``), which is to watch
#: what the operator itself only reads.
_CLUSTER_GRANTS: Final = (
    Grant("", "endpoints limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods", ("watch",), ""),
    Grant("", "replicationcontrollers resourcequotas services", ("watch",), ""),
    Grant("apps", "controllerrevisions daemonsets deployments replicasets statefulsets", ("watch",), ""),
    Grant("autoscaling", "horizontalpodautoscalers", ("watch",), ""),
    Grant("batch", "cronjobs jobs", ("watch",), ""),
    Grant("discovery.k8s.io", "endpointslices", ("watch",), ""),
    Grant("metrics.k8s.io", "nodes pods", ("watch",), ""),
    Grant("networking.k8s.io", "ingresses ingressclasses networkpolicies", ("watch",), ""),
    Grant("policy", "poddisruptionbudgets", ("watch",), ""),
    Grant("scheduling.k8s.io", "priorityclasses", ("watch",), ""),
    Grant("storage.k8s.io", "storageclasses", ("watch",), ""),
)
#: The same for NamespaceRights and for the roles that apps bring.
_APP_GRANTS: Final = (
    Grant("", "configmaps", ("update", "watch"), ""),
    Grant("", "events secrets", ("watch",), ""),
    Grant("apps", "daemonsets deployments replicasets statefulsets", ("update",), ""),
    Grant("autoscaling", "horizontalpodautoscalers", ("update",), ""),
)
_CLUSTER_RULES: Final = (
    Grant(GROUP, "scenarios trials validations", (*_WATCH, "patch"), "watches them; Kopf's finalizers and annotations"),
    Grant(GROUP, "scenarios/status trials/status validations/status", ("patch",), "says what happens"),
    Grant("", "nodes", (*_READ, "patch"), "cordons and taints"),
    Grant(RBAC_GROUP, "rolebindings", (*_READ, "create"), "binds its role for apps in a namespace that it has made"),
    Grant(RBAC_GROUP, "clusterroles", ("bind",), "the only roles that it binds without holding them",
         (solver.SOLVER, APP_ROLE)),
    Grant("", "users", ("impersonate",), "the leak scan reads what the solver could read", (solver.SOLVER,)),
)  # fmt: skip
_APP_RULES: Final = (
    Grant("", "secrets", (*_READ, *_WRITE), "Secrets of the app"),
    Grant(RBAC_GROUP, "rolebindings", ("patch", "delete"), "bindings of accounts of the app"),
    Grant("", "pods/log", ("get",), "checks about logs"),
    Grant("", "pods/proxy", ("get",), "checks ask ports of pods by HTTP"),
    Grant("", "pods/eviction", ("create",), "drains a node"),
    Grant("", "events", ("delete",), "what the Job of a command leaves there would tell a solver of it"),
    Grant(_CHAOS, "*", ("delete",), "what an experiment has left; and a solver may be shown experiments"),
)
_HOME_RULES: Final = (
    Grant("", "configmaps", _WRITE, "receipts, baselines, evidence and reports"),
    Grant("", "secrets", (*_READ, *_WRITE), "receipts of Secrets; the certificate of the webhook"),
    Grant(GROUP, "trials", ("create", "delete"), "a trial for each incident, and those of a validation"),
    Grant("coordination.k8s.io", "leases", ("get", "create", "patch"), "one operator acts at a time"),
)
_SYSTEM_RULES: Final = (
    Grant("apps", "daemonsets deployments statefulsets", ("patch",), "SystemComponent: restarts and scales"),
    Grant("", "configmaps", ("patch",), "SystemComponent: the configuration of DNS", ("coredns",)),
)
#: Kinds of the list whose rules stand above.
_APART = ("nodes", "rolebindings", "secrets")


def get_identity() -> str:
    """Get the operator's user name, in a cluster and in a lab."""
    return f"system:serviceaccount:{NAMESPACE}:{NAME}"


def build_operator_access() -> list[dict[str, Any]]:
    """Build the operator's roles and bindings, and what the API server refuses it all the same."""
    home = {"name": NAME, "namespace": NAMESPACE}
    kinds = [each for each in WRITABLE if each.resource not in _APART]
    wide = [each for each in kinds if not each.namespaced]
    experiments = [each for each in kinds if each.group == _CHAOS]  # all kinds of experiments can be read and deleted
    plain = [each for each in kinds if each.namespaced and each.group != _CHAOS]
    in_cluster = [*_CLUSTER_RULES, *READ_ONLY, *_list_rules(_READ, [*wide, *plain]), *_list_rules(_WRITE, wide)]
    app = [*_APP_RULES, *_list_rules(_WRITE, plain), *_list_rules(("create", "patch"), experiments)]
    return [
        build_role("ClusterRole", {"name": NAME}, [*in_cluster, *_CLUSTER_GRANTS]),
        _bind("ClusterRoleBinding", "ClusterRole", NAME, {"name": NAME}),
        build_role("ClusterRole", {"name": APP_ROLE}, [*app, *_APP_GRANTS]),
        build_role("Role", home, [*_HOME_RULES, *_list_rules(_WRITE, experiments)]),
        _bind("RoleBinding", "Role", NAME, home),
        build_role("ClusterRole", {"name": SYSTEM_ROLE}, _SYSTEM_RULES),
        build_system_binding(_SYSTEM_NAMESPACE),
        *policies.build_bounds(NAMESPACE, NAME),
    ]


def build_app_binding(namespace: str) -> dict[str, Any]:
    """Build the binding that the operator makes in a namespace of an app: for itself, of what it may do there."""
    return _bind("RoleBinding", "ClusterRole", APP_ROLE, {"name": APP_ROLE, "namespace": namespace})


def build_system_binding(namespace: str) -> dict[str, Any]:
    """Build the binding that lets faults with ``SystemComponent`` disturb the components of a namespace."""
    return _bind("RoleBinding", "ClusterRole", SYSTEM_ROLE, {"name": SYSTEM_ROLE, "namespace": namespace})


def _list_rules(verbs: tuple[str, ...], kinds: Iterable[Writable]) -> list[Grant]:
    """List rules about kinds of the list, one for each API group."""
    by_group: dict[str, list[str]] = {}
    for each in kinds:
        by_group.setdefault(each.group, []).append(each.resource)
    return [Grant(group, " ".join(resources), verbs, "changes") for group, resources in by_group.items()]


def _bind(kind: str, role_kind: str, role: str, metadata: dict[str, str]) -> dict[str, Any]:
    return build_binding(kind, role_kind, role, metadata, make_account_subject(NAME, NAMESPACE))


def build_access() -> list[dict[str, Any]]:
    """Build namespace, ServiceAccount, roles and bounds of the operator; roles of the solver; the other policies."""
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAMESPACE}},
        *build_operator_access(),
        *solver.build_solver_access(),
        *solver.build_solver_account(NAMESPACE),
        *build_solver_limits(),
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

"""The operator's role: it writes the kinds of the list alone, grants nothing, and reads no Secrets elsewhere."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from scenario_kit.admission.rights import CLUSTER_MAXIMUM, NAMESPACE_MAXIMUM, find_uncovered
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.schema.install import NAME, READ_ONLY, SYSTEM_ROLE, build_access, get_identity
from scenario_kit.schema.policies import build_scenario_policies
from scenario_kit.schema.solver import SOLVER
from scenario_kit.schema.writable import APP_ROLE, WRITABLE

OBJECTS = build_access()
RBAC = "rbac.authorization.k8s.io"


def rules(name: str = NAME, kind: str = "ClusterRole") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(
        o["rules"] for o in OBJECTS if o["kind"] == kind and o["metadata"]["name"] == name
    )
    return found


def is_allowed(verb: str, group: str, resource: str, name: str = "") -> bool:
    return any(
        verb in rule["verbs"]
        and group in rule["apiGroups"]
        and (resource in rule["resources"] or "*" in rule["resources"])
        and (not rule.get("resourceNames") or name in rule["resourceNames"])
        for rule in rules()
    )


def test_no_rule_uses_wildcard_groups_or_verbs() -> None:
    for rule in rules():
        assert "*" not in rule["verbs"], rule
        assert "*" not in rule["apiGroups"], rule
        assert not (rule["apiGroups"] == [""] and "*" in rule["resources"]), rule


def test_operator_only_binds_app_and_solver_roles() -> None:
    special = {
        (verb, *rule["resourceNames"]) for rule in rules() for verb in rule["verbs"] if verb in ("bind", "impersonate")
    }

    assert special == {("bind", SOLVER, APP_ROLE), ("impersonate", SOLVER)}
    assert not is_allowed("escalate", "rbac.authorization.k8s.io", "roles")
    assert not is_allowed("bind", "rbac.authorization.k8s.io", "clusterroles", "cluster-admin")
    for role in (APP_ROLE, SYSTEM_ROLE):
        assert not [rule for rule in rules(role) if {"bind", "escalate", "impersonate"} & set(rule["verbs"])]


@pytest.mark.parametrize("verb", ["get", "list", "watch", "create", "patch", "delete"])
def test_secrets_are_a_matter_of_namespaces(verb: str) -> None:
    assert not is_allowed(verb, "", "secrets")
    assert any("secrets" in rule["resources"] and verb in rule["verbs"] for rule in rules(APP_ROLE))
    if verb != "watch":
        assert any("secrets" in rule["resources"] and verb in rule["verbs"] for rule in rules(kind="Role"))


def test_cluster_role_writes_cluster_objects_and_own_kinds_only() -> None:
    written = {(each.group, each.resource) for each in WRITABLE if not each.namespaced}
    for rule in rules():
        if {"create", "update", "patch", "delete"} & set(rule["verbs"]):
            pairs = set(product(rule["apiGroups"], rule["resources"]))
            own = all(group == "scenariokit.io" for group, _ in pairs) and rule["verbs"][-1] == "patch"
            assert (
                own
                or pairs <= written
                or (pairs, rule["verbs"]) == ({(RBAC, "rolebindings")}, ["get", "list", "create"])
            ), rule


def test_operator_writes_listed_kinds_only() -> None:
    listed = {(each.group, each.resource) for each in WRITABLE if each.namespaced}
    written = [rule for rule in rules(APP_ROLE) if {"create", "update", "patch"} & set(rule["verbs"])]
    pairs = {pair for rule in written for pair in product(rule["apiGroups"], rule["resources"])}

    assert pairs == listed | {("", "pods/eviction")}
    for each in WRITABLE:
        if not each.namespaced and each.resource != "nodes":
            assert is_allowed("create", each.group, each.resource), each
    assert not is_allowed("create", "", "nodes")


def test_no_rule_is_printed_twice_and_no_object_is_replaced() -> None:
    """Requests of the operator apply and patch; `update` is there to be granted alone."""
    for name, kind in ((NAME, "ClusterRole"), (APP_ROLE, "ClusterRole"), (SYSTEM_ROLE, "ClusterRole"), (NAME, "Role")):
        found = list_parts(rules(name, kind))
        assert len(found) == len(set(found)), [part for part in found if found.count(part) > 1]
    granted = {
        (group, resource)
        for rule in NAMESPACE_MAXIMUM
        if "update" in rule["verbs"]
        for group, resource in product(rule["apiGroups"], rule["resources"])
    }
    updated = {
        part[1:3] for name in (NAME, APP_ROLE, SYSTEM_ROLE) for part in list_parts(rules(name)) if part[0] == "update"
    }
    assert updated == granted


def list_parts(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """A rule as single verbs on single resources."""
    return [
        part
        for rule in found
        for part in product(rule["verbs"], rule["apiGroups"], rule["resources"], rule.get("resourceNames", [""]))
    ]


def test_grantable_rights_are_held_by_the_granting_role() -> None:
    """The API server rejects grants beyond the rights of the grantor."""
    of_app: dict[str, Any] = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]}

    for rule in (*NAMESPACE_MAXIMUM, of_app):
        assert find_uncovered(rule, (*rules(), *rules(APP_ROLE))) == []


def test_only_grantable_and_kit_kinds_are_watched() -> None:
    watched = {part[1:3] for name in (NAME, APP_ROLE) for part in list_parts(rules(name)) if part[0] == "watch"}
    granted = {
        pair
        for rule in (*NAMESPACE_MAXIMUM, *CLUSTER_MAXIMUM)
        if "watch" in rule["verbs"] and "apiGroups" in rule
        for pair in product(rule["apiGroups"], rule["resources"])
    }
    ours = {("scenariokit.io", kind) for kind in ("scenarios", "trials", "validations")}
    kopf, solver, app = ("apiextensions.k8s.io", "customresourcedefinitions"), ("chaos-mesh.org", "*"), ("", "secrets")

    assert watched == granted | ours | {kopf, solver, app}


#: What the canaries of the catalogue list, as the API serves it.
RESOURCES = {
    ("NodeMetrics", "metrics.k8s.io"): ("metrics.k8s.io", "nodes"),
    ("Node", ""): ("", "nodes"),
    ("Pod", ""): ("", "pods"),
    ("Deployment", ""): ("apps", "deployments"),
    ("DaemonSet", ""): ("apps", "daemonsets"),
    ("StorageClass", ""): ("storage.k8s.io", "storageclasses"),
    ("IngressClass", ""): ("networking.k8s.io", "ingressclasses"),
    ("CustomResourceDefinition", ""): ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io"): (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
}


def list_needed() -> set[tuple[str, str]]:
    finds = [c.canary.find for c in list_capabilities(Catalog()) if c.canary.find is not None]
    pairs = {RESOURCES[find.kind, find.group] for find in finds}
    return pairs | {
        pair for r in CLUSTER_MAXIMUM for pair in product(r.get("apiGroups") or (), r.get("resources") or ())
    }


def test_operator_may_list_written_canary_and_grantable_kinds() -> None:
    for group, resource in list_needed():
        assert is_allowed("list", group, resource), (group, resource)
    assert not [p for r in CLUSTER_MAXIMUM for p in find_uncovered(r, rules()) if not p.url]


def test_role_reads_only_needed_resources() -> None:
    by_itself = {("", "events"), ("chaos-mesh.org", "*")}
    written = {(each.group, each.resource) for each in WRITABLE}
    ours = {("scenariokit.io", kind) for kind in ("scenarios", "trials", "validations")}
    listed = {(rule.group, resource) for rule in READ_ONLY for resource in rule.resources.split()}

    assert listed <= (list_needed() | by_itself) - written
    read = {pair for r in rules() if "list" in r["verbs"] for pair in product(r["apiGroups"], r["resources"])}
    assert read - written == listed | ours


@pytest.mark.parametrize("resource", ["pods/log", "pods/exec", "pods/portforward", "pods/eviction"])
def test_getting_into_pods_is_a_matter_of_namespaces(resource: str) -> None:
    solver = next(o for o in OBJECTS if o["kind"] == "ClusterRole" and o["metadata"]["name"] == SOLVER)

    assert not [verb for verb in ("get", "list", "create") if is_allowed(verb, "", resource)]
    assert any(resource in rule["resources"] for rule in solver["rules"])


def test_every_policy_is_bound_and_covers_operator_or_scenarios() -> None:
    policies = [o for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicy"]
    bindings = {o["spec"]["policyName"] for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicyBinding"}
    mine = [p for p in policies if p["metadata"]["name"].startswith("operator-bounds-")]

    assert {p["metadata"]["name"] for p in policies} == bindings
    assert len(mine) == 8
    assert all(get_identity() in p["spec"]["matchConditions"][0]["expression"] for p in mine)
    assert build_scenario_policies()[0] in policies

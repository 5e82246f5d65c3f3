"""The operator's role: it writes the kinds of the list alone, grants nothing, and reads no Secrets elsewhere."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from scenario_kit.admission.rights import find_uncovered, list_most_rules
from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.schema.install import NAME, NAMESPACE, READ_ONLY, build_access, get_identity
from scenario_kit.schema.policies import build_scenario_policies
from scenario_kit.schema.solver import SOLVER
from scenario_kit.schema.writable import WRITABLE

OBJECTS = build_access()


def rules() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(
        o["rules"] for o in OBJECTS if o["kind"] == "ClusterRole" and o["metadata"]["name"] == NAME
    )
    return found


def allowed(verb: str, group: str, resource: str, name: str = "") -> bool:
    return any(
        verb in rule["verbs"]
        and group in rule["apiGroups"]
        and (resource in rule["resources"] or "*" in rule["resources"])
        and (not rule.get("resourceNames") or name in rule["resourceNames"])
        for rule in rules()
    )


def test_no_rule_is_about_every_group_or_every_verb() -> None:
    for rule in rules():
        assert "*" not in rule["verbs"], rule
        assert "*" not in rule["apiGroups"], rule
        assert not (rule["apiGroups"] == [""] and "*" in rule["resources"]), rule


def test_it_grants_nothing_but_the_role_of_the_solver() -> None:
    special = [rule for rule in rules() if {"bind", "escalate", "impersonate"} & set(rule["verbs"])]

    assert all(rule["resourceNames"] == [SOLVER] for rule in special)
    assert not allowed("escalate", "rbac.authorization.k8s.io", "roles")
    assert not allowed("bind", "rbac.authorization.k8s.io", "clusterroles", "cluster-admin")


@pytest.mark.parametrize("verb", ["get", "list", "watch", "create", "update", "patch", "delete"])
def test_secrets_are_a_matter_of_namespaces(verb: str) -> None:
    role = next(o for o in OBJECTS if o["kind"] == "Role")

    assert not allowed(verb, "", "secrets")
    assert role["metadata"]["namespace"] == NAMESPACE
    assert verb in role["rules"][0]["verbs"]


def test_it_writes_the_kinds_of_the_list_alone() -> None:
    listed = {(each.group, each.resource) for each in WRITABLE} | {("scenariokit.io", "*"), ("", "events")}
    for rule in rules():
        if {"update", "create"} & set(rule["verbs"]) and not any("/" in r for r in rule["resources"]):
            assert set(product(rule["apiGroups"], rule["resources"])) <= listed, rule
    for each in WRITABLE:
        if each.resource not in ("secrets", "nodes"):
            assert allowed("create", each.group, each.resource), each
    assert not allowed("create", "", "nodes")


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
    asked = {RESOURCES[find.kind, find.group] for find in finds}
    rules = list_most_rules("ClusterRole")
    return asked | {pair for r in rules for pair in product(r.get("apiGroups") or (), r.get("resources") or ())}


def test_it_reads_what_it_may_write_what_canaries_ask_and_what_a_fault_may_be_given() -> None:
    for group, resource in list_needed():
        assert allowed("list", group, resource), (group, resource)
    assert not [p for r in list_most_rules("ClusterRole") for p in find_uncovered(r, rules()) if not p.url]


def test_it_reads_nothing_that_nobody_needs() -> None:
    by_itself = {("", "events"), ("chaos-mesh.org", "*")}
    written = {(each.group, each.resource) for each in WRITABLE}

    assert {(group, resource) for group, resource, _ in READ_ONLY} <= (list_needed() | by_itself) - written
    read = {pair for r in rules() if "list" in r["verbs"] for pair in product(r["apiGroups"], r["resources"])}
    assert read - written == {(g, r) for g, r, _ in READ_ONLY} | {("scenariokit.io", "*")}


@pytest.mark.parametrize("resource", ["pods/log", "pods/exec", "pods/portforward", "pods/eviction"])
def test_getting_into_pods_is_a_matter_of_namespaces(resource: str) -> None:
    solver = next(o for o in OBJECTS if o["kind"] == "ClusterRole" and o["metadata"]["name"] == SOLVER)

    assert not [verb for verb in ("get", "list", "create") if allowed(verb, "", resource)]
    assert any(resource in rule["resources"] for rule in solver["rules"])


def test_every_policy_is_bound_and_about_the_operator_or_about_scenarios() -> None:
    policies = [o for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicy"]
    bindings = {o["spec"]["policyName"] for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicyBinding"}
    mine = [p for p in policies if p["metadata"]["name"].startswith("operator-bounds-")]

    assert {p["metadata"]["name"] for p in policies} == bindings
    assert len(mine) == 8
    assert all(get_identity() in p["spec"]["matchConditions"][0]["expression"] for p in mine)
    assert build_scenario_policies()[0] in policies

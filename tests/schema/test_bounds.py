"""The operator's role: it writes the kinds of the list alone, grants nothing, and reads no Secrets elsewhere."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from scenario_kit.schema.install import NAME, NAMESPACE, build_access, get_identity
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


def test_every_policy_is_bound_and_about_the_operator_or_about_scenarios() -> None:
    policies = [o for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicy"]
    bindings = {o["spec"]["policyName"] for o in OBJECTS if o["kind"] == "ValidatingAdmissionPolicyBinding"}
    mine = [p for p in policies if p["metadata"]["name"].startswith("operator-bounds-")]

    assert {p["metadata"]["name"] for p in policies} == bindings
    assert len(mine) == 8
    assert all(get_identity() in p["spec"]["matchConditions"][0]["expression"] for p in mine)
    assert build_scenario_policies()[0] in policies

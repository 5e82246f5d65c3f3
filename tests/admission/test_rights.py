"""Roles are judged within bounded time."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.admission import Breach, derive_bounds, find_breaches
from scenario_kit.catalog import Catalog
from scenario_kit.model import App


def judge(**rule: Any) -> list[Breach]:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reader", "namespace": "shop"},
        "rules": [rule],
    }
    catalog = Catalog()
    bounds = derive_bounds(catalog.app("otel-demo", catalog.versions("otel-demo")[0]), "shop", (), (role,))
    return list(find_breaches(role, None, bounds))


@pytest.mark.parametrize("names", [["a"] * 1_000, [f"a{i}" for i in range(1_000)]])
def test_too_many_permissions_are_refused_uncounted(names: list[str]) -> None:
    (breach,) = judge(verbs=["get"] * 1_000, apiGroups=[""] * 1_000, resources=["pods"] * 1_000, resourceNames=names)

    assert (breach.code, breach.keys, breach.expected) == ("SK203", ("rules",), "at most 10,000")
    assert "1,000,000,000,000 permissions" in breach.note


def test_a_long_role_is_judged_by_its_permissions() -> None:
    names = [f"settings-{i}" for i in range(500)]
    (breach,) = judge(verbs=["get", "list"], apiGroups=[""], resources=["configmaps"], resourceNames=names)

    assert (breach.code, breach.declared) == ("SK202", "NamespaceRights")


@pytest.mark.parametrize(
    ("api", "kind", "of_app", "parts"),
    [
        ("apps/v1", "Deployment", True, []),
        ("extensions/v1beta1", "Deployment", True, ["group extensions", "belongs to apps"]),
        ("extensions/v1beta1", "Ingress", True, ["group extensions", "belongs to networking.k8s.io"]),
        ("serving.knative.dev/v1", "Service", True, ["group serving.knative.dev", "belongs to v1"]),
        ("extensions/v1beta1", "Deployment", False, ["no change may write"]),
        ("networking.istio.io/v1", "VirtualService", True, ["no app may have"]),
    ],
)  # fmt: skip
def test_kinds_of_other_groups_are_explained(api: str, kind: str, of_app: bool, parts: list[str]) -> None:
    app = App(name="shop", version="1", namespace="shop", entry="web", components=())
    obj = {"apiVersion": api, "kind": kind, "metadata": {"name": "x", "namespace": "shop"}, "spec": {}}
    bounds = derive_bounds(app, "shop", (), (obj,), frozenset(), of_app=of_app, ready=(obj,))

    found = [b.note for b in find_breaches(obj, None, bounds) if b.code == "SK235"]
    assert len(found) == bool(parts)
    assert all(part in found[0] for part in parts)


READING = ["get", "list", "watch"]


@pytest.mark.parametrize(
    ("kind", "rule", "place", "parts", "fix"),
    [
        (
            "Role",
            {"apiGroups": ["", "apps"], "resources": ["pods", "deployments"], "verbs": READING},
            None,
            ["'' with deployments", "'apps' with pods"],
            "one rule for each API group",
        ),
        (
            "Role",
            {"apiGroups": ["extensions"], "resources": ["pods", "secrets"], "verbs": READING},
            "apiGroups",
            ["'extensions' with pods, secrets"],
            "leave the group out",
        ),
        (
            "Role",
            {"apiGroups": [""], "resources": ["pods", "endpoints"], "verbs": [*READING, "patch", "delete"]},
            "resources",
            ["patch, delete on pods,", "patch, delete on endpoints,"],
            "leave patch, delete on",
        ),
        (
            "ClusterRole",
            {"apiGroups": [""], "resources": ["nodes", "secrets"], "verbs": READING},
            "resources",
            ["get, list, watch on secrets in every namespace"],
            "",
        ),
        (
            "ClusterRole",
            {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
            "nonResourceURLs",
            ["get on /metrics of the API server,"],
            "leave get on /metrics",
        ),
        ("Role", {"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": READING}, None, [], ""),
    ],
)  # fmt: skip
def test_each_excess_of_an_app_is_reported_once(
    kind: str, rule: dict[str, Any], place: str | None, parts: list[str], fix: str
) -> None:
    app = App(name="shop", version="1", namespace="shop", entry="web", components=())
    meta = {"name": "reader"} | ({"namespace": "shop"} if kind == "Role" else {})
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, "rules": [rule]}
    bounds = derive_bounds(app, "shop", (), (role,), frozenset(), of_app=True, ready=(role,))

    found = list(find_breaches(role, None, bounds))
    assert [breach.code for breach in found] == ["SK203"] * len(parts)
    assert all(any(part in breach.note for breach in found) for part in parts)
    assert all(fix in breach.fix and (place is None or breach.keys[2] == place) for breach in found)

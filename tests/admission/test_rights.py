"""Roles are judged within bounded time."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.admission import Breach, derive_bounds, find_breaches
from scenario_kit.catalog import Catalog


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

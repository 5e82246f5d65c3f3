"""Corrections of excessive numbers: to a value that is admitted, and only where one number is to blame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scenario_kit.lint.context.discovery import open_case
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.rules.security.protected_objects import check_amounts
from scenario_kit.load.yaml.edit import Put
from tests.lint.test_rules import CATALOG, base, write

SELECTOR = {"namespaces": ["app"], "labelSelectors": {"app.kubernetes.io/name": "cart"}}


def schedule(**spec: Any) -> dict[str, Any]:
    kill = {"action": "pod-kill", "mode": "all", "selector": SELECTOR}
    return {
        "chaos": {
            "apiVersion": "chaos-mesh.org/v1alpha1",
            "kind": "Schedule",
            "metadata": {"name": "often"},
            "spec": {"schedule": "@every 1m", "historyLimit": 1, "type": "PodChaos", "podChaos": kill, **spec},
        }
    }


def replica_set(name: str, replicas: int) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"a": name}}, "spec": {"containers": [{"name": "main", "image": "busybox:1.37.0"}]}}
    return {
        "create": {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"a": name}}, "template": pod},
        }
    }


def list_values(folder: Path, *changes: dict[str, Any]) -> list[list[Any]]:
    document = base()
    document["spec"]["decoys"][0]["changes"] = list(changes)
    case = open_case(write(document, folder), CATALOG)
    assert isinstance(case, LintContext)
    return [[edit.value for edit in problem.edits if isinstance(edit, Put)] for problem in check_amounts(case)]


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ([replica_set("a", 100_000)], [[1000]]),
        ([schedule(historyLimit=5000)], [[100]]),
        ([schedule(schedule="@every 1s")], [["@every 10s"]]),
        ([replica_set("a", 600), replica_set("b", 600)], [[]]),
    ],
)
def test_corrected_value_is_admitted(changes: list[dict[str, Any]], values: list[list[Any]], tmp_path: Path) -> None:
    assert list_values(tmp_path, *changes) == values

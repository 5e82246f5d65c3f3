"""``lab top``: rows from the metrics API."""

from __future__ import annotations

from typing import Any

from scenario_kit.cli.lab.top import build_node_row, build_pod_row, sort_rows


def pod(namespace: str, name: str, *usages: tuple[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"namespace": namespace, "name": name},
        "timestamp": "2026-11-18T00:01:00Z",
        "window": "15s",
        "containers": [{"name": "c", "usage": {"cpu": cpu, "memory": memory}} for cpu, memory in usages],
    }


def test_pod_row_sums_its_containers() -> None:
    assert build_pod_row(pod("shop", "web", ("250m", "64Mi"), ("12345679n", "4Ki"))) == {
        "namespace": "shop",
        "name": "web",
        "cpuCores": 0.262345679,
        "memoryBytes": 64 * 2.0**20 + 4096,
        "until": "2026-11-18 00:01:00",
    }


def test_node_row_has_usage_and_capacity() -> None:
    metrics = {"metadata": {"name": "worker-1"}, "usage": {"cpu": "2", "memory": "1Gi"}}
    row = build_node_row(metrics, {"worker-1": {"cpu": "8", "memory": "32Gi"}})
    assert (row["cpuCores"], row["cpuCapacity"], row["memoryBytes"], row["memoryCapacity"]) == (2, 8, 2**30, 32 * 2**30)
    assert build_node_row(metrics, {})["cpuCapacity"] == 0


def test_order() -> None:
    rows = [
        build_pod_row(each)
        for each in (pod("b", "x", ("1", "1Mi")), pod("a", "z", ("2", "1Mi")), pod("a", "y", ("1", "2Mi")))
    ]
    assert [r["name"] for r in sort_rows(rows, "name")] == ["y", "z", "x"]
    assert [r["name"] for r in sort_rows(rows, "cpu")] == ["z", "y", "x"]
    assert [r["name"] for r in sort_rows(rows, "memory")] == ["y", "z", "x"]

"""Values of the metrics API: measured usage, omissions, and formatting."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.lab.telemetry.resource_metrics import (
    NODE_ITSELF,
    Measured,
    build_list,
    build_node_metrics,
    build_pod_metrics,
    format_usage,
    measure_container_usage,
    sum_by_node,
)
from scenario_kit.model.runtime.process import Usage

#: 2026-11-18T00:01:00Z
NOW = 1794960060.0
EARLY, LATE = "2026-11-18T00:00:45Z", "2026-11-18T00:00:46Z"


def pod(name: str = "web", phase: str = "Running", **started: str | None) -> dict[str, Any]:
    """Each keyword is a container: since when it runs, or None for one that waits."""
    statuses = [
        {"name": c, "state": {"running": {"startedAt": at}} if at else {"waiting": {"reason": "CrashLoopBackOff"}}}
        for c, at in (started or {"c": EARLY}).items()
    ]
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": {"app": name}},
        "spec": {"nodeName": "worker-1"},
        "status": {"phase": phase, "containerStatuses": statuses},
    }


def build_measured(*keys: tuple[str, str]) -> Measured:
    return Measured(NOW, 15, {key: Usage(0.25, 64 * 2.0**20) for key in keys or (("web", "c"),)})


@pytest.mark.parametrize(
    ("used", "cpu", "memory"),
    [
        (Usage(0.25, 64 * 2.0**20), "250m", "64Mi"),
        (Usage(0.0123456789, 123456789.0), "12345679n", "120560Ki"),
        (Usage(2.0, 2.0**30), "2", "1Gi"),
        (Usage(0.0, 0.0), "0", "0"),
        (Usage(0.000_25, 5000.0), "250u", "4Ki"),
    ],
)
def test_quantities_are_canonical(used: Usage, cpu: str, memory: str) -> None:
    assert format_usage(used) == {"cpu": cpu, "memory": memory}


def test_pod_metrics_match_metrics_server() -> None:
    assert build_pod_metrics([pod()], build_measured()) == [
        {
            "kind": "PodMetrics",
            "apiVersion": "metrics.k8s.io/v1beta1",
            "metadata": {
                "name": "web",
                "namespace": "shop",
                "creationTimestamp": "2026-11-18T00:01:00Z",
                "labels": {"app": "web"},
            },
            "timestamp": "2026-11-18T00:01:00Z",
            "window": "15s",
            "containers": [{"name": "c", "usage": {"cpu": "250m", "memory": "64Mi"}}],
        }
    ]


@pytest.mark.parametrize(
    ("subject", "containers"),
    [
        (pod(), ["c"]),
        (pod(c=LATE), []),  # less than a window
        (pod(phase="Pending"), []),
        (pod(phase="Succeeded"), []),
        (pod(c=EARLY, d=None), ["c"]),  # one that does not run is no gap
        (pod(c=EARLY, d=LATE), []),  # one that has just begun is
        (pod(c=EARLY, unknown=EARLY), []),
        (pod(c=None), []),
        (pod(name="other"), []),
    ],
)
def test_only_whole_windows_count(subject: dict[str, Any], containers: list[str]) -> None:
    assert list(measure_container_usage(subject, build_measured())) == containers
    assert len(build_pod_metrics([subject], build_measured())) == bool(containers)


def test_node_usage_is_pods_plus_system() -> None:
    usage = build_measured(("a", "c"), ("a", "d"), ("b", "c"), ("gone", "c")).usage
    by_node = sum_by_node([pod("a"), pod("b")], usage)
    assert by_node == {"worker-1": Usage(0.75, 192 * 2.0**20)}
    ready, broken = (
        {"metadata": {"name": n}, "status": {"conditions": [{"type": "Ready", "status": s}]}}
        for n, s in (("worker-1", "True"), ("worker-2", "Unknown"))
    )
    (found,) = build_node_metrics([ready, broken, {"metadata": {"name": "new"}}], by_node, NOW, 15)
    assert found["kind"] == "NodeMetrics"
    assert found["metadata"] == {"name": "worker-1", "creationTimestamp": "2026-11-18T00:01:00Z"}
    assert found["usage"] == format_usage(Usage(0.75 + NODE_ITSELF.cpu_cores, 192 * 2.0**20 + NODE_ITSELF.memory_bytes))


def test_list_has_no_version() -> None:
    assert build_list("PodMetrics", []) == {
        "kind": "PodMetricsList",
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {},
        "items": [],
    }

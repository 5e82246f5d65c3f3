"""Pod resources as counted by the scheduler, by the cases of its documentation."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model.kubernetes.pod_resources import sum_pod_requests


def box(cpu: str = "", sidecar: bool = False, **resources: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"resources": resources or ({"requests": {"cpu": cpu}} if cpu else {})}
    return {**made, "restartPolicy": "Always"} if sidecar else made


@pytest.mark.parametrize(
    ("spec", "requests"),
    [
        ({}, {}),
        ({"containers": [box("100m"), box("200m"), box()]}, {"cpu": 0.3}),
        ({"containers": [box("100m")], "initContainers": [box("2"), box("1")]}, {"cpu": 2.0}),
        ({"containers": [box("1")], "initContainers": [box("500m", sidecar=True)]}, {"cpu": 1.5}),
        ({"containers": [box("1")], "initContainers": [box("1", sidecar=True), box("2")]}, {"cpu": 3.0}),
        ({"containers": [box("1")], "initContainers": [box("2"), box("1", sidecar=True)]}, {"cpu": 2.0}),
        ({"containers": [box(limits={"memory": "64Mi"})]}, {"memory": 2.0**26}),
        ({"containers": [box(limits={"cpu": "2"}, requests={"cpu": "1"})]}, {"cpu": 1.0}),
        ({"containers": [box("1")], "overhead": {"cpu": "250m", "memory": "1Mi"}}, {"cpu": 1.25, "memory": 2.0**20}),
    ],
)
def test_requests(spec: dict[str, Any], requests: dict[str, float]) -> None:
    assert sum_pod_requests(spec) == pytest.approx(requests)

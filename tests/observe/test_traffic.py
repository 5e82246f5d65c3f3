from __future__ import annotations

import pytest

from scenario_kit.errors import MetricsError
from scenario_kit.model import App
from scenario_kit.observe import Traffic, measure_traffic
from scenario_kit.testing import FakeMetrics

APP = App(name="shop", version="1", namespace="shop", entry="web", components=())


@pytest.mark.parametrize(
    ("requests", "errors", "expected"),
    [
        (600.0, 3.0, Traffic(seconds=300, requests=600.0, errors=3.0)),
        (600.0, None, Traffic(seconds=300, requests=600.0, errors=0.0)),
        (None, None, Traffic(seconds=300)),
    ],
)
def test_traffic(requests: float | None, errors: float | None, expected: Traffic) -> None:
    metrics = FakeMetrics.matching(
        {
            "STATUS_CODE_ERROR": lambda _: [] if errors is None else [({}, errors)],
            "calls_total": lambda _: [] if requests is None else [({}, requests)],
        }
    )
    assert measure_traffic(metrics, "shop-1", APP, 1000.0, 1300.0) == expected
    assert all("[300s]" in e and 'namespace="shop-1"' in e and 'service_name="web"' in e for e in metrics.queries)


def test_dead_server() -> None:
    metrics = FakeMetrics.matching({})
    metrics.down = True
    with pytest.raises(MetricsError):
        measure_traffic(metrics, "shop-1", APP, 0.0, 300.0)

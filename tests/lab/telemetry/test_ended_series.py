"""Series of ended worlds in a real Prometheus with the lab's settings (marker ``lab``)."""

from __future__ import annotations

import time

import httpx
import pytest

from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.lab.telemetry.remote_write import SeriesWriter, Tick
from scenario_kit.lab.telemetry.series import make_series_id

EPOCH = (time.time() - 3 * 86400) // 86400 * 86400
TICKS, SERIES = 40, 300


def ticks(world: str, first: int, last: int, name: str = "ended_total") -> list[Tick]:
    """Ticks of counters that grow by 1, 2, 3 … a tick."""
    series = [make_series_id(name, {"namespace": world, "pod": f"p{i}"}) for i in range(SERIES)]
    return [(EPOCH + 15 * t, {each: float(t * (i + 1)) for i, each in enumerate(series)}) for t in range(first, last)]


def in_memory(prometheus: str) -> tuple[int, int]:
    """Series in memory, and how many have left it since the start."""
    reported = dict(
        line.rsplit(" ", 1)
        for line in httpx.get(f"{prometheus}/metrics", trust_env=False).text.splitlines()
        if not line.startswith("#")
    )
    return int(float(reported["prometheus_tsdb_head_series"])), int(
        float(reported["prometheus_tsdb_head_series_removed_total"])
    )


def wait_until_removed(prometheus: str, count: int) -> None:
    deadline = time.monotonic() + 60
    while in_memory(prometheus)[1] < count:
        assert time.monotonic() < deadline, in_memory(prometheus)


@pytest.mark.lab
def test_ended_series_leave_memory_without_changing_queries(prometheus: str) -> None:
    metrics = PrometheusMetrics(prometheus)
    over, past = SeriesWriter(prometheus), in_memory(prometheus)[1]
    goes_on = SeriesWriter(prometheus)
    over.write(ticks("over", 1, TICKS))
    goes_on.write(ticks("on", 1, TICKS))
    rate = 'sum by (namespace) (rate(ended_total{namespace=~"over|on"}[2m]))'

    def query_series() -> object:
        return sorted(
            (sorted(found.labels.items()), found.points)
            for found in metrics.range(rate, EPOCH + 60, EPOCH + 15 * (TICKS - 1), 15)
        )

    before = query_series()
    assert len(before) == 2  # type: ignore[arg-type]
    over.write([(EPOCH + 15 * TICKS, {})])
    wait_until_removed(prometheus, past + SERIES)
    assert query_series() == before
    gone = metrics.instant('count(ended_total{namespace="over"})', EPOCH + 15 * TICKS)
    assert [point for found in gone for point in found.points] == []

    # A series that ended in the middle of a trial and left memory may come back: a container that was restarted.
    goes_on.write([(EPOCH + 15 * TICKS, {})])
    wait_until_removed(prometheus, past + 2 * SERIES)
    goes_on.write(ticks("on", TICKS + 1, 2 * TICKS))
    counted = metrics.instant('count_over_time(ended_total{namespace="on",pod="p0"}[1h])', EPOCH + 30 * TICKS)
    assert [point[1] for found in counted for point in found.points] == [2 * TICKS - 2]
    assert query_series() == before
    goes_on.write([(EPOCH + 30 * TICKS, {})])
    wait_until_removed(prometheus, past + 3 * SERIES)
    again = metrics.instant('count_over_time(ended_total{namespace="on",pod="p0"}[1h])', EPOCH + 30 * TICKS)
    assert [found.points for found in again] == [found.points for found in counted]
    metrics.close()

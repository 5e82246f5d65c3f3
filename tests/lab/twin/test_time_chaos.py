"""A shifted clock: programs write other times down, and nothing else changes."""

from typing import Any

import pytest

from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster


def _shift(cluster: TwinCluster, workload: str, *offsets: dict[str, Any]) -> None:
    cluster.afflict(workload, "Time", *({"seconds": 0, "nanoseconds": 0, "clocks": [0], **each} for each in offsets))


def _ahead(cluster: TwinCluster, name: str) -> float:
    """How far spans of that name are ahead of the requests that they belong to."""
    found = [
        span.start - next(other.start for other in trace.spans if other.service == "gate")
        for trace in cluster.twin.traces(cluster.now - 45.0, cluster.now)
        for span in trace.spans
        if span.name == name and span.kind == "SERVER"
    ]
    assert found
    return sum(found) / len(found)


@pytest.mark.parametrize(
    ("offsets", "ahead"),
    [
        (({"seconds": 3600},), 3600.0),
        (({"seconds": -86400},), -86400.0),
        (({"seconds": -1, "nanoseconds": 500_000_000},), -0.5),
        (({"seconds": 100}, {"seconds": 20}), 120.0),
        (({"seconds": 100, "clocks": [1]},), 0.0),  # the clock of durations, which nobody writes down
    ],
)
def test_spans_use_the_clock_of_their_process(offsets: tuple[dict[str, Any], ...], ahead: float) -> None:
    cluster = tiny.start_cluster()
    _shift(cluster, "api", *offsets)
    window = cluster.run(120.0)
    assert _ahead(cluster, "Api/Read") == pytest.approx(ahead, abs=0.2)
    assert _ahead(cluster, "GET /read") == pytest.approx(0.0, abs=0.2)
    assert (window.share("api"), window.quantile(0.9, "api") < 100) == (0.0, True)


def test_time_shift_ends_with_chaos_or_container() -> None:
    cluster = tiny.start_cluster()
    _shift(cluster, "api", {"seconds": 3600})
    cluster.run(60.0)
    cluster.calm()
    cluster.run(60.0)
    assert _ahead(cluster, "Api/Read") == pytest.approx(0.0, abs=0.2)
    _shift(cluster, "api", {"seconds": 3600})
    cluster.restart("api")
    cluster.run(120.0)
    assert _ahead(cluster, "Api/Read") == pytest.approx(0.0, abs=0.2)

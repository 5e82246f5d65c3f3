"""Speed of the twin without a cluster."""

from __future__ import annotations

import time

from scenario_kit.catalog import Catalog


def measure_twin_speed(pods: int = 0, seconds: float = 3600.0) -> float:
    """Return the virtual seconds per CPU second of the twin, for otel-demo at 50 users without a cluster.

    Args:
        pods: scale the app to this many pods.
    """

    from tests.lab.twin.shop import rendered  # the simulated cluster of the twin's tests, which need pytest

    shop = rendered("2.2.0", 50, {}, "steady", warm=180.0)
    if pods:
        serving = [
            c.workload.partition("/")[2] for c in Catalog().app("otel-demo", "2.2.0").components if c.role == "App"
        ]
        for workload in serving:
            shop.scale(workload, -(-pods // len(serving)))
        shop.run(180.0)
    start = time.process_time()
    shop.run(seconds)
    return seconds / (time.process_time() - start)

"""Limits of the rate: a token bucket with a queue in front of what a pod sends (tc-tbf(8))."""

import numpy as np
import pytest

from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.network.traffic_shaping import compute_delays
from scenario_kit.lab.twin.numeric.serial_queue import Bucket
from scenario_kit.model.twin.definition import TwinConstants
from tests.lab.twin import tiny

MESSAGE = TwinConstants().message_bytes  # 2 KiB
TICK = 15.0


@pytest.mark.parametrize(
    ("kilobits", "burst", "load", "seconds"),
    [
        (1, 1600, 0.0, 3.584),
        (8, 1600, 0.0, 0.448),  # all but the first packet waits for tokens
        (8, 2048, 0.0, 0.0),  # a message after a silence passes at once
        (8, 1000000, 0.0, 0.0),
        (8, 1600, 0.5, 1.248),  # the less silence, the fewer tokens
        (8, 1600, 1.0, 2.048),
        (10000, 1600, 1.0, 0.0016384),
    ],
)
def test_message_waits_for_tokens(kilobits: float, burst: float, load: float, seconds: float) -> None:
    shape = TrafficShape(rate=kilobits * 125.0, burst=burst)
    (late,) = compute_delays(shape, np.array([[0.5], [0.5]]), TwinConstants(), Bucket(load=load))
    assert late == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("load", "queue", "wait", "loss"),
    [
        (0.9, 1_000_000, 0.0, 0.0),
        (2.0, 3000, 3.0, 0.5),  # the queue is full, and half of what comes is dropped
        (2.0, 30_000, 30.0, 0.5),
        (2.0, 1_000_000, 60.0, 0.5),  # who waits for a minute has gone
        (2.0, 0, 60.0, 0.5),
    ],
)
def test_queue_fills_and_overflows(load: float, queue: float, wait: float, loss: float) -> None:
    bucket = Bucket()
    for _ in range(200):
        bucket.send(load * 1000.0 * TICK, 1000.0, queue)
        bucket.close(TICK)
    assert (bucket.wait, bucket.loss) == pytest.approx((wait, loss))
    for _ in range(200):
        bucket.close(TICK)
    assert (bucket.wait, bucket.loss, bucket.load) == (0.0, 0.0, 0.0)


def test_more_answers_than_the_rate_allows_wait_for_each_other() -> None:
    """Ten requests a second, each with a call and an answer of 2 KiB, are 328 kbit/s."""
    late, served = {}, {}
    for kilobits in (1000, 200, 20):
        cluster = tiny.start_cluster()
        cluster.chaos("api", rate=kilobits * 125.0, burst=1600.0, queue=1_000_000.0)
        cluster.run(300.0)
        counted = cluster.run(300.0)
        late[kilobits] = counted.quantile(0.5, "gate", span="GET /read")
        served[kilobits] = counted.rate("api", kind="SERVER") * 2 * MESSAGE / (kilobits * 125.0)
        assert (counted.share("gate", kind="SERVER") > 0.5) == (kilobits == 20), "callers give up after ten seconds"
    assert late[1000] < 100 < 1000 < late[200]
    assert served[200] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("burst", "queue"), [(1000.0, 1e6), (10000.0, 1000.0)])
def test_connection_stands_though_no_message_fits_into_the_bucket(burst: float, queue: float) -> None:
    """Handshakes and probes are small. Calls hang until the caller gives up, and are well again afterwards."""
    cluster = tiny.start_cluster()
    cluster.run(60.0)
    cluster.chaos("api", rate=1e6, burst=burst, queue=queue)
    cluster.run(60.0)
    stalled = cluster.run(120.0)
    assert stalled.share("gate", kind="SERVER") == 1.0
    assert stalled.quantile(0.5, "gate", span="GET /read") > 5000, "ten seconds"
    assert all(p["status"].get("phase") == "Running" for p in cluster.pods("api"))
    cluster.calm()
    cluster.run(60.0)
    assert cluster.run(120.0).share("gate", kind="SERVER") == 0.0

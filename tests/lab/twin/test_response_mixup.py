"""Responses delivered to the longest-waiting caller, and the effect on the shop's orders."""

from collections.abc import Callable

import numpy as np
import pytest

from scenario_kit.lab.twin.numeric.batches import Result
from scenario_kit.lab.twin.process.response_mixup import Turns
from tests.lab.twin.twin_cluster import TwinCluster


def _calls(turns: Turns, first: float, n: int, *, failed: bool) -> list[float]:
    """What ``n`` calls take that come every second and would each have an answer at once."""
    at = first + np.arange(float(n))
    return [float(x) for x in turns.hand_out(at, Result(np.zeros(n), np.full(n, failed)), first, first + n).took]


def test_calls_get_their_own_responses_without_failures() -> None:
    assert _calls(Turns(), 0.0, 20, failed=False) == [0.0] * 20


@pytest.mark.parametrize(("failures", "missing"), [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (10, 4), (45, 9)])
def test_leaked_readers_delay_every_later_call(failures: int, missing: int) -> None:
    turns = Turns()
    _calls(turns, 0.0, failures, failed=True)
    assert turns.waiting == missing
    later = _calls(turns, float(failures), 20, failed=False)
    assert later == pytest.approx([float(missing)] * 20), "each waits for so many others, for good"


def test_batches_keep_state_between_calls() -> None:
    apart, at_once = Turns(), Turns()
    for number in range(10):
        _calls(apart, float(number), 1, failed=True)
    _calls(at_once, 0.0, 10, failed=True)
    assert (apart.waiting, apart.ahead) == (at_once.waiting, at_once.ahead)


def test_orders_stay_late_after_broker_outage_until_checkout_restarts(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.scale("kafka", 0)
    down = shop.run(300.0)
    assert down.share("checkout", span="publish orders") == 1.0
    assert down.share("checkout", kind="SERVER") == 0.0, "an order does not fail with its record"
    shop.scale("kafka", 1)
    shop.run(120.0)
    back = shop.run(300.0)
    assert back.share("checkout", span="publish orders") == 0.0
    assert back.rate("accounting", kind="CONSUMER") > 0.4, "all orders arrive"
    assert back.quantile(0.5, "checkout") < 100 < 10_000 < back.quantile(0.95, "checkout")
    assert back.share("frontend-proxy", kind="SERVER") == pytest.approx(0.06, abs=0.03), "nobody waits that long"
    shop.restart("checkout")
    shop.run(60.0)
    after = shop.run(120.0)
    assert after.quantile(0.95, "checkout") < 100
    assert after.share("frontend-proxy", kind="SERVER") == 0.0


def test_short_outage_costs_a_little(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.restart("kafka")
    shop.run(120.0)
    after = shop.run(300.0)
    assert 1_000 < after.quantile(0.95, "checkout") < 15_000
    assert after.share("frontend-proxy", kind="SERVER") < 0.01


def test_unreachable_broker_does_not_delay_orders(cluster: Callable[..., TwinCluster]) -> None:
    """Nothing acknowledges them: they are written into the connection, and come when it works again."""
    shop = cluster()
    shop.chaos("kafka", drop=True, direction="INPUT")
    cut = shop.run(240.0)
    assert cut.quantile(0.95, "checkout") < 100
    assert cut.share("checkout") == 0.0
    assert cut.silent("accounting")
    shop.calm()
    after = shop.run(180.0)
    assert after.calls("accounting", span="receive orders") == pytest.approx(
        (cut.calls("checkout", span="publish orders") + after.calls("checkout", span="publish orders")), abs=5
    )


def test_slow_broker_network_does_not_delay_orders(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("kafka", delay=2.0)
    assert shop.run(120.0).quantile(0.95, "checkout") < 100


def test_producer_waits_for_reconnection(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("kafka", drop=True, direction="INPUT")
    shop.run(330.0)
    shop.run(120.0)
    late = shop.run(120.0)
    assert late.share("checkout", span="publish orders") == 1.0
    assert late.quantile(0.95, "checkout") >= 15_000

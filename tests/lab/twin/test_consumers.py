"""What consumers of a topic do with its records: waits, commits, polls that take too long, copies and repetitions."""

from collections.abc import Callable

import pytest

from tests.lab.twin.shop import flag, rendered
from tests.lab.twin.twin_cluster import TwinCluster


def _of(shop: TwinCluster, metric: str, group: str) -> float:
    return next(v for (n, labels), v in shop.samples.items() if n == metric and ("group", group) in labels)


def _lag(shop: TwinCluster, group: str) -> float:
    return _of(shop, "kafka_consumer_group_lag_sum_ratio", group)


def test_consumer_span_includes_the_poll_wait(cluster: Callable[..., TwinCluster]) -> None:
    hour = cluster().run(3600.0)
    orders = hour.calls("checkout", span="publish orders")
    for span, kind in (("order-consumed", "INTERNAL"), ("receive orders", "CONSUMER"), ("postgresql", "CLIENT")):
        assert hour.calls("accounting", span=span, kind=kind) == pytest.approx(orders, abs=5), span
    # Orders come at random: one wait in twenty is three times the mean.
    assert hour.quantile(0.95, "accounting", span="order-consumed") == pytest.approx(3 * 3.6e6 / orders, rel=0.1)
    assert hour.quantile(0.95, "accounting", span="receive orders") <= 100
    assert hour.calls("fraud-detection") == hour.calls("fraud-detection", span="process orders", kind="CONSUMER")


def test_slow_poll_is_repeated_after_rebalance(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    flag(shop, "kafkaQueueProblems", "on")
    shop.run(300.0)
    offset, away = _of(shop, "kafka_consumer_group_offset_sum_ratio", "fraud-detection"), 0
    for _ in range(60):
        shop.run(15.0)
        away += _of(shop, "kafka_consumer_group_members", "fraud-detection") == 0.0
    assert away >= 12, "five hundred records take five hundred seconds, and the group waits for three hundred"
    assert _of(shop, "kafka_consumer_group_offset_sum_ratio", "fraud-detection") - offset <= 500
    assert _of(shop, "kafka_consumer_group_members", "accounting") == 1.0
    flag(shop, "kafkaQueueProblems", "off")
    shop.run(600.0)
    assert _of(shop, "kafka_consumer_group_members", "fraud-detection") == 1.0
    assert _lag(shop, "fraud-detection") <= 5


def test_copies_are_compared_without_cache() -> None:
    """3.0.0 saves each order with a context of its own, and the store refuses the copies."""
    shop = rendered("3.0.0", 50, {}, "steady", 120.0)
    flag(shop, "kafkaQueueProblems", "on")
    after = shop.run(120.0)
    assert after.share("accounting", span="postgresql") == pytest.approx(100 / 101, abs=0.02)
    assert after.share("accounting", kind="CONSUMER") == 0.0
    assert any("Duplicate order received" in line.text for line in shop.logs)


def test_uncommitted_records_are_redelivered() -> None:
    shop = rendered("3.0.0", 50, {}, "steady", 120.0)
    again = 0.0
    for _ in range(6):
        shop.restart("accounting")
        again += shop.run(60.0).calls("accounting", span="postgresql", error=True)
    assert 1 <= again <= 30, "a second or two of orders each time, of the five between two commits"


def test_refused_database_write_fails_all_later_orders(cluster: Callable[..., TwinCluster]) -> None:
    """2.2.0 has one DbContext for good, in which an order stays that could not be saved (upstream's issue 2783)."""
    shop = cluster()
    for _ in range(6):
        shop.restart("accounting")
        shop.run(30.0)
        if poisoned := shop.run(60.0).share("accounting", span="postgresql"):
            break
    assert poisoned == 1.0
    assert shop.run(300.0).share("accounting", span="postgresql") == 1.0, "it does not get over it"
    assert _lag(shop, "accounting") <= 5, "and commits what it could not save"
    # What was handed out meanwhile was never saved, so the next member saves it.
    shop.restart("accounting")
    shop.run(30.0)
    assert shop.run(120.0).calls("accounting", span="postgresql", error=True) == 0


def test_empty_database_refuses_no_order(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    while not shop.run(60.0).share("accounting", span="postgresql"):
        shop.restart("accounting")
    shop.restart("postgresql")  # it has no volume
    shop.run(60.0)
    assert shop.run(120.0).calls("accounting", span="postgresql", error=True) == 0


def test_broker_handles_requests_of_a_connection_sequentially(cluster: Callable[..., TwinCluster]) -> None:
    """A method of ten seconds processes one order per ten seconds, unnoticed by producers."""
    shop = cluster()
    slow = {"name": "r", "class": "kafka.server.KafkaApis", "method": "handleProduceRequest"}
    slow["actions"] = [{"sleepSeconds": 10.0}]
    shop.afflict("kafka", "JVM", {"port": 9277, "rules": [slow]})
    shop.run(60.0)
    window = shop.run(600.0)
    sent = window.calls("checkout", span="publish orders")
    assert sent > 300
    assert window.quantile(0.95, "checkout", span="publish orders") < 100
    assert window.calls("accounting", span="order-consumed") == pytest.approx(60, abs=2)
    shop.stress = ()
    shop.version += 1
    after = shop.run(120.0)
    assert after.calls("accounting", span="order-consumed") > 0.85 * sent, "what waited comes at once"

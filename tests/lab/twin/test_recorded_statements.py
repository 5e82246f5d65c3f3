"""Statements about the running apps, each with what the twin does."""

from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.model import App
from tests.lab.twin.hotel import started
from tests.lab.twin.shop import flag
from tests.lab.twin.twin_cluster import TwinCluster

#: Of an iteration, without requests: the mean time of a user between two.
THINK_SECONDS = 5.5
#: Of an iteration: 1.156 requests, 2 of 37 are checkouts.
CHECKOUTS = 1.156 * 2 / 37


def test_failures_do_not_lower_the_load_and_waiting_does(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    before = shop.run(300.0).rate("frontend-proxy", kind="SERVER")
    shop.scale("payment", 0)
    shop.run(60.0)
    assert shop.run(300.0).rate("frontend-proxy", kind="SERVER") == pytest.approx(before, rel=0.05)
    shop = cluster(warm=60.0)
    shop.chaos("payment", loss=100.0)
    shop.run(60.0)
    slower = THINK_SECONDS / (THINK_SECONDS + 15.0 * CHECKOUTS)
    assert shop.run(600.0).rate("frontend-proxy", kind="SERVER") == pytest.approx(before * slower, rel=0.05)


def test_flags_are_off_without_their_server(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    flag(shop, "adFailure", "on")
    shop.run(60.0)
    assert shop.run(300.0).share("ad", kind="SERVER") == pytest.approx(0.1, abs=0.05)
    shop.scale("flagd", 0)
    shop.run(60.0)
    assert shop.run(300.0).share("ad", kind="SERVER") == 0.0


def test_series_of_a_lost_broker_end_instead_of_falling_to_zero(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    assert any(name == "kafka_consumer_group_members" for name, _ in shop.samples)
    shop.scale("kafka", 0)
    shop.run(60.0)
    assert not any(name.startswith("kafka_consumer_group") for name, _ in shop.samples)


def test_searches_that_hang_hold_all_connections_of_the_load(
    hotel_app: App, hotel_objects: list[dict[str, Any]]
) -> None:
    """A hundred connections, of which each search (60 % of the requests) holds one for half a minute.

    After two minutes of silence the channels die, and searches fail at once.
    """
    hotel = started(hotel_app, hotel_objects, 90.0)
    before = hotel.run(60.0).rate("recommendation", kind="SERVER")
    assert before == pytest.approx(39.0, rel=0.05)
    hotel.chaos("geo", loss=100.0)
    hotel.run(30.0)
    held = hotel.run(90.0).rate("recommendation", kind="SERVER")
    most = 0.39 * 100 / (0.6 * 30.0)  # a connection that becomes free is used from the next tick on
    assert most / 3.0 < held < 1.1 * most
    hotel.run(120.0)
    failing = hotel.run(120.0)
    assert failing.rate("recommendation", kind="SERVER") == pytest.approx(before, rel=0.1)
    assert failing.share("search", kind="SERVER") == 1.0

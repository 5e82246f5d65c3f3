"""How long the shop's clients wait: to connect, for an answer, and on a connection that has fallen silent."""

from collections.abc import Callable

import pytest

from tests.lab.twin.test_traces import spans, traces
from tests.lab.twin.twin_cluster import TwinCluster


def test_proxy_answers_503_after_five_seconds(cluster: Callable[..., TwinCluster]) -> None:
    """15 s are for requests on connections; those break within a minute."""
    shop = cluster()
    shop.chaos("frontend", loss=100.0)
    shop.run(120.0)
    late = [s for s in spans(traces(shop, 45.0)) if s.name == "router frontend egress"]
    assert late
    assert {s.attributes["http.response.status_code"] for s in late} == {503}
    assert all(s.seconds == pytest.approx(5.0, abs=0.2) for s in late)
    assert any("connection_timeout" in line.text for line in shop.logs)


def test_unresponsive_store_delays_carts_until_it_answers(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("valkey-cart", loss=100.0)
    early = shop.run(30.0)
    assert 5000 <= early.quantile(0.95, "cart") < 10000, "a command times out"
    shop.run(60.0)
    held = shop.run(300.0)
    assert held.calls("cart", kind="SERVER") == 0, "they wait for a lock, and for who connects"
    assert held.share("frontend-proxy", kind="SERVER") > 0.2
    assert held.share("frontend", kind="SERVER") == 0.0, "cut at the edge"
    shop.calm()
    shop.run(30.0)
    after = shop.run(120.0)
    assert after.calls("cart", kind="SERVER") > 100
    assert after.share("load-generator") == 0.0


def test_unsendable_mail_delays_order_by_half_a_minute(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("email", loss=100.0)
    shop.run(150.0)
    after = shop.run(300.0)
    assert after.calls("checkout", span="oteldemo.CheckoutService/PlaceOrder", error=False) > 20
    assert after.quantile(0.5, "checkout") < 1000, "the steps before are as quick as ever"
    assert after.calls("checkout", span="POST /send_order_confirmation", error=True) > 20


@pytest.mark.parametrize(("delay", "share"), [(2.0, 0.0), (3.0, 1.0)])
def test_quote_times_out_after_five_seconds(cluster: Callable[..., TwinCluster], delay: float, share: float) -> None:
    """Each has a connection of its own, which is twice the delay."""
    shop = cluster()
    shop.chaos("quote", delay=delay)
    shop.run(60.0)
    after = shop.run(180.0)
    assert after.share("shipping", span="POST /get-quote") == share
    assert after.silent("payment") == bool(share)


def test_quote_calls_fail_immediately_on_a_changed_service(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.change("Service", "quote", lambda s: s["spec"]["ports"][0].update(targetPort=9999))
    assert shop.run(15.0).share("shipping", span="POST /get-quote") == 1.0


def test_orders_fail_one_after_another_without_a_connection(cluster: Callable[..., TwinCluster]) -> None:
    """Npgsql waits fifteen seconds for a connection; the one that it had is closed with the first statement."""
    shop = cluster()
    shop.chaos("postgresql", drop=True, direction="INPUT", peers=(shop.pods("accounting")[0]["status"]["podIP"],))
    after = shop.run(300.0)
    assert after.calls("accounting", span="order-consumed") == pytest.approx(300 / 15, abs=3)
    assert any("Order parsing failed" in line.text for line in shop.logs)
    shop.calm()
    shop.run(60.0)
    saved = shop.run(120.0)
    assert saved.calls("accounting", span="postgresql") > 20
    assert saved.share("accounting", span="postgresql") == 0.0, "orders that could not be saved spoil no later ones"

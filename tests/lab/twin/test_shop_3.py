"""Differences of version 3.0.0 of the shop in the twin (docs/fidelity.md)."""

import json
from collections.abc import Callable

import pytest

from tests.lab.twin.shop import flag, rendered
from tests.lab.twin.twin_cluster import TICK, TwinCluster

TAIL = {"payment", "email", "accounting", "fraud-detection"}
#: What fails of the users' requests without a component, and who then sends nothing or nothing but errors.
LOST = {
    "astronomy-db": (0.62, {"product-catalog", "recommendation", "currency", "shipping", "quote"} | TAIL),
    "chatbot": (0.0, set[str]()),
}


@pytest.fixture
def cluster() -> Callable[..., TwinCluster]:
    def make(users: int = 50, warm: float = 180.0) -> TwinCluster:
        return rendered("3.0.0", users, {}, "", warm)

    return make


def test_healthy_shop_matches_user_rates(cluster: Callable[..., TwinCluster]) -> None:
    hour = cluster().run(1800.0)
    for service in hour.services():
        assert hour.calls(service, error=True) == 0, service
        if service != "accounting":  # its span of an order begins with the wait for it
            assert hour.quantile(0.95, service) < 500, service
    iterations = 50 / 5.5
    assert hour.rate("frontend-proxy", kind="SERVER") == pytest.approx(1.172 * iterations, rel=0.03)
    assert hour.rate("product-catalog", kind="SERVER") == pytest.approx(1.323 * iterations, rel=0.04)
    assert hour.rate("checkout", span="oteldemo.CheckoutService/PlaceOrder") == pytest.approx(
        0.069 * iterations, rel=0.15
    )
    assert hour.calls("product-reviews") == 0


@pytest.mark.parametrize("component", LOST)
def test_loss_of_a_component(cluster: Callable[..., TwinCluster], component: str) -> None:
    shop = cluster()
    shop.scale(component, 0)
    shop.run(60.0)
    after = shop.run(600.0)
    share, silent = LOST[component]
    assert after.share("load-generator") == pytest.approx(share, abs=0.025)
    assert {s for s in after.services() - {"load-generator"} if after.silent(s)} == silent


def test_share_of_the_carts_is_not_emptied(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(users=200)
    flag(shop, "cartFailure", "25%")
    shop.run(30.0)
    after = shop.run(300.0)
    assert after.share("cart", span="POST /oteldemo.CartService/EmptyCart") == pytest.approx(0.25, abs=0.08)
    assert after.share("load-generator") == 0.0


def test_failed_charge_drops_all_payment_spans(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(users=200)
    flag(shop, "paymentFailure", "100%")
    shop.run(30.0)
    assert shop.run(120.0).silent("payment")


def test_number_of_users_is_a_flag(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(users=50)
    flag(shop, "loadGeneratorVUs", "10")
    shop.run(30.0)
    assert shop.run(600.0).rate("frontend-proxy", kind="SERVER") == pytest.approx(2.13, rel=0.15)


@pytest.mark.parametrize("gone", ["flagd", "flag"])
def test_load_generator_takes_no_answer_for_a_no(cluster: Callable[..., TwinCluster], gone: str) -> None:
    shop = cluster()
    if gone == "flagd":
        shop.scale("flagd", 0)
    else:
        flag(shop, "loadGeneratorTraffic", "on")
        data = shop.get("ConfigMap", "flagd-config")["data"]
        document = json.loads(data["demo.flagd.json"])
        del document["flags"]["loadGeneratorTraffic"]
        data["demo.flagd.json"] = json.dumps(document)
        shop.restart("flagd")
    shop.run(60.0)
    assert shop.run(120.0).rate("frontend-proxy") == 0.0


def test_traffic_can_be_switched_off(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    flag(shop, "loadGeneratorTraffic", "off")
    shop.run(60.0)
    assert shop.run(120.0).rate("frontend-proxy") == 0.0
    flag(shop, "loadGeneratorTraffic", "on")
    shop.run(30.0)
    assert shop.run(300.0).rate("frontend-proxy", kind="SERVER") > 9


def test_shipping_abroad_is_slow(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(users=200)
    flag(shop, "intlShippingSlowdown", "10sec")
    shop.run(30.0)
    after = shop.run(300.0)
    assert after.share("load-generator") == 0.0
    assert after.quantile(0.985, "shipping") > 5000, "one order in nine"
    assert after.quantile(0.5, "shipping") < 50


def test_leaking_cache_is_oom_killed(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(users=5)
    flag(shop, "recommendationCacheFailure", "on")
    killed = []
    for minute in range(45):
        for _ in range(4):
            shop.run(TICK)
            assert shop.last is not None
            killed += [(minute, e.reason) for e in shop.last.exits if e.container == "recommendation"]
    (minute, reason), *_ = killed
    assert reason == "OOMKilled"
    assert 12 <= minute <= 28, "54 misses of 0.09 calls per second, half of which miss"

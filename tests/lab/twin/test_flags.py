"""Every feature flag of the shop has its effect in the twin: which series move, and how far (docs/fidelity.md)."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.render import render_app, resolve_options
from tests.lab.twin.shop import flag
from tests.lab.twin.twin_cluster import Span, TwinCluster

VERSIONS = ("2.2.0", "3.0.0")
#: Only the text of an answer differs, which no series and no line shows.
SILENT = {"llmInaccurateResponse"}
#: Flags whose effect other tests of this folder measure.
ELSEWHERE = {
    "test_shop.py": {"adFailure", "cartFailure", "emailMemoryLeak", "paymentFailure", "paymentUnreachable"}
    | {"productCatalogFailure"},
    "test_shop_3.py": {"intlShippingSlowdown", "loadGeneratorTraffic", "loadGeneratorVUs"},
    "test_browsers.py": {"imageSlowLoad"},
}

Check = Callable[[TwinCluster, Span, Span], None]


def lag(shop: TwinCluster, group: str) -> float:
    return next(
        v for (n, ls), v in shop.samples.items() if n == "kafka_consumer_group_lag_sum_ratio" and ("group", group) in ls
    )


def usage(shop: TwinCluster, container: str) -> Any:
    assert shop.last is not None
    return next(u for (_, name), u in shop.last.usage.items() if name == container)


def four_busy_threads(shop: TwinCluster, before: Span, after: Span) -> None:
    assert usage(shop, "ad").cpu_cores == pytest.approx(4.0, abs=0.2)
    late = after.quantile(0.95, "ad") / before.quantile(0.95, "ad")
    assert 1 < late < 3, "a woken thread soon gets its turn: it takes a CPU limit to be really late"


def three_seconds_of_collections(_: TwinCluster, before: Span, after: Span) -> None:
    served = "oteldemo.AdService/GetAds"
    assert before.quantile(0.5, "ad", span=served) < 10
    assert 2000 <= after.quantile(0.5, "ad", span=served) <= 5000
    assert after.share("load-generator") == 0.0


def a_hundred_copies(shop: TwinCluster, before: Span, after: Span) -> None:
    orders = after.rate("checkout", span="oteldemo.CheckoutService/PlaceOrder")
    assert after.rate("accounting", span="receive orders") / orders == pytest.approx(101, rel=0.1)
    assert after.rate("accounting", span="postgresql") / orders == pytest.approx(1, rel=0.1), "it knows what it saved"
    assert any("is already being tracked" in line.text for line in shop.logs)
    assert lag(shop, "fraud-detection") > 100, "one record a second"
    assert after.rate("fraud-detection", span="process orders") == pytest.approx(1.0, rel=0.1)
    assert lag(shop, "accounting") < 500, "no more than it has not committed yet"
    assert after.share("load-generator") == 0.0


def a_flood_of_home_pages(_: TwinCluster, before: Span, after: Span) -> None:
    home = after.rate("load-generator", span="GET /")
    assert home == pytest.approx(15.6 * 50 / 5.5 * 0.97, rel=0.15)
    others = "oteldemo.ProductCatalogService/GetProduct"
    assert 0.75 < after.rate("product-catalog", span=others) / before.rate("product-catalog", span=others) < 1.1


def half_of_the_lists_fail(_: TwinCluster, before: Span, after: Span) -> None:
    assert after.share("recommendation", span="oteldemo.RecommendationService/ListRecommendations") == pytest.approx(
        0.5, abs=0.12
    )
    assert after.share("frontend", span="GET /api/recommendations") == pytest.approx(0.5, abs=0.12)
    # Upstream's issue 3259: it asks GetProduct with an empty message. What was cached is shown, which is nothing.
    failures = after.calls(
        "recommendation", span="oteldemo.ProductCatalogService/GetProduct", kind="CLIENT", error=True
    )
    assert failures == after.calls("recommendation", span="get_product_list", error=True) > 10
    assert after.calls("product-catalog", error=True) == failures
    assert after.calls("product-catalog", span="oteldemo.ProductCatalogService/ListProducts") == 0
    shown = after.calls("frontend", span="GET /api/products/{productId}")
    lines = after.calls("checkout", span="oteldemo.ProductCatalogService/GetProduct", kind="CLIENT")
    got = after.calls("frontend", span="oteldemo.ProductCatalogService/GetProduct", kind="CLIENT")
    assert got == pytest.approx(shown + lines, abs=10), "a page without recommendations asks for none of them"


def limits_that_nobody_else_sees(_: TwinCluster, before: Span, after: Span) -> None:
    assert before.calls("product-reviews", error=True) == 0
    assert after.share("product-reviews", span="POST", kind="CLIENT") == pytest.approx(0.6, abs=0.15)
    assert after.share("product-reviews", kind="SERVER") == after.share("frontend") == 0.0


def no_more_healthy(shop: TwinCluster, _: Span, after: Span) -> None:
    pod = shop.pods("cart")[0]
    assert not shop.twin.answers(pod, "cart", 8080, "grpc:", shop.now)
    assert shop.twin.answers(pod, "cart", 8080, None, shop.now), "it listens all the same"
    assert after.share("load-generator") == 0.0, "nobody asks the health service"


def test_the_first_charge_waits_for_flags_in_vain(cluster: Callable[..., TwinCluster]) -> None:
    """Setting the provider twice has no effect: only the first charge of a process can fail."""
    shop = cluster()
    shop.scale("flagd", 0)
    shop.restart("payment")
    assert shop.run(60.0).calls("payment", error=True, kind="SERVER") == 1
    after = shop.run(600.0)
    assert after.calls("payment", kind="SERVER") > 100
    assert after.calls("payment", error=True) + after.calls("checkout", error=True, kind="SERVER") == 0


EFFECTS: Mapping[str, tuple[str, Check]] = {
    "adHighCpu": ("on", four_busy_threads),
    "adManualGc": ("on", three_seconds_of_collections),
    "failedReadinessProbe": ("on", no_more_healthy),
    "kafkaQueueProblems": ("on", a_hundred_copies),
    "llmRateLimitError": ("on", limits_that_nobody_else_sees),
    "loadGeneratorFloodHomepage": ("on", a_flood_of_home_pages),
    "recommendationCacheFailure": ("on", half_of_the_lists_fail),
}


def document(version: str) -> dict[str, Any]:
    app = Catalog().app("otel-demo", version)
    objects = render_app(app, resolve_options(app, {}), 50, "shop")
    found = next(o for o in objects if o["kind"] == "ConfigMap" and o["metadata"]["name"] == "flagd-config")
    flags: dict[str, Any] = json.loads(found["data"]["demo.flagd.json"])["flags"]
    return flags


@pytest.mark.parametrize("version", VERSIONS)
def test_every_flag_has_an_effect_and_a_test(version: str) -> None:
    app = Catalog().app("otel-demo", version)
    assert app.twin is not None
    model = app.twin.flags
    assert model is not None
    known = set(document(version))
    assert known - SILENT <= set(model.effects)
    assert known <= SILENT | set(EFFECTS) | set().union(*ELSEWHERE.values())


@pytest.mark.parametrize(("name", "flags"), ELSEWHERE.items())
def test_flags_measured_elsewhere_are_referenced(request: pytest.FixtureRequest, name: str, flags: set[str]) -> None:
    text = request.path.with_name(name).read_text(encoding="utf-8")
    assert {flag for flag in flags if not re.search(rf'"{flag}"', text)} == set()


@pytest.mark.parametrize("name", EFFECTS)
def test_flag_has_its_effect(cluster: Callable[..., TwinCluster], name: str) -> None:
    variant, check = EFFECTS[name]
    shop = cluster(warm=60.0)
    before = shop.run(60.0)
    flag(shop, name, variant)
    shop.run(60.0)
    check(shop, before, shop.run(180.0))

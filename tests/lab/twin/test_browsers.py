"""Browsers among the shop's users: their requests, reports and memory (docs/fidelity.md, upstream's scripts)."""

from collections.abc import Callable

import pytest

from tests.lab.twin.shop import flag, rendered
from tests.lab.twin.twin_cluster import TICK, Span, TwinCluster

BROWSER = "frontend-web"


@pytest.fixture
def visited() -> Callable[..., TwinCluster]:
    def make(version: str, users: int = 10, warm: float = 90.0) -> TwinCluster:
        return rendered(version, users, {}, "browser", warm)

    return make


def visits(span: Span) -> float:
    return span.rate("load-generator", span="browser_change_currency") + span.rate(
        "load-generator", span="browser_add_to_cart"
    )


@pytest.mark.parametrize(
    ("version", "browsers", "http"),
    [
        ("2.2.0", 5, 5 / 5.5),  # every second user is one
        ("3.0.0", 1, 10 / 5.5),  # one beside the users
    ],
)
def test_browsers_call_browser_only_services(
    visited: Callable[..., TwinCluster], version: str, browsers: int, http: float
) -> None:
    shop = visited(version)
    after = shop.run(300.0)
    for service in after.services():
        assert after.calls(service, error=True) == 0, service
    assert after.quantile(0.95, BROWSER) < 300
    assert visits(after) == pytest.approx(browsers / (7.5 + 0.7), rel=0.35)
    assert after.rate("load-generator", span="GET /api/products/{productId}") == pytest.approx(http * 0.52, rel=0.25)
    # Half of the visits change the currency: twice four cards, a logo. The others see 22 pictures more or less large.
    assert after.rate("image-provider") / visits(after) == pytest.approx((9 + 22) / 2, rel=0.2)
    assert after.rate("currency", span="Currency/GetSupportedCurrencies") == pytest.approx(visits(after), rel=0.1)
    assert after.rate("frontend", span="GET /api/shipping") > 0
    assert after.calls("quote") > after.calls("checkout", span="oteldemo.CheckoutService/PlaceOrder")


def test_image_provider_is_idle_without_browsers(visited: Callable[..., TwinCluster]) -> None:
    shop = visited("2.2.0", warm=60.0)
    assert shop.run(60.0).calls("image-provider") > 0
    shop.env("load-generator", "LOCUST_BROWSER_TRAFFIC_ENABLED", "false")
    shop.run(30.0)
    after = shop.run(120.0)
    assert after.calls("image-provider") == after.calls(BROWSER) == 0
    assert after.rate("load-generator") == pytest.approx(2.1, rel=0.3)


def test_browsers_use_load_generator_memory(visited: Callable[..., TwinCluster]) -> None:
    def bytes_of(shop: TwinCluster) -> float:
        assert shop.last is not None
        return next(u.memory_bytes for (_, name), u in shop.last.usage.items() if name == "load-generator")

    shop = visited("2.2.0", users=20, warm=60.0)
    many = bytes_of(shop)
    shop.env("load-generator", "LOCUST_USERS", "4")
    shop.run(30.0)
    assert (many - bytes_of(shop)) / 8 / 2**20 == pytest.approx(90, rel=0.1)
    shop.env("load-generator", "LOCUST_USERS", "100")  # the limit is one for 20
    ends = []
    for _ in range(4):
        shop.run(TICK)
        assert shop.last is not None
        ends += [e.reason for e in shop.last.exits if e.container == "load-generator"]
    assert ends == ["OOMKilled"]


@pytest.mark.parametrize(("version", "longest"), [("2.2.0", 5000), ("3.0.0", 5500)])
def test_slow_images_only_slow_the_proxy(visited: Callable[..., TwinCluster], version: str, longest: float) -> None:
    shop = visited(version)
    before = shop.run(60.0)
    flag(shop, "imageSlowLoad", "5sec")
    after = shop.run(150.0)
    assert after.share("frontend-proxy") == after.share(BROWSER) == 0.0
    assert after.quantile(0.99, "frontend-proxy") > 1500 > 100 > before.quantile(0.99, "frontend-proxy")
    assert after.quantile(1.0, "frontend-proxy") <= 10000
    assert after.quantile(0.99, "image-provider") < 100, "the proxy waits before it asks"
    assert after.quantile(0.95, "frontend") < 200
    slow = after.quantile(1.0, BROWSER)
    if version == "2.2.0":
        assert slow < 1500, "it leaves before the pictures are there, and never ends their spans"
    else:
        assert slow >= longest - 500, "it waits for the one that it clicks at"
    shop.scale("flagd", 0)
    shop.run(30.0)
    assert shop.run(60.0).quantile(0.99, "frontend-proxy") < 1500, "nobody tells the browsers"


@pytest.mark.parametrize(
    ("component", "broken"),
    [("image-provider", {"frontend-proxy"}), ("currency", {"frontend", "frontend-proxy"})],
)
def test_browser_only_requests_fail_with_their_component(
    visited: Callable[..., TwinCluster], component: str, broken: set[str]
) -> None:
    shop = visited("2.2.0", users=40)
    shop.scale(component, 0)
    shop.run(60.0)
    after = shop.run(120.0)
    for service in broken:
        assert after.share(service, kind="SERVER") > 0.02, service
    assert after.share(BROWSER) > 0.02
    assert after.share("load-generator", span="browser_change_currency") == 0.0, "a task swallows its own failures"
    if component == "currency":
        waiting = 20 / 2 / (7.5 + 30) + 20 / 2 / (7.5 + 0.7)
        assert visits(after) < 1.35 * waiting, "who cannot choose a currency waits for half a minute"


def test_browser_spans_bypass_the_collector_service(visited: Callable[..., TwinCluster]) -> None:
    shop = visited("2.2.0")
    shop.env("frontend", "OTEL_COLLECTOR_HOST", "elsewhere")
    shop.run(30.0)
    after = shop.run(60.0)
    assert after.calls(BROWSER) == 0
    assert after.calls("load-generator") > 0
    shop.env("frontend", "OTEL_COLLECTOR_HOST", "otel-collector")
    shop.env("load-generator", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://elsewhere:4317")
    shop.run(30.0)
    after = shop.run(60.0)
    assert after.calls(BROWSER) > 0
    assert after.calls("load-generator") == 0


def test_disabled_traffic_has_no_browsers(visited: Callable[..., TwinCluster]) -> None:
    shop = visited("3.0.0", warm=60.0)
    flag(shop, "loadGeneratorTraffic", "off")
    shop.run(30.0)
    after = shop.run(60.0)
    assert after.calls(BROWSER) == after.calls("frontend") == 0

"""The shop in the twin, compared with facts about the real one (docs/fidelity.md)."""

import time
from collections.abc import Callable

import pytest

from tests.lab.twin.shop import flag as turn
from tests.lab.twin.twin_cluster import TICK, TwinCluster

ORDER_TAIL = {"payment", "email", "accounting", "fraud-detection"}
SILENT_AFTER = {
    "checkout": {"checkout", "currency", "shipping", "quote"} | ORDER_TAIL,
    # checkout prepares every order under a span whose status nobody sets.
    "cart": {"cart", "currency", "shipping", "quote"} | ORDER_TAIL,
    "valkey-cart": {"cart", "currency", "shipping", "quote"} | ORDER_TAIL,
    "product-catalog": {"product-catalog", "recommendation", "currency", "shipping", "quote"} | ORDER_TAIL,
    "postgresql": {"product-catalog", "recommendation", "currency", "shipping", "quote"} | ORDER_TAIL,
    "currency": {"currency", "shipping", "quote"} | ORDER_TAIL,
    "shipping": {"shipping", "quote"} | ORDER_TAIL,
    "quote": {"quote", "shipping"} | ORDER_TAIL,  # every span of shipping then fails, too
    "payment": ORDER_TAIL,
    "email": {"email"},
    "kafka": {"accounting", "fraud-detection"},
    "recommendation": {"recommendation"},
    "ad": {"ad"},
    "accounting": {"accounting"},
    "flagd": set[str](),
    "image-provider": set[str](),
}
SHARES = {
    **dict.fromkeys(("frontend", "frontend-proxy"), 1.0),
    "postgresql": 0.624,  # the assistant tells the model of the error, and answers
    "product-catalog": 0.57,
    **dict.fromkeys(("cart", "valkey-cart"), 0.30),
    **dict.fromkeys(("recommendation", "ad", "product-reviews"), 0.081),
    **dict.fromkeys(("checkout", "currency", "shipping", "quote", "payment"), 0.054),
    "llm": 0.027,
    "kafka": 0.049,
    **dict.fromkeys(("email", "accounting", "fraud-detection", "flagd", "image-provider"), 0.0),
}


def test_healthy_is_quiet(cluster: Callable[..., TwinCluster]) -> None:
    hour = cluster().run(3600.0)
    for service in hour.services():
        assert hour.calls(service, error=True) == 0, service
        if service != "accounting":  # its span of an order begins with the wait for it
            assert hour.quantile(0.95, service) < 500, service
    for service in SILENT_AFTER["cart"] | {"ad", "frontend", "frontend-proxy", "product-catalog", "product-reviews"}:
        assert hour.calls(service) > 100, service


def test_request_rates_match_fifty_users(cluster: Callable[..., TwinCluster]) -> None:
    hour = cluster().run(3600.0)
    assert hour.rate("frontend-proxy", kind="SERVER") == pytest.approx(5 * 2.1, rel=0.03)
    assert hour.rate("product-catalog", span="oteldemo.ProductCatalogService/GetProduct") == pytest.approx(
        5 * 2.0, rel=0.04
    )
    assert hour.rate("cart", span="HGET") == pytest.approx(5 * 0.97, rel=0.05)
    assert hour.rate("checkout", span="oteldemo.CheckoutService/PlaceOrder") == pytest.approx(5 * 0.114, rel=0.12)
    assert hour.rate("currency") == pytest.approx(5 * 0.32, rel=0.12)
    assert hour.rate("accounting", span="postgresql") == pytest.approx(5 * 0.114, rel=0.12)


def test_span_status_and_client_span_names(cluster: Callable[..., TwinCluster]) -> None:
    """currency sets the status OK (``server.cpp``); its callers' instrumentation names calls as the protocol does."""
    shop = cluster(warm=30.0)
    shop.run(60.0)
    reported = {
        (labels["service_name"], labels["span_name"], labels["status_code"])
        for name, labels in ((name, dict(labels)) for name, labels in shop.samples)
        if name == "traces_span_metrics_calls_total"
    }
    assert {entry for entry in reported if entry[0] == "currency" or entry[2] == "STATUS_CODE_OK"} == {
        ("currency", "Currency/Convert", "STATUS_CODE_OK")
    }
    assert ("checkout", "oteldemo.CurrencyService/Convert", "STATUS_CODE_UNSET") in reported


@pytest.mark.parametrize("component", SHARES)
def test_loss_of_a_component(cluster: Callable[..., TwinCluster], component: str) -> None:
    """The share of user requests that fail (§2.4), and who sends nothing but errors or nothing at all (§2.3)."""
    shop = cluster()
    shop.scale(component, 0)
    shop.run(60.0)
    after = shop.run(600.0)
    assert after.share("load-generator") == pytest.approx(SHARES[component], abs=0.02)
    if component in SILENT_AFTER:
        everybody = after.services() - {"load-generator"}
        assert {service for service in everybody if after.silent(service)} == SILENT_AFTER[component]


def test_slow_cart_store_shows_at_the_edge(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("valkey-cart", delay=2.0)
    shop.run(30.0)
    after = shop.run(300.0)
    assert after.quantile(0.95, "frontend-proxy") > 1500
    assert after.quantile(0.95, "cart") > 1500
    assert after.share("frontend-proxy") == 0.0
    assert after.rate("load-generator") < 9.0, "waiting users send less"


def test_hanging_order_times_out_at_the_edge_after_fifteen_seconds(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("payment", loss=100.0)
    shop.run(30.0)
    after = shop.run(600.0)
    assert after.share("frontend-proxy", kind="SERVER") == pytest.approx(0.054, abs=0.02)
    assert after.share("frontend") == 0.0, "the frontend ends without error when its caller leaves"
    assert after.calls("payment") == 0
    assert after.rate("load-generator") == pytest.approx(50 * 1.156 / (5.5 + 0.0625 * 15), rel=0.05)


def test_swallowed_edges_stop_errors_but_not_delays(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("email", delay=3.0)
    shop.run(30.0)
    after = shop.run(300.0)
    assert after.share("load-generator") == 0.0
    assert after.quantile(0.95, "checkout") > 1500


def test_address_of_quote_corrupted_in_shipping(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.env("shipping", "QUOTE_ADDR", "http://quote-v2:8080")
    shop.run(60.0)
    after = shop.run(300.0)
    assert after.share("shipping") == 1.0
    assert after.silent("payment")
    assert after.silent("quote")
    assert any("quote-v2" in line.text for line in shop.logs if line.pod.startswith("shipping"))


def test_wrong_target_port_affects_only_new_connections(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.change("Service", "product-catalog", lambda s: s["spec"]["ports"][0].update(targetPort=9999))
    assert shop.run(300.0).share("load-generator") == 0.0
    for caller in ("frontend", "recommendation", "checkout"):
        shop.restart(caller)
    shop.run(60.0)
    after = shop.run(300.0)
    assert after.share("frontend-proxy", kind="SERVER") == pytest.approx(0.57, abs=0.03)
    assert after.silent("product-catalog")


def test_load_generator_without_users_or_pods(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.env("load-generator", "LOCUST_USERS", "10")
    shop.run(60.0)
    assert shop.run(600.0).rate("load-generator") == pytest.approx(2.1, rel=0.1)
    shop.scale("load-generator", 0)
    shop.run(30.0)
    assert shop.run(60.0).rate("frontend") == 0.0


def test_users_are_spawned_gradually(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.env("load-generator", "LOCUST_SPAWN_RATE", "0.1")
    shop.run(15.0)
    early, late = shop.run(60.0), shop.run(600.0)
    assert early.rate("load-generator") < 0.3 * late.rate("load-generator")


def test_new_collector_counts_from_zero(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    before = sum(v for (n, _), v in shop.samples.items() if n == "traces_span_metrics_calls_total")
    shop.restart("otel-collector")
    shop.run(30.0)
    after = sum(v for (n, _), v in shop.samples.items() if n == "traces_span_metrics_calls_total")
    assert 0 < after < before / 4
    shop.scale("otel-collector", 0)
    shop.run(15.0)
    assert shop.samples == {}


def test_counters_of_a_removed_service_stay_constant(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.scale("ad", 0)
    shop.run(60.0)
    first = {k: v for k, v in shop.samples.items() if ("service_name", "ad") in k[1]}
    shop.run(60.0)
    assert first
    assert first == {k: v for k, v in shop.samples.items() if ("service_name", "ad") in k[1]}


def test_consumers_lag_and_catch_up(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()

    def read(metric: str) -> float:
        return next(v for (n, labels), v in shop.samples.items() if n == metric and ("group", "accounting") in labels)

    assert read("kafka_consumer_group_members") == 1.0
    assert read("kafka_consumer_group_lag_sum_ratio") <= 5
    shop.scale("accounting", 0)
    shop.run(300.0)
    assert read("kafka_consumer_group_members") == 0.0
    assert read("kafka_consumer_group_lag_sum_ratio") > 100
    shop.scale("accounting", 1)
    shop.run(60.0)
    assert read("kafka_consumer_group_lag_sum_ratio") <= 5
    shop.scale("kafka", 0)
    shop.run(15.0)
    assert not [n for n, _ in shop.samples if n.startswith("kafka_consumer_group")]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_delayed_records_do_not_block_consumers(cluster: Callable[..., TwinCluster], seed: int) -> None:
    """Records delayed by packet loss for minutes do not delay the others."""
    shop = cluster(seed=seed)
    shop.chaos("checkout", loss=40.0)
    shop.run(900.0)
    shop.calm()
    assert shop.run(120.0).rate("accounting") > 0.5


def test_orders_are_lost_but_not_late_without_the_database(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("postgresql", drop=True, direction="INPUT", peers=(shop.pods("accounting")[0]["status"]["podIP"],))
    shop.run(600.0)
    lag = next(
        v
        for (n, ls), v in shop.samples.items()
        if n == "kafka_consumer_group_lag_sum_ratio" and ("group", "accounting") in ls
    )
    assert lag > 100, "a hanging insert holds the group up"


@pytest.mark.parametrize(
    ("flag", "variant", "service", "share"),
    [
        ("paymentFailure", "50%", "payment", 0.5),
        ("paymentUnreachable", "on", "checkout", None),
        ("adFailure", "on", "ad", 0.1),
        ("cartFailure", "on", "cart", None),
        ("productCatalogFailure", "on", "product-catalog", 0.1),
    ],
)
def test_flags(cluster: Callable[..., TwinCluster], flag: str, variant: str, service: str, share: float | None) -> None:
    shop = cluster()
    turn(shop, flag, variant)
    shop.run(180.0)
    after = shop.run(900.0)
    assert after.calls(service, error=True) > 10
    if share is not None:
        assert after.share(service, kind="SERVER") == pytest.approx(share, abs=0.08)
    if flag == "paymentFailure":
        assert after.share(service, span="charge") == 0.0, "it ends its own span before it throws"
    if flag == "paymentUnreachable":
        assert after.silent("payment")
    if flag == "cartFailure":
        assert after.share("load-generator") == 0.0


def test_flag_file_is_copied_at_pod_start(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    data = shop.get("ConfigMap", "flagd-config")["data"]
    data["demo.flagd.json"] = data["demo.flagd.json"].replace("off", "on")
    shop.version += 1
    assert shop.run(300.0).share("payment") == 0.0


def test_mail_leak_ends_in_a_kill(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    turn(shop, "emailMemoryLeak", "1000x")
    killed: list[str] = []
    for _ in range(40):
        shop.run(TICK)
        assert shop.last is not None
        killed += [e.reason for e in shop.last.exits if e.container == "email"]
        if killed:
            break
    assert killed == ["OOMKilled"]
    assert shop.run(60.0).share("load-generator") == 0.0


def test_renamed_objects_give_identical_samples(cluster: Callable[..., TwinCluster]) -> None:
    def story(shop: TwinCluster) -> list[dict[object, float]]:
        result = []
        for change in (
            lambda: None,
            lambda: shop.scale("cart", 0),
            lambda: shop.scale("cart", 1),
            lambda: shop.restart("frontend"),
        ):
            change()
            shop.run(90.0)
            result.append(dict(shop.samples))
        return result

    first, second = story(cluster(seed=7)), story(cluster(seed=7, salt=40))
    assert first == second
    assert first != story(cluster(seed=8))


def test_logs_are_limited_to_program_knowledge(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.logs.clear()
    shop.scale("payment", 0)
    shop.run(300.0)
    per_tick = len(shop.logs) / 20
    assert per_tick < 120
    text = "\n".join(line.text for line in shop.logs).lower()
    assert "order placed" not in text
    reported = [line for line in shop.logs if "could not charge the card" in line.text]
    assert {line.container for line in reported} == {"frontend"}, "checkout says it in its answer only"
    assert all("connect: connection refused" in line.text for line in reported)
    assert not [
        word
        for word in ("chaos", "scenario", "fault", "inject", "simulat", "twin")
        if word in text.replace("default", "")
    ]
    assert all(a.t <= b.t + TICK for a, b in zip(shop.logs, shop.logs[1:], strict=False))


def test_twin_speed_is_printed(cluster: Callable[..., TwinCluster], capsys: pytest.CaptureFixture[str]) -> None:
    shop = cluster()
    begin = time.perf_counter()
    shop.run(100 * TICK)
    spent = time.perf_counter() - begin
    with capsys.disabled():
        print(f"\n  twin: {spent * 10:.1f} ms per tick, {100 * TICK / spent:.0f} times real time")
    assert shop.samples

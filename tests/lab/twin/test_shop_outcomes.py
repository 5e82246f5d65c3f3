"""What users get while one component of the shop is down, slow or cut off, route by route.

Each row follows from the code of version 2.2.0; comments name the functions that decide it.
"""

from collections.abc import Callable, Mapping

import pytest

from tests.lab.twin.outcomes import observe
from tests.lab.twin.shop import flag
from tests.lab.twin.twin_cluster import TICK, TwinCluster

HOME, PRODUCT, TIPS, ADS = "GET /", "GET /api/products/{productId}", "GET /api/recommendations", "GET /api/data"
CART, ADD, ORDER = "GET /api/cart", "POST /api/cart", "POST /api/checkout"
REVIEWS = "GET /api/product-reviews/{productId}"
ASSISTANT = "POST /api/product-ask-ai-assistant/{productId}"
ROUTES = (HOME, PRODUCT, TIPS, ADS, CART, ADD, ORDER, REVIEWS, ASSISTANT)

#: The routes that answer 500 while a component has no pod; all others are as ever.
DOWN: Mapping[str, tuple[str, ...]] = {
    # ProductCatalogService.getProduct; get_product_list; prepOrderItems. An empty cart asks for no products.
    "product-catalog": (PRODUCT, TIPS, ORDER),
    # GetProduct answers NOT_FOUND, ListProducts INTERNAL; fetch_product_reviews hands the error to the model.
    "postgresql": (PRODUCT, TIPS, ORDER, REVIEWS),
    "recommendation": (TIPS,),
    "ad": (ADS,),
    # CartGateway; getUserCart. POST /api/cart adds and reads.
    "cart": (CART, ADD, ORDER),
    "valkey-cart": (CART, ADD, ORDER),
    "checkout": (ORDER,),
    # convertCurrency, quoteShipping, create_quote_from_count and chargeCard: PlaceOrder returns INTERNAL.
    "currency": (ORDER,),
    "shipping": (ORDER,),
    "quote": (ORDER,),
    "payment": (ORDER,),
    # sendOrderConfirmation: a warning.
    "email": (),
    "product-reviews": (REVIEWS, ASSISTANT),
    # get_ai_assistant_response.
    "llm": (ASSISTANT,),
    "accounting": (),
    "fraud-detection": (),
    "flagd": (),
    "image-provider": (),
}

#: Those whose clients dial for a call that finds no connection, unlike the channels of gRPC.
DIALLED = {"postgresql", "valkey-cart", "llm", "shipping"}

#: Mean seconds of the routes that are late while all that a component sends is a second late.
LATE: Mapping[str, Mapping[str, float]] = {
    # Its own answer, and what it asks callees for, side by side where Promise.all is.
    "frontend": {HOME: 1, PRODUCT: 2, TIPS: 3, ADS: 2, CART: 2, ADD: 3, ORDER: 3, REVIEWS: 2, ASSISTANT: 2},
    "ad": {ADS: 1},
    "recommendation": {TIPS: 2},
    # A command, three, two: GetCartAsync, AddItemAsync, EmptyCartAsync.
    "valkey-cart": {CART: 1, ADD: 4, ORDER: 3},
    "cart": {CART: 2, ADD: 6, ORDER: 5},
    # GetCart, then per line GetProduct and Convert, quote, Convert, Charge, shipment, EmptyCart, mail, its answer.
    # Nobody waits for Kafka. A cart has 1.84 lines.
    "checkout": {ORDER: 1 + 2 * 1.84 + 7},
    "currency": {ORDER: 1 + 1.84},
    # A new client for each quote connects first.
    "quote": {ORDER: 2},
    # It asks for the name of quote each time.
    "shipping": {ORDER: 1 + 3 + 1},
    "payment": {ORDER: 1},
    "email": {ORDER: 1},
    # Two questions, each over a connection of its own.
    "llm": {ASSISTANT: 4},
    # The name; psycopg2: TCP, no TLS, three to log in; BEGIN, SELECT, COMMIT. With the two questions, each for a name,
    # 16 s, it takes longer than the edge waits.
    "product-reviews": {REVIEWS: 1 + 9, ASSISTANT: 15},
    "kafka": {},
    "flagd": {},
}


@pytest.mark.parametrize("component", DOWN)
def test_component_without_pods(cluster: Callable[..., TwinCluster], component: str) -> None:
    shop = cluster(warm=60.0)
    shop.scale(component, 0)
    shop.run(60.0)
    outcomes = observe(shop, "load-generator", ROUTES, 150.0)
    assert {route: round(outcome.failed, 2) for route, outcome in outcomes.items() if outcome.failed} == dict.fromkeys(
        DOWN[component], 1.0
    )
    for route, outcome in outcomes.items():
        # The kernel rejects few of many attempts to connect to a Service without pods; the others get no answer.
        waits = component in DIALLED and route in DOWN[component]
        assert outcome.statuses <= ({500, 504} if waits else {500}), route
        assert outcome.seconds < (16.0 if waits else 0.5), route


@pytest.mark.parametrize("component", LATE)
def test_component_a_second_late(cluster: Callable[..., TwinCluster], component: str) -> None:
    shop = cluster(warm=60.0)
    shop.chaos(component, delay=1.0)
    shop.run(30.0)
    outcomes = observe(shop, "load-generator", ROUTES, 240.0)
    for route, outcome in outcomes.items():
        assert outcome.seconds == pytest.approx(LATE[component].get(route, 0.0), rel=0.12, abs=0.15), route
        if (component, route) == ("product-reviews", ASSISTANT):
            assert outcome.statuses == {504}
        else:  # four lines take longer than the edge waits
            assert outcome.failed < (0.3 if component == "checkout" else 1e-9)


@pytest.mark.parametrize(
    ("component", "late"),
    [
        # A call takes two round trips (lib/pq prepares it), or six with a connection of its own: pools of Go keep two.
        ("postgresql", {PRODUCT: (2 * 2 + 6) / 3, REVIEWS: 8}),
        # What the catalogue sends: those two or six, and its answer.
        ("product-catalog", {PRODUCT: 1 + (2 * 2 + 6) / 3}),
    ],
)
def test_pool_that_keeps_few_connections(
    cluster: Callable[..., TwinCluster], component: str, late: Mapping[str, float]
) -> None:
    shop = cluster(warm=60.0)
    shop.chaos(component, delay=1.0)
    shop.run(45.0)
    outcomes = observe(shop, "load-generator", ROUTES, 240.0)
    for route, seconds in late.items():
        assert outcomes[route].seconds == pytest.approx(seconds, rel=0.1), route
        assert outcomes[route].failed == 0.0


#: The routes that fail while nothing gets to or from a component, with their status; after 15 s, or what is said.
CUT: Mapping[str, Mapping[str, tuple[int, float]]] = {
    # The edge waits 15 s for an answer (Envoy's default), and 5 s for a connection.
    "frontend": dict.fromkeys(ROUTES, (503, 5.0)),
    "ad": {ADS: (504, 15.0)},
    "recommendation": {TIPS: (504, 15.0)},
    "payment": {ORDER: (504, 15.0)},
    "currency": {ORDER: (504, 15.0)},
    # Go waits half a minute for a connection, awc five seconds for an answer.
    "shipping": {ORDER: (504, 15.0)},
    "email": {ORDER: (504, 15.0)},
    "quote": {ORDER: (500, 5.0)},
    # Three times five seconds for a connection, and 1.3 s between.
    "llm": {ASSISTANT: (504, 15.0)},
    "product-reviews": {REVIEWS: (504, 15.0), ASSISTANT: (504, 15.0)},
    "valkey-cart": dict.fromkeys((CART, ADD, ORDER), (504, 15.0)),
    "postgresql": {**dict.fromkeys((PRODUCT, TIPS, ORDER, REVIEWS, ASSISTANT), (504, 15.0))},
    "accounting": {},
    "fraud-detection": {},
}


@pytest.mark.parametrize("component", CUT)
def test_component_cut_off(cluster: Callable[..., TwinCluster], component: str) -> None:
    shop = cluster(warm=60.0)
    shop.chaos(component, loss=100.0)
    shop.run(120.0)
    outcomes = observe(shop, "load-generator", ROUTES, 240.0)
    for route, outcome in outcomes.items():
        status, seconds = CUT[component].get(route, (0, 0.0))
        assert outcome.failed == float(bool(status)), route
        assert outcome.statuses == ({status} if status else set()), route
        assert outcome.seconds == pytest.approx(seconds, abs=0.4), route


@pytest.mark.parametrize(
    ("component", "late"),
    [
        # Envoy gives a connection five seconds. Those that are open serve until a request times out or others need one.
        ("frontend", dict.fromkeys(ROUTES, (503, 5.0))),
        # So does the client of the model, three times, with 1.3 s between.
        ("llm", {ASSISTANT: (504, 15.0)}),
        # Go waits half a minute.
        ("email", {}),
    ],
)
def test_handshake_slower_than_the_client_waits(
    cluster: Callable[..., TwinCluster], component: str, late: Mapping[str, tuple[int, float]]
) -> None:
    shop = cluster(warm=60.0)
    shop.chaos(component, delay=6.0)
    shop.run(120.0)
    outcomes = observe(shop, "load-generator", ROUTES, 180.0)
    for route, outcome in outcomes.items():
        status, seconds = late.get(route, (0, 0.0))
        assert outcome.failed == float(bool(status)), route
        if status:
            assert outcome.statuses == {status}, route
            assert outcome.seconds == pytest.approx(seconds, abs=0.3), route


def test_statements_fail_when_the_kernel_gives_up_connecting(cluster: Callable[..., TwinCluster]) -> None:
    """lib/pq has no timeout of its own; Linux sends SYN again for 131 s."""
    shop = cluster(warm=60.0)
    shop.chaos("postgresql", loss=100.0)
    assert shop.run(120.0).calls("product-catalog", error=True) == 0
    after = shop.run(120.0)
    assert after.calls("product-catalog", span="sql.connector.connect", kind="CLIENT", error=True) > 20
    assert after.calls("product-catalog", span="sql.conn.query") == 0
    assert after.share("product-catalog", kind="SERVER") == 1.0
    assert after.calls("frontend", kind="CLIENT", error=True) > 20, "nobody cancels its calls"


@pytest.mark.parametrize("fault", ["unknown", "cut"])
def test_statements_without_a_connection_leave_no_spans(cluster: Callable[..., TwinCluster], fault: str) -> None:
    """Npgsql traces statements (NpgsqlCommand), not attempts to connect."""
    shop = cluster(warm=60.0)
    if fault == "unknown":
        shop.env("accounting", "DB_CONNECTION_STRING", "Host=postgres;Username=otelu;Password=otelp;Database=otel")
    else:
        shop.chaos("postgresql", drop=True, direction="INPUT", peers=(shop.pods("accounting")[0]["status"]["podIP"],))
    shop.run(60.0)
    after = shop.run(300.0)
    assert after.calls("accounting", span="postgresql") == 0
    assert after.calls("accounting", span="order-consumed") > 10
    assert any("Order parsing failed" in line.text for line in shop.logs)


def test_failed_attempt_to_connect_has_a_span_of_its_own(cluster: Callable[..., TwinCluster]) -> None:
    """otelsql traces it (otConnector.Connect), and no statement then."""
    shop = cluster(warm=60.0)
    shop.scale("postgresql", 0)
    shop.run(180.0)
    after = shop.run(120.0)
    assert after.share("product-catalog", span="sql.connector.connect", kind="CLIENT") == 1.0
    assert after.calls("product-catalog", span="sql.conn.query") == 0


@pytest.mark.parametrize(
    ("name", "variant", "spoken"),
    [
        # checkProductFailure; charge.
        ("productCatalogFailure", "on", "13 INTERNAL: Error: Product Catalog Fail Feature Flag Enabled"),
        ("paymentFailure", "100%", "Payment request failed. Invalid token. app.loyalty.level=gold"),
    ],
)
def test_flag_answers_in_its_own_words(
    cluster: Callable[..., TwinCluster], name: str, variant: str, spoken: str
) -> None:
    shop = cluster(warm=60.0)
    flag(shop, name, variant)
    shop.run(120.0)
    assert any(spoken in line.text for line in shop.logs if line.container == "frontend")


@pytest.mark.parametrize(
    ("down", "container", "spoken"),
    [
        # quoteShipping and sendOrderConfirmation: the client names the request, the program what it was for.
        (
            "shipping",
            "frontend",
            'shipping quote failure: failed POST to shipping service: Post "http://shipping:8080/get-quote": dial tcp ',
        ),
        (
            "email",
            "checkout",
            'failed POST to email service: Post "http://email:8080/send_order_confirmation": dial tcp ',
        ),
        ("quote", "frontend", "shipping quote failure: failed POST to email service: expected 200, got 500"),
    ],
)
def test_failed_request_is_reported_as_the_code_does(
    cluster: Callable[..., TwinCluster], down: str, container: str, spoken: str
) -> None:
    shop = cluster(warm=60.0)
    shop.scale(down, 0)
    shop.run(180.0)
    assert any(spoken in line.text for line in shop.logs if line.container == container)


def test_product_that_fails_is_the_same_for_all_calls_of_a_request(cluster: Callable[..., TwinCluster]) -> None:
    """One of ten products: an order of it fails at checkout (prepOrderItems), and no other does afterwards."""
    shop = cluster(warm=60.0)
    flag(shop, "productCatalogFailure", "on")
    shop.run(120.0)
    outcomes = observe(shop, "load-generator", ROUTES, 1800.0)
    assert outcomes[PRODUCT].failed == pytest.approx(0.1, abs=0.01)
    assert outcomes[TIPS].failed == pytest.approx(0.4, abs=0.06), "four of them"
    assert outcomes[ORDER].failed == pytest.approx(0.184, abs=0.05), "1.84 lines"
    late = [
        trace
        for trace in shop.twin.traces(shop.now - 1800.0, shop.now)
        if any(s.name == ORDER and s.error for s in trace.spans)
        and any(s.service == "checkout" and s.name.endswith("PlaceOrder") and not s.error for s in trace.spans)
    ]
    assert not late


@pytest.mark.parametrize(
    ("who", "callee", "seconds", "code"),
    [
        # initDatabase has no limit but the kernel's; EnsureRedisConnected makes thirty attempts of five seconds.
        ("product-catalog", "postgresql", 131.0, 1),
        ("cart", "valkey-cart", 150.0, 134),
    ],
)
def test_start_without_an_answer_ends_late(
    cluster: Callable[..., TwinCluster], who: str, callee: str, seconds: float, code: int
) -> None:
    shop = cluster(warm=60.0)
    shop.chaos(callee, loss=100.0)
    shop.restart(who)
    began, ended = shop.now, {}
    while shop.now < began + 300.0 and not ended:
        shop.run(TICK)
        assert shop.last is not None
        ended = {e.container: e.code for e in shop.last.exits}
    assert ended == {who: code}
    assert shop.now - began == pytest.approx(seconds, abs=TICK + 3.0)


def test_start_that_is_refused_ends_at_once(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    shop.scale("postgresql", 0)
    shop.restart("product-catalog")
    assert "waiting" in shop.pods("product-catalog")[0]["status"]["containerStatuses"][0]["state"]

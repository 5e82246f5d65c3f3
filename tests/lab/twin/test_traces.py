"""Traces of the shop: trees, statuses, durations, texts, and agreement with the span metrics."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from scenario_kit.lab.twin.traces.span_buffer import SpanBuffer
from scenario_kit.model.runtime.trace import Span, Trace
from tests.lab.twin.twin_cluster import TwinCluster

#: Words of ours, of Chaos Mesh, and of the ledger.
FORBIDDEN = re.compile(r"chaos|inject|fault|twin|scenario|simulat|scenario.kit|kwok", re.IGNORECASE)


def record_all(shop: TwinCluster) -> TwinCluster:
    """From here on every request is kept."""
    span_buffer = SpanBuffer(1, everything=True)
    shop.twin._span_buffer = span_buffer
    shop.twin._flow.span_buffer = span_buffer
    shop.twin._flow._recorder._span_buffer = span_buffer
    return shop


def traces(shop: TwinCluster, seconds: float = 1e9) -> list[Trace]:
    return shop.twin.traces(shop.now - seconds, shop.now)


def spans(found: Iterable[Trace]) -> list[Span]:
    return [span for trace in found for span in trace.spans]


def path(trace: Trace, span: Span) -> list[str]:
    by_id = {s.span_id: s for s in trace.spans}
    result = [f"{span.service}:{span.name}"]
    while span.parent:
        span = by_id[span.parent]
        result.append(f"{span.service}:{span.name}")
    return result[::-1]


def count_metrics(shop: TwinCluster, since: dict[Any, float]) -> Counter[tuple[str, str, str, bool]]:
    result: Counter[tuple[str, str, str, bool]] = Counter()
    for (name, pairs), value in shop.samples.items():
        if name == "traces_span_metrics_calls_total":
            labels = dict(pairs)
            key = (
                labels["service_name"],
                labels["span_name"],
                labels["span_kind"].removeprefix("SPAN_KIND_"),
                labels["status_code"] == "STATUS_CODE_ERROR",
            )
            result[key] += round(value - since.get((name, pairs), 0.0))
    return +result


def count_spans(found: Iterable[Trace]) -> Counter[tuple[str, str, str, bool]]:
    return Counter((span.service, span.name, span.kind, span.error) for span in spans(found))


BREAKS: dict[str, Callable[[TwinCluster], Any]] = {
    "nothing": lambda shop: None,
    "payment gone": lambda shop: shop.scale("payment", 0),
    "payment hangs": lambda shop: shop.chaos("payment", loss=100.0),
    "slow store": lambda shop: shop.chaos("valkey-cart", delay=2.0),
    "catalogue without collector": lambda shop: shop.env(
        "product-catalog", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://nobody:4317"
    ),
    "no database": lambda shop: shop.scale("postgresql", 0),
    "no broker": lambda shop: shop.scale("kafka", 0),
}


@pytest.mark.parametrize("what", BREAKS)
def test_span_metrics_match_traces(cluster: Callable[..., TwinCluster], what: str) -> None:
    shop = cluster(warm=60.0)
    record_all(shop)
    before = dict(shop.samples)
    BREAKS[what](shop)
    shop.run(120.0)
    if what == "payment hangs":
        shop.calm()
        shop.run(60.0)
    expected, found = count_metrics(shop, before), count_spans(traces(shop))
    for key in expected.keys() | found.keys():
        # Requests that were under way when the recording began are counted, but not in any trace.
        assert 0 <= expected[key] - found[key] <= 12, (key, expected[key], found[key])
    assert sum(found.values()) > 0.98 * sum(expected.values())


def test_order_is_one_trace_tree(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    orders = [t for t in traces(shop, 60.0) if t.root.name == "POST /api/checkout"]
    assert orders
    for trace in orders:
        assert trace.root.service == "load-generator"
        assert sum(not span.parent for span in trace.spans) == 1
        by_id = {span.span_id: span for span in trace.spans}
        assert len(by_id) == len(trace.spans)
        for span in trace.spans:
            assert re.fullmatch(r"[0-9a-f]{16}", span.span_id)
            assert re.fullmatch(r"[0-9a-f]{32}", span.trace_id)
            if span.parent:
                outer = by_id[span.parent]
                assert outer.start <= span.start
                assert span.end <= outer.end + 1e-6
        charge = next(s for s in trace.spans if s.service == "payment")
        assert path(trace, charge) == [
            "load-generator:POST /api/checkout",
            "frontend-proxy:ingress",
            "frontend-proxy:router frontend egress",
            "frontend:POST /api/checkout",
            "frontend:executing api route (pages) /api/checkout",
            "frontend:oteldemo.CheckoutService/PlaceOrder",
            "checkout:oteldemo.CheckoutService/PlaceOrder",
            "checkout:oteldemo.PaymentService/Charge",
            "payment:oteldemo.PaymentService/Charge",
        ]


def test_span_without_status_shows_no_error(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.scale("cart", 0)
    shop.run(60.0)
    failed = [t for t in traces(shop, 45.0) if t.root.name == "POST /api/checkout"]
    assert failed
    for trace in failed:
        prepared = next(s for s in trace.spans if s.name == "prepareOrderItemsAndShippingQuoteFromCart")
        assert not prepared.error
        assert [s.name for s in trace.spans if s.parent == prepared.span_id] == ["oteldemo.CartService/GetCart"]
        assert trace.root.error


def test_consumer_traces_link_to_the_producer(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    found = traces(shop)
    by_ref = {(s.trace_id, s.span_id): s for s in spans(found)}
    consumed = [t for t in found if t.root.name in ("order-consumed", "process orders")]
    assert {t.root.service for t in consumed} == {"accounting", "fraud-detection"}
    linked = [s for t in consumed for s in t.spans if s.links]
    assert linked
    assert {s.name for s in linked} == {"receive orders", "process orders"}
    for span in linked:
        (producer,) = (by_ref[ref] for ref in span.links if ref in by_ref)
        assert (producer.service, producer.name, producer.kind) == ("checkout", "publish orders", "PRODUCER")
        assert producer.trace_id != span.trace_id
        assert producer.end <= span.end


def test_missing_callee_has_no_span_and_caller_reports_error(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.scale("payment", 0)
    shop.run(60.0)
    failed = [t for t in traces(shop, 45.0) if t.root.error]
    assert failed
    for trace in failed:
        assert not [s for s in trace.spans if s.service == "payment"]
        call = next(s for s in trace.spans if s.name.endswith("Charge"))
        assert call.error
        assert call.attributes["rpc.grpc.status_code"] == 14
        assert "connection refused" in call.message
        assert call.attributes["server.address"] == "payment"
        place = next(s for s in trace.spans if s.service == "checkout" and s.kind == "SERVER")
        assert (place.error, place.attributes["rpc.grpc.status_code"]) == (True, 13)
        assert trace.root.error
        proxy = next(s for s in trace.spans if s.name == "ingress")
        assert proxy.attributes["http.response.status_code"] == 500


def test_rare_failure_is_found(cluster: Callable[..., TwinCluster]) -> None:
    """Swallowed failures too: e-mails are sent for one request in twenty, and the order succeeds without."""
    shop = cluster()
    shop.scale("email", 0)
    shop.run(120.0)
    found = [t for t in traces(shop, 90.0) if t.errors]
    assert found
    assert {s.name for t in found for s in t.spans if s.error} == {"POST /send_order_confirmation"}


def test_slow_store_shows_in_durations(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.chaos("valkey-cart", delay=2.0)
    shop.run(60.0)
    slow = [t for t in traces(shop, 45.0) if t.root.name == "GET /api/cart"]
    assert slow
    for trace in slow:
        store = next(s for s in trace.spans if s.name == "HGET")
        assert 2.0 < store.seconds <= trace.seconds
        assert not trace.errors


def test_process_without_collector_is_missing_and_orphans_callees(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.env("cart", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://nobody:4317")
    shop.run(120.0)
    found = [t for t in traces(shop, 60.0) if t.root.name == "POST /api/checkout"]
    assert found
    assert not [s for s in spans(found) if s.service == "cart"]


def test_missing_collector_drops_traces(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster()
    shop.scale("otel-collector", 0)
    shop.run(60.0)
    assert not traces(shop, 30.0)


def test_kept_traces_are_bounded(cluster: Callable[..., TwinCluster], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scenario_kit.lab.twin.traces.span_buffer.TRACES", 300)
    shop = cluster()
    shop.run(240.0)
    found = traces(shop)
    assert 200 < len(found) <= 300
    per_route = Counter(t.root.name for t in found)
    assert per_route["GET /api/products/{productId}"] < 4 * per_route["POST /api/checkout"]


def test_equal_seeds_give_equal_traces(cluster: Callable[..., TwinCluster]) -> None:
    one, two = cluster(warm=60.0), cluster(warm=60.0, salt=9)
    strip = ("k8s.pod.name", "k8s.pod.uid", "k8s.pod.ip", "k8s.node.name", "network.peer.address")

    def plain(shop: TwinCluster) -> str:
        rows = [
            (s._replace(attributes={}, resource={}, message=""), sorted(s.attributes.keys() - set(strip)))
            for s in spans(traces(shop))
        ]
        return json.dumps(rows, default=str)

    assert plain(one) == plain(two)
    assert plain(one) != plain(cluster(warm=60.0, seed=2))


def test_resources_name_the_pod(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(warm=60.0)
    pods = shop.kinds["Pod"]
    for span in spans(traces(shop, 45.0)):
        pod = pods[span.resource["k8s.pod.name"]]
        assert span.resource["k8s.pod.uid"] == pod["metadata"]["uid"]
        assert span.resource["k8s.namespace.name"] == "shop"
        assert span.resource["service.name"] == span.service


@pytest.mark.parametrize("what", [name for name in BREAKS if name != "nothing"])
def test_traces_do_not_reveal_the_fault(cluster: Callable[..., TwinCluster], what: str) -> None:
    shop = cluster(warm=60.0)
    BREAKS[what](shop)
    shop.run(60.0)
    for span in spans(traces(shop)):
        text = json.dumps([span.name, span.message, span.attributes, span.resource, span.events])
        assert not FORBIDDEN.search(text), text

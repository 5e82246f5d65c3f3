"""Whether user requests would show the effect of a fault."""

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Check, Reference
from scenario_kit.render import render_app
from scenario_kit.render.faults.applicability import offer
from scenario_kit.render.simulation.observability import find_idle, find_unheard, find_unseen, resolves
from scenario_kit.render.simulation.request_paths import trace_traffic
from tests.twins import with_component

LOAD = Reference("Deployment", "load-generator")


@pytest.fixture(scope="module")
def apps():
    catalog = Catalog()
    return {name: catalog.app(name, catalog.versions(name)[0]) for name in catalog.apps()}


@pytest.fixture(scope="module")
def app(apps):
    return apps["otel-demo"]


def asks(names):
    expr = f'sum(rate(traces_span_metrics_calls_total{{service_name=~"{names}"}}[1m]))'
    return Check.from_json({"query": {"expr": expr, "is": "Equal", "value": 0}})


@pytest.mark.parametrize(
    ("names", "beside"),
    [
        ("cart", ()),
        ("load-generator|frontend-proxy", ()),
        ("otel-collector", ("otel-collector",)),
        ("load-generator", ()),  # this one reports spans
        ("frontend-web", ()),  # no component: a browser
        ("", ()),
    ],
)
def test_uncalled_component_is_unseen(app, names, beside):
    object_check = Check.from_json({"object": {"ref": "Deployment/cart", "path": "spec.replicas", "equals": 0}})
    assert find_unseen([object_check, asks(names)], app) == beside


@pytest.mark.parametrize(
    ("name", "component", "names", "beside"),
    [
        ("otel-demo", "cart", "cart|frontend|checkout", ()),
        ("otel-demo", "flagd", "flagd|ad|cart", ("flagd", "ad", "cart")),  # its callers report nothing of it
        ("otel-demo", "image-provider", "image-provider|frontend-proxy", ("image-provider", "frontend-proxy")),
        ("otel-demo", "load-generator", "frontend-proxy", ()),  # it makes the requests
        ("otel-demo", "accounting", "accounting", ()),  # works on what the queue brings
        ("otel-demo", "kafka", "checkout|accounting|fraud-detection", ()),
        ("hotel-reservation", "memcached-rate", "memcached-rate|rate", ()),
        ("hotel-reservation", "mongodb-reservation", "mongodb-reservation|reservation", ()),  # bookings
        ("hotel-reservation", "mongodb-rate", "mongodb-rate|rate", ("mongodb-rate", "rate")),  # a warm cache
        ("hotel-reservation", "mongodb-geo", "mongodb-geo|geo", ("mongodb-geo", "geo")),  # asked at a start
        ("hotel-reservation", "consul", "consul|frontend|geo", ("consul", "frontend", "geo")),
        ("hotel-reservation", "mongodb-geo", "mongodb-geo|geo|frontend", ()),
    ],
)
def test_rarely_called_component_is_idle(apps, name, component, names, beside):
    assert find_idle([asks(names)], apps[name], component) == beside


@pytest.mark.parametrize(
    ("name", "component", "names", "seen"),
    [
        ("hotel-reservation", "mongodb-geo", "mongodb-geo|geo", True),
        ("hotel-reservation", "consul", "consul|geo", True),
        ("otel-demo", "flagd", "flagd|payment", False),  # one charge fails for want of flags, and no other
        ("otel-demo", "kafka", "kafka|checkout", True),  # makes its producer
        ("otel-demo", "flagd", "flagd|ad", False),
        ("otel-demo", "load-generator", "load-generator|frontend-proxy", False),  # its own page, which nobody opens
        ("otel-demo", "cart", "cart|frontend", True),
    ],
)
def test_restarted_component_queries_its_startup_callees(apps, name, component, names, seen):
    found = find_idle([asks(names)], apps[name], component, inbound=True, reconnected=True)
    assert found == (() if seen else tuple(names.split("|")))


def test_traffic_is_unknown_without_twin(app):
    bare = msgspec.structs.replace(app, twin=None)
    assert trace_traffic(bare) is None
    assert find_idle([asks("flagd")], bare, "flagd") == ()


def test_requests_are_followed_through_the_operations(app):
    known = trace_traffic(app)
    assert {"load-generator", "frontend-proxy", "postgresql", "fraud-detection", "llm"} <= known.parts
    assert ("frontend", "checkout") in known.calls
    assert ("fraud-detection", "kafka") in known.calls
    assert ("frontend", "currency") not in known.calls  # only browsers ask for other currencies
    assert known.starts == {("cart", "valkey-cart"), ("product-catalog", "postgresql"), ("checkout", "kafka")}


def test_new_refuses_fault_without_observable_effect(apps):
    hotel, catalog = apps["hotel-reservation"], Catalog()
    objects = render_app(hotel, {}, 50, hotel.namespace, templates=catalog.templates(hotel.name))
    fault_type = catalog.fault("deployment-scaled-to-zero")
    assert offer(fault_type, hotel, objects, Reference("Deployment", "memcached-rate")).fault.effect
    with pytest.raises(AuthoringError, match="user requests do not pass through mongodb-rate"):
        offer(fault_type, hotel, objects, Reference("Deployment", "mongodb-rate"))


def test_refused_caller_is_named_where_others_pass_user_requests_on(app):
    objects, catalog = render_app(app, {}, 50, app.namespace), Catalog()
    local, currency = catalog.fault("service-internal-traffic-local"), Reference("Service", "currency")
    assert offer(local, app, objects, currency, {"caller": "checkout"}).fault.effect
    with pytest.raises(AuthoringError, match="user requests do not pass from frontend to currency") as refused:
        offer(local, app, objects, currency, {"caller": "frontend"})
    assert [f.expected for f in refused.value.findings] == ["an effect on requests of checkout"]


def test_deny_ingress_targets_need_callers(app):
    objects, catalog = render_app(app, {}, 50, app.namespace), Catalog()
    wall = catalog.fault("network-policy-deny-ingress")
    assert offer(wall, app, objects, Reference("Deployment", "cart")).fault.effect
    with pytest.raises(AuthoringError, match="user requests do not pass through load-generator"):
        offer(wall, app, objects, LOAD)
    with pytest.raises(AuthoringError, match="user requests do not pass through load-generator"):
        offer(catalog.fault("http-delay"), app, objects, LOAD)
    assert offer(catalog.fault("network-policy-deny-egress"), app, objects, LOAD).fault.effect


def test_callee_of_untraced_caller_has_no_latency_alert(apps):
    hotel, catalog = apps["hotel-reservation"], Catalog()
    objects = render_app(hotel, {}, 50, hotel.namespace, templates=catalog.templates(hotel.name))
    assert offer(catalog.fault("http-abort"), hotel, objects, Reference("Deployment", "frontend")).fault.effect
    with pytest.raises(AuthoringError, match="no telemetry would show its effect at Deployment/frontend"):
        offer(catalog.fault("http-delay"), hotel, objects, Reference("Deployment", "frontend"))


@pytest.mark.parametrize(
    ("name", "component", "looks_up"),
    [
        ("otel-demo", "checkout", True),  # shipping and email, over HTTP
        ("otel-demo", "cart", False),  # the connection to its store stands
        ("otel-demo", "frontend-proxy", False),  # goes on with the addresses that it knows
        ("otel-demo", "email", False),
        ("hotel-reservation", "frontend", False),  # the registry gave it addresses
        ("hotel-reservation", "load-generator", True),
    ],
)
def test_components_resolving_names_while_serving(apps, name, component, looks_up):
    assert resolves(apps[name], component) is looks_up


def test_app_without_twin_has_unknown_dns_clients(app):
    assert resolves(msgspec.structs.replace(app, twin=None), "cart")


def test_component_without_span_status_proves_no_errors(app):
    numb = with_component(app, "cart", unset_status=True)
    failed = 'sum(rate(traces_span_metrics_calls_total{service_name="cart", status_code="STATUS_CODE_ERROR"}[1m]))'
    errors = Check.from_json({"query": {"expr": failed, "is": "GreaterThan", "value": 0}})
    assert find_unseen([errors], numb) == ("cart",)
    assert find_unseen([asks("cart")], numb) == find_unseen([errors], app) == ()


FAILED = 'sum by (service_name) (rate(traces_span_metrics_calls_total{status_code="STATUS_CODE_ERROR"}[2m])) > 0'
SLOW = 'histogram_quantile(0.95, sum by (le) (rate(traces_span_metrics_duration_milliseconds_bucket{job="x"}[2m]))) > 1'


@pytest.mark.parametrize(
    ("expr", "cart"),
    [
        (FAILED, True),
        (SLOW, False),
        (FAILED.replace("=", "!=", 1), False),
        (f"{FAILED} or up == 0", None),
        ("kube_pod_status_ready == 0", None),
    ],
)
def test_rule_is_silent_about_unmatched_components(app, expr, cart):
    silent = find_unheard(expr, with_component(app, "cart", unset_status=True))
    assert ("cart" in silent) == bool(cart)
    assert ("valkey-cart" in silent) == (cart is not None)
    assert "checkout" not in silent

"""Where trouble is to be seen, and how it gets there, in apps of which not every part reports requests."""

import copy

import msgspec
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.draft.alerts import predicted, propagation
from scenario_kit.model.scenario import AlertExpectation
from scenario_kit.render import app_objects
from scenario_kit.render.offers import offer

CATALOG = Catalog()
SHOP = CATALOG.app("otel-demo", "2.2.0")
OBJECTS = app_objects(SHOP, {}, 50, SHOP.namespace)


@pytest.fixture(scope="module")
def quiet():
    """The shop with a cart that reports no spans, as many a program does."""
    twin = copy.deepcopy(SHOP.twin)
    del twin["components"]["cart"]["telemetry"]
    return msgspec.structs.replace(SHOP, twin=twin)


def aimed(app, fault="network-delay", target="Deployment/valkey-cart"):
    return offer(CATALOG.fault(fault), app, OBJECTS, target).fault


def alerts(app, fault, target, component):
    rules = {rule.name: rule for rule in CATALOG.alert_pack("default")}
    rendered = aimed(app, fault, target)
    return predicted(CATALOG.fault(fault), rendered, app, app.component(component), rules)


def test_behind_a_caller_without_telemetry_its_callers_show_it(quiet):
    (told,) = {c.query.expr for c in aimed(quiet).effect if c.query}
    assert "valkey-cart|cart|frontend|checkout" in told
    (direct,) = {c.query.expr for c in aimed(SHOP).effect if c.query}
    assert "valkey-cart|cart|" not in direct


def test_alerts_are_predicted_of_what_has_telemetry(quiet):
    places = [a.on for a in alerts(quiet, "network-delay", "Deployment/valkey-cart", "valkey-cart")]
    assert places == ["Deployment/frontend", "Deployment/checkout"]
    assert [a.on for a in alerts(SHOP, "network-delay", "Deployment/valkey-cart", "valkey-cart")] == ["Deployment/cart"]
    found = alerts(quiet, "deployment-scaled-to-zero", "Deployment/cart", "cart")
    assert not [a for a in found if a.on == "Deployment/cart" and a.name == "NoRequestsReceived"]


def test_what_is_asked_less_is_reached_through_its_caller():
    fault = aimed(SHOP, "service-target-port-wrong", "Service/currency")
    seen = [AlertExpectation(name="NoRequestsReceived", on=f"Deployment/{name}") for name in ("checkout", "payment")]
    edges = {(e.from_, e.to): e.because for e in propagation(fault, SHOP, SHOP.component("currency"), seen)}
    assert edges["Deployment/currency", "Deployment/checkout"] == "checkout depends on currency"
    assert edges["Deployment/checkout", "Deployment/payment"] == "checkout asks payment less, or not at all"
    assert ("Service/currency", "Deployment/payment") not in edges

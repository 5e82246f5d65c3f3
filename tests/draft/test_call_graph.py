"""Where trouble is to be seen, and how it gets there, in apps of which not every part reports requests."""

import copy

import pytest
from msgspec import structs

from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.draft.accept import draw_edges, write_accepted
from scenario_kit.draft.alerts import predict_alerts, predict_propagation
from scenario_kit.draft.answers import list_names
from scenario_kit.errors import AuthoringError
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference
from scenario_kit.model.authored.scenario import AlertExpectation
from scenario_kit.render import render_app
from scenario_kit.render.faults.applicability import offer
from tests.twins import with_component

CATALOG = Catalog()
SHOP = CATALOG.app("otel-demo", "2.2.0")
OBJECTS = render_app(SHOP, {}, 50, SHOP.namespace)


@pytest.fixture(scope="module")
def quiet():
    """The shop with a cart that reports no spans, as many a program does."""
    return with_component(SHOP, "cart", telemetry=None)


def find_offer(app, fault="network-delay", target="Deployment/valkey-cart"):
    return offer(CATALOG.fault(fault), app, OBJECTS, Reference.parse(target))


def render_offer(app, fault="network-delay", target="Deployment/valkey-cart"):
    return find_offer(app, fault, target).fault


def alerts(app, fault, target, component):
    rules = {rule.name: rule for rule in CATALOG.alert_pack("default")}
    made = find_offer(app, fault, target)
    return predict_alerts(made.symptoms, made.fault, app, app.component(component), rules)


def test_effect_is_measured_at_callers_of_uninstrumented_components(quiet):
    (reported,) = {c.query.expr for c in render_offer(quiet).effect if c.query}
    assert "valkey-cart|cart|frontend|checkout" in reported
    (direct,) = {c.query.expr for c in render_offer(SHOP).effect if c.query}
    assert "valkey-cart|cart|" not in direct


def test_alerts_are_predicted_for_instrumented_components_only(quiet):
    places = [a.entity for a in alerts(quiet, "network-delay", "Deployment/valkey-cart", "valkey-cart")]
    assert places == ["Deployment/frontend", "Deployment/checkout"]
    assert [a.entity for a in alerts(SHOP, "network-delay", "Deployment/valkey-cart", "valkey-cart")] == [
        "Deployment/cart"
    ]
    found = alerts(quiet, "deployment-scaled-to-zero", "Deployment/cart", "cart")
    assert not [a for a in found if a.entity == "Deployment/cart" and a.name == "NoRequestsReceived"]


@pytest.fixture(scope="module")
def numb():
    """The shop with a cart that sets no span status."""
    return with_component(SHOP, "cart", unset_status=True)


def test_errors_behind_silent_caller_show_at_its_callers(numb):
    reported = [c.query.expr for c in render_offer(numb, "deployment-scaled-to-zero").effect if c.query]
    assert any("cart|frontend|checkout" in expr for expr in reported)
    found = alerts(numb, "deployment-scaled-to-zero", "Deployment/valkey-cart", "valkey-cart")
    assert [a.entity for a in found if a.name == "HighRequestErrorRate"] == [
        "Deployment/frontend",
        "Deployment/checkout",
    ]
    late = alerts(numb, "network-delay", "Deployment/valkey-cart", "valkey-cart")
    assert [a.entity for a in late] == ["Deployment/cart"], "how long requests take, it shows"


def predict_edges(place: str, **alerting: str) -> set[tuple[str, str]]:
    """The propagation from a Service that leads nowhere, when these alerts fire, each about one Deployment."""
    fault = render_offer(SHOP, "service-target-port-wrong", f"Service/{place}")
    seen = [AlertExpectation(name=name, entity=Reference("Deployment", about)) for name, about in alerting.items()]
    return {(e.from_, e.to) for e in predict_propagation(fault, SHOP, SHOP.component(place), seen)}


def test_reduced_traffic_propagates_through_silent_component():
    edges = predict_edges("valkey-cart", HighRequestErrorRate="checkout", NoRequestsReceived="quote")
    assert ("Deployment/shipping", "Deployment/quote") in edges
    assert ("Service/valkey-cart", "Deployment/quote") not in edges


def test_caller_nearest_to_the_cause_explains_reduced_traffic():
    edges = predict_edges("payment", HighRequestErrorRate="frontend", NoRequestsReceived="email")
    assert ("Deployment/checkout", "Deployment/email") in edges
    edges = predict_edges("payment", HighRequestErrorRate="frontend", NoRequestsReceived="quote")
    assert ("Deployment/checkout", "Deployment/shipping") in edges
    assert ("Deployment/frontend", "Deployment/shipping") not in edges


def test_only_actual_callers_propagate_silence():
    """The frontend requests currencies for browsers only, so missing requests are those of orders."""
    edges = predict_edges("cart", HighRequestErrorRate="frontend", NoRequestsReceived="currency")
    assert ("Deployment/checkout", "Deployment/currency") in edges
    assert ("Deployment/frontend", "Deployment/currency") not in edges


def test_queue_reader_traffic_drops_with_its_writer():
    edges = predict_edges("cart", HighRequestErrorRate="checkout", NoRequestsReceived="accounting")
    assert {("Deployment/checkout", "Deployment/kafka"), ("Deployment/kafka", "Deployment/accounting")} <= edges
    assert not any(end == "Deployment/accounting" and start != "Deployment/kafka" for start, end in edges)


@pytest.mark.parametrize("silent", ["accounting", "currency", "quote"])
@pytest.mark.parametrize("place", ["cart", "payment"])
def test_proposed_edges_have_no_findings(place, silent, tmp_path):
    """Accepted alerts of a trial have no SK125 finding."""
    fault = render_offer(SHOP, "service-target-port-wrong", f"Service/{place}")
    on = [("HighRequestErrorRate", "Deployment/checkout"), ("NoRequestsReceived", f"Deployment/{silent}")]
    seen = [AlertExpectation(name=name, entity=Reference.parse(about) if about else None) for name, about in on]
    text = draft(Answers("otel-demo", "2.2.0", Reference.parse(f"Service/{place}"), fault.type, name="x"), CATALOG).text
    file = tmp_path / "x" / "scenario.yaml"
    file.parent.mkdir()
    file.write_text(text)
    hit = {fault.name: SHOP.component(place)}
    file.write_text(write_accepted(text, load_scenario(file).scenario.spec, seen, draw_edges(seen, [fault], SHOP, hit)))
    assert [f.message for f in lint_file(file, CATALOG) if f.code in ("SK116", "SK125")] == []


def test_fault_without_change_is_not_offered():
    objects = render_app(SHOP, {}, 50, SHOP.namespace)
    shipping = next(o for o in objects if o["kind"] == "Deployment" and o["metadata"]["name"] == "shipping")
    shipping = copy.deepcopy(shipping)
    resources = {"limits": {"cpu": "20m"}, "requests": {"cpu": "20m"}}
    shipping["spec"]["template"]["spec"]["containers"][0]["resources"] = resources
    known = [shipping if o["metadata"]["name"] == "shipping" and o["kind"] == "Deployment" else o for o in objects]
    limit = structs.replace(CATALOG.fault("cpu-limit-too-low"), preconditions=())
    target = Reference.parse("Deployment/shipping")
    with pytest.raises(AuthoringError, match=r"changes nothing, with .*cpuMillicores 20") as refused:
        offer(limit, SHOP, known, target, {"cpuMillicores": 20})
    assert "--parameter" in refused.value.fix
    assert offer(limit, SHOP, known, target, {"cpuMillicores": 50}).fault.changes


def test_reduced_traffic_propagates_through_caller():
    fault = render_offer(SHOP, "service-target-port-wrong", "Service/currency")
    seen = [
        AlertExpectation(name="NoRequestsReceived", entity=Reference("Deployment", name))
        for name in ("checkout", "payment")
    ]
    edges = {(e.from_, e.to): e.because for e in predict_propagation(fault, SHOP, SHOP.component("currency"), seen)}
    assert edges["Deployment/currency", "Deployment/checkout"] == "checkout depends on currency"
    assert edges["Deployment/checkout", "Deployment/payment"] == "checkout asks payment less, or not at all"
    assert ("Service/currency", "Deployment/payment") not in edges


def test_unread_messages_affect_broker_and_producers():
    fault = render_offer(SHOP, "deployment-scaled-to-zero", "Deployment/accounting")
    fired = [
        AlertExpectation(name="HighRequestErrorRate", entity=Reference("Deployment", n)) for n in ("kafka", "checkout")
    ]
    edges = {(e.from_, e.to) for e in predict_propagation(fault, SHOP, SHOP.component("accounting"), fired)}
    assert {("Deployment/accounting", "Deployment/kafka"), ("Deployment/kafka", "Deployment/checkout")} <= edges


@pytest.mark.parametrize("kind", ["Ingress", "Gateway", "CronJob", "ConfigMap"])
def test_objects_without_a_component_can_be_targets(kind):
    lone = {"apiVersion": "example.org/v1", "kind": kind, "metadata": {"name": "lone", "namespace": SHOP.namespace}}
    assert f"{kind}/lone" in list_names(SHOP, (*OBJECTS, lone))

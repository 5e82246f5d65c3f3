"""Alerts that must fire somewhere: where the propagation explains them, and where not."""

import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.judge.alerts.propagation_coverage import check_unexplained, find_explained
from scenario_kit.model import AlertExpectation, AlertHistory, AlertTimeline, Entity, Fault, Interval, Reference
from scenario_kit.model.authored.scenario import Expect, PropagationEdge

APP = Catalog().app("otel-demo", "2.2.0")
PORT = Fault(
    name="port",
    type="service-target-port-wrong",
    version=1,
    target=Reference("Service", "product-catalog"),
    changes=(),
    effect=(),
    entities=(
        Entity(ref=Reference("Service", "product-catalog"), role="Cause"),
        Entity(ref=Reference("Deployment", "quote"), role="Victim"),
    ),
)
EDGES = (
    PropagationEdge(from_=Reference("Service", "product-catalog"), to=Reference("Deployment", "recommendation")),
    PropagationEdge(from_=Reference("Fault", "port"), to=Reference("Deployment", "checkout")),
    PropagationEdge(from_=Reference("Deployment", "recommendation"), to=Reference("Deployment", "frontend")),
    PropagationEdge(from_=Reference("Deployment", "cart"), to=Reference("Deployment", "email")),
)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("product-catalog", True),  # the workload behind the Service
        ("recommendation", True),
        ("checkout", True),
        ("frontend", True),
        ("email", False),  # no root leads there
        ("cart", False),
        ("quote", False),  # only the type of the fault says so
    ],
)
def test_entities_on_the_propagation_are_explained(name, known):
    assert (("Deployment", name) in find_explained([PORT], EDGES, APP)) is known


@pytest.mark.parametrize(
    ("on", "fired", "codes"),
    [
        ("", ["Deployment/frontend"], []),
        ("", ["Deployment/ad", "Deployment/frontend"], []),
        ("", ["Deployment/ad"], ["SK326"]),
        ("", ["Deployment/ad", "Deployment/cart"], ["SK326"]),
        ("", ["Deployment/ad", ""], []),
        ("", ["Node/one"], []),
        ("", [], []),  # whether it fires at all is another question
        ("Deployment/ad", ["Deployment/ad"], []),  # and so is where, if the file says it
    ],
)
def test_alert_off_the_propagation_is_reported(on, fired, codes):
    expect = Expect(alerts=(AlertExpectation(name="Errors", entity=Reference.parse(on) if on else None),))
    lines = tuple(
        AlertTimeline(
            name="Errors", entity=Reference.parse(e) if e else None, firing=(Interval(start=1200.0, end=None),)
        )
        for e in fired
    )
    history = AlertHistory(start=0.0, end=2000.0, timelines=lines)
    found = check_unexplained(history, expect, 1000.0, find_explained([PORT], EDGES, APP))
    assert [f.code for f in found] == codes

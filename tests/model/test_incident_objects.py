"""The objects that have a part in an incident, where a repair may work around it."""

import pytest

from scenario_kit.model import AlertExpectation, Change, Fault, Reference
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import Expect, PropagationEdge
from scenario_kit.model.results.incident_objects import list_involved

FAULT = Fault(
    name="f", type="t", version=1, target=Reference("Service", "catalog"), role="Cause", effect=(),
    entities=(
        Entity(ref=Reference("Service", "catalog")),
        Entity(ref=Reference("Deployment", "mail"), role="Victim"),
        Entity(ref=Reference("Deployment", "written"), role="Artefact"),
    ),
    changes=(Change.from_json({"restart": {"target": "Deployment/written"}}),),
)  # fmt: skip
CHAIN = [
    ("Service/catalog", "Deployment/web"),
    ("Deployment/web", "Deployment/proxy"),
    ("Deployment/web", "Deployment/books"),
]
OWN = {("Service", "catalog"), ("Deployment", "written")}


@pytest.mark.parametrize(
    ("alerts", "expected"),
    [
        ([("web", "MustFire")], {"web"}),
        ([("proxy", "MustFire")], {"web", "proxy"}),
        ([("proxy", "MustFire"), ("books", "MayFire")], {"web", "proxy"}),
        ([("books", "MustFire"), ("proxy", "MustNotFire")], {"web", "books"}),
        ([("web", "MayFire")], {"web", "proxy", "books"}),
        ([], {"web", "proxy", "books"}),
    ],
    ids=["first", "last", "what may fire confirms nothing", "another branch", "no object promised", "no alert"],
)
def test_propagation_counts_where_an_alert_confirms_it(alerts, expected):
    expect = Expect(
        alerts=tuple(AlertExpectation(name="E", entity=Reference("Deployment", n), alert_class=c) for n, c in alerts)
    )
    edges = [PropagationEdge(from_=Reference.parse(a), to=Reference.parse(b)) for a, b in CHAIN]
    assert list_involved([FAULT], expect, edges) == OWN | {("Deployment", name) for name in expected}

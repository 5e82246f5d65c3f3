"""What a draft says to a solver."""

import re

from scenario_kit.catalog import Catalog
from scenario_kit.draft import texts
from scenario_kit.model.scenario import AlertExpectation


def test_no_text_for_a_solver_names_a_component_of_any_app() -> None:
    """An ordinary word is a name somewhere: hotel-reservation has a service that is called user."""
    catalog = Catalog()
    names = {c.name for app in catalog.apps() for v in catalog.versions(app) for c in catalog.app(app, v).components}
    alerts = ("HighRequestErrorRate", "HighRequestLatency", "NoRequestsReceived", "KubePodNotReady")
    said = [texts.question(), *(texts.brief([AlertExpectation(name=a, alert_class="MustFire")]) for a in alerts)]
    assert len(set(said)) == 5
    assert [name for text in said for name in sorted(names & set(re.findall(r"[\w-]+", text.lower())))] == []

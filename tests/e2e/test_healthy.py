"""The healthy apps raise no alert for a long virtual time, under different seeds."""

import pytest
from msgspec import structs

from scenario_kit.campaign import Campaign, PlannedTrial, run
from scenario_kit.campaign.interventions.programs import build_control
from scenario_kit.campaign.planning.plans import TRY
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.load import load_scenario
from scenario_kit.render import resolve

HOUR = 3600


@pytest.mark.parametrize(
    ("name", "seconds", "seeds"),
    [("product-catalog-wrong-target-port", HOUR, 10), ("hotel-searches-fail", HOUR // 3, 3)],
)
def test_healthy_app_stays_quiet(lab, name, seconds, seeds):
    catalog = Catalog()
    file = find_data_root() / "catalog" / "scenarios" / name / "scenario.yaml"
    scenario = load_scenario(file).scenario
    planned = [
        PlannedTrial(purpose=f"healthy-{seed}", describe="nothing is broken", steps=build_control(seconds), seed=seed)
        for seed in range(1, seeds + 1)
    ]
    results = run(
        planned,
        Campaign(
            lab.cluster, structs.replace(TRY, name="healthy"), "healthy", "none", scenario.spec.app.name,
            lambda namespace, _load: resolve(scenario, catalog, namespace),
        ),
        parallel=2,
        health=lambda: [str(p) for p in lab.state.dead_parts()],
        progress=lambda planned, name, status: None,
    )  # fmt: skip
    for result in results:
        assert result.outcome == "Held", (result.purpose, result.findings, result.message)
        fired = [t.name for t in result.history.timelines if t.firing]
        assert fired == [], result.purpose
        assert result.history.end - result.history.start >= seconds

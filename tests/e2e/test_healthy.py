"""The healthy app raises no alert for an hour of virtual time, under ten different seeds."""

from scenario_kit.campaign import PlannedTrial, run
from scenario_kit.campaign.programs import control
from scenario_kit.catalog import Catalog, data_root
from scenario_kit.load import load_scenario
from scenario_kit.render import resolve

HOUR = 3600


def test_an_hour_of_quiet_under_ten_seeds(lab):
    catalog = Catalog()
    file = data_root() / "catalog" / "scenarios" / "product-catalog-wrong-target-port" / "scenario.yaml"
    scenario = load_scenario(file).scenario
    planned = [
        PlannedTrial(purpose=f"healthy-{seed}", describe="nothing is broken", steps=control(HOUR), seed=seed)
        for seed in range(1, 11)
    ]
    results = run(
        planned,
        lambda namespace: resolve(scenario, catalog, namespace),
        lab.cluster,
        plan="healthy", app="otel-demo", scenario="healthy", digest="none", parallel=2,
        health=lambda: [str(p) for p in lab.state.dead_parts()],
        progress=lambda planned, name, status: None,
    )  # fmt: skip
    for result in results:
        assert result.outcome == "Held", (result.purpose, result.findings, result.message)
        fired = [t.name for t in result.history.timelines if t.firing]
        assert fired == [], result.purpose
        assert result.history.end - result.history.start >= HOUR

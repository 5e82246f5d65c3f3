"""Drafts of every outcome have no errors and only allowed expectations."""

import pytest

from scenario_kit.campaign import TRY, plan_trials
from scenario_kit.catalog import Catalog
from scenario_kit.draft import Answers, draft
from scenario_kit.lint import lint_file
from scenario_kit.load import load_scenario
from scenario_kit.model import Reference, Severity
from scenario_kit.render import resolve

CATALOG = Catalog()
PORT = ("Service/product-catalog", "service-target-port-wrong")


@pytest.mark.parametrize(
    ("target", "fault", "requests", "outcome", "steps"),
    [
        (*PORT, "", "Incident", ["inject", "expectAlerts", "hold", "change", "expectStillFiring"]),
        (*PORT, "Incident", "Incident", ["inject", "expectAlerts", "hold", "change", "expectStillFiring"]),
        ("Deployment/frontend", "pod-kill", "", "Benign", ["inject", "expectAlerts", "hold", "expectCleared"]),
        (*PORT, "Benign", "Benign", ["inject", "expectAlerts", "hold", "expectCleared"]),
        ("Deployment/ad", "resource-limits-removed", "NoIncident", "NoIncident", ["inject", "hold", "teardown"]),
        ("", "", "NoIncident", "NoIncident", ["inject", "hold", "teardown"]),
    ],
)
def test_draft_of_each_outcome_plans_its_steps(tmp_path, target, fault, requests, outcome, steps):
    entity = Reference.parse(target) if target else None
    made = draft(Answers("otel-demo", "2.2.0", entity, fault, author="Ada", outcome=requests), CATALOG)
    file = tmp_path / made.name / "scenario.yaml"
    file.parent.mkdir()
    file.write_text(made.text)
    assert [f for f in lint_file(file, CATALOG) if f.severity == Severity.ERROR] == []
    scenario = load_scenario(file).scenario
    truth, expect = scenario.spec.ground_truth, scenario.spec.expect
    assert truth.outcome == outcome
    assert any(a.alert_class == "MustFire" for a in expect.alerts) == (outcome == "Incident")
    assert bool(scenario.spec.solutions) == bool(scenario.spec.decoys) == (outcome == "Incident")
    assert bool(truth.root_causes) == (outcome != "NoIncident")
    (planned,) = plan_trials(TRY, resolve(scenario, CATALOG, "otel-demo-bcdf"), 1)
    assert [s.kind for s in planned.steps][2 : 2 + len(steps)] == steps

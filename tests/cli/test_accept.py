"""``try --accept``: only effects of the faults are written to the file."""

import pytest

from scenario_kit.campaign.results.result import TrialResult, Validation
from scenario_kit.catalog import Catalog
from scenario_kit.cli.authoring.accept import accept
from scenario_kit.model import Reference, StepStatus, Verdict
from scenario_kit.model.runtime.observation import AlertHistory, AlertTimeline, Interval

NOT_READY = AlertTimeline(
    name="KubePodNotReady", entity=Reference("Deployment", "web"), firing=(Interval(start=400.0, end=600.0),)
)
FIRING = AlertHistory(start=0.0, end=900.0, timelines=(NOT_READY,))


def step(name, outcome="Held", finished=900.0):
    return StepStatus(index=0, step=name, outcome=outcome, started_at=300.0, finished_at=finished)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({}, "the trial ended before the injection"),
        ({"injected_at": 300.0}, "the trial ended before the injection"),
        ({"injected_at": 300.0, "history": FIRING, "steps": (step("inject", "Broken"),)}, "a fault had no effect"),
        ({"injected_at": 300.0, "history": FIRING, "steps": (step("inject", "Infra"),)}, "a fault had no effect"),
        ({"injected_at": 950.0, "history": FIRING, "steps": (step("inject"), step("hold"))}, "no alert fired"),
    ],
    ids=["nothing", "no history", "a fault without effect", "infrastructure", "silence"],
)
def test_unusable_trial_changes_no_file(known, message, tmp_path, capsys):
    file = tmp_path / "scenario.yaml"
    file.write_text("spec: {}\n")
    trial = TrialResult(name="t", purpose="repeat-1", describe="", seed=1, outcome="Broken", **known)
    validation = Validation(scenario="s", plan="try", verdict=Verdict.FAIL, headline="", trials=(trial,))
    accept(file, validation, Catalog())
    assert message in capsys.readouterr().out
    assert file.read_text() == "spec: {}\n"

"""An app that somebody else removes: the scenario is not to blame."""

import importlib

import pytest

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Finding, Reference, Severity, TrialStep
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.foreign_removal import describe_foreign_removal
from scenario_kit.trial.run import run
from scenario_kit.trial.status import TrialStatus
from tests.trial.test_alert_steps import Trial

SHOP = Reference("Namespace", "shop")
HOME = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
LABEL = Change.from_json({
    "patch": {"target": "Namespace/shop", "type": "Merge", "patch": {"metadata": {"labels": {"a": "b"}}}}
})  # fmt: skip


def deploy(**options):
    trial = Trial(**options)
    trial.cluster.create(HOME)
    trial.context.save_baseline(Baseline(namespace_uid=trial.context.identity()))
    return trial


def test_deployed_app_is_there():
    assert describe_foreign_removal(deploy().context) == ""
    assert describe_foreign_removal(Trial().context) == "", "not deployed yet"


def end(trial):
    metadata = {"name": "busy", "namespace": "shop", "finalizers": ["example.org/work"]}
    trial.cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    trial.cluster.delete(SHOP)


def replace(trial):
    trial.cluster.delete(SHOP)
    trial.cluster.create(HOME)


@pytest.mark.parametrize(
    ("remove", "observed"),
    [
        (lambda trial: trial.cluster.delete(SHOP), "namespace shop was deleted during the trial"),
        (end, "namespace shop was deleted during the trial"),
        (replace, "namespace shop was replaced during the trial"),
    ],
    ids=["gone", "ending", "another one"],
)
def test_removal_by_somebody_else_is_described(remove, observed):
    trial = deploy()
    remove(trial)
    assert describe_foreign_removal(trial.context) == f"{observed}, and not by the trial"


def test_removal_by_the_trial_is_its_own():
    trial = deploy()
    trial.context.engine.do(LABEL, ordinal=1, group="Solution/s", causal=False)
    trial.cluster.delete(SHOP)
    assert describe_foreign_removal(trial.context) == ""


ERROR = Finding(code="SK302", severity=Severity.ERROR, message="no alert")


@pytest.mark.parametrize("answer", [[ERROR], AuthoringError("there is no such Service")], ids=["finding", "refusal"])
@pytest.mark.parametrize(
    ("kind", "removed", "outcome"),
    [("inject", True, "Infra"), ("inject", False, "Broken"), ("expectClean", True, "Broken")],
)
def test_step_without_an_app_is_not_held_against_the_scenario(monkeypatch, answer, kind, removed, outcome):
    trial = deploy(steps=(TrialStep(kind=kind),))
    if removed:
        trial.cluster.delete(SHOP)

    def execute(*_):
        if isinstance(answer, Exception):
            raise answer
        return answer, []

    monkeypatch.setattr(importlib.import_module("scenario_kit.trial.run"), "execute", execute)
    status = run(trial.context, TrialStatus(), lambda _: None, lambda _: None)
    assert status.outcome == outcome
    assert ("namespace shop was deleted" in status.steps[0].message) == (outcome == "Infra")

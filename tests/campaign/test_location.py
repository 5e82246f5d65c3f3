"""Which entry of a scenario's file a finding of a trial is about."""

import pytest

from scenario_kit.campaign import Validation
from scenario_kit.campaign.results.location import locate_findings
from scenario_kit.model import Finding, Severity, Verdict
from scenario_kit.model.authored.scenario import ScenarioSpec
from scenario_kit.model.results.finding import Position


class Places:
    """Positions that record the requested path."""

    def value(self, *path):
        return Position(path=".".join(map(str, path)))


SPEC = ScenarioSpec.from_json(
    {
        "title": "t",
        "brief": "b",
        "app": {"name": "shop", "version": "1"},
        "faults": [
            {"name": "port", "type": "wrong-port", "target": "Service/web"},
            {"name": "slow", "type": "delay", "target": "Deployment/ad"},
        ],
        "groundTruth": {
            "rootCauses": [{"fault": "port", "entity": "Service/web"}, {"fault": "slow", "entity": "Deployment/ad"}],
            "propagation": [
                {"from": "Service/web", "to": "Deployment/cart", "because": "x"},
                {"from": "Deployment/ad", "to": "Deployment/mail", "because": "y"},
            ],
        },
        "expect": {
            "alerts": [
                {"name": "Errors", "entity": "Deployment/web"},
                {"name": "Errors", "entity": "Deployment/ad"},
                {"name": "Lag"},
            ],
            "background": [{"name": "Old", "reason": "r"}, {"name": "Older", "entity": "Deployment/ad", "reason": "r"}],
            "checks": [],
        },
        "solutions": [{"name": "restore", "changes": []}, {"name": "reroute", "changes": []}],
        "decoys": [{"name": "restart-web", "changes": []}, {"name": "scale-ad", "changes": []}],
    }
)


def place(code, message="", **more):
    found = Finding(code=code, severity=Severity.ERROR, message=message, **more)
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.FAIL, headline="", findings=(found,))
    located = locate_findings(validation, SPEC, Places())
    return located.findings[0].position.path if located.findings[0].position else None


@pytest.mark.parametrize(
    ("code", "message", "path"),
    [
        ("SK322", "Errors on Deployment/ad did not fire", "spec.expect.alerts.1"),
        ("SK322", "Errors fired", "spec.expect.alerts.0"),
        ("SK326", "Lag fired, but not on it", "spec.expect.alerts.2"),
        ("SK322", "no alert", "spec.expect.alerts"),
        ("SK303", "Old fires", "spec.expect.background.0"),
        ("SK330", "Older on Deployment/ad never fires", "spec.expect.background.1"),
        ("SK304", "fault 'slow' has no effect", "spec.faults.1"),
        ("SK442", "a solver can read 'wrong-port'", "spec.faults.0"),
        ("SK401", "fixing only Deployment/ad", "spec.groundTruth.rootCauses.1"),
        ("SK407", "Deployment/mail alerts before Deployment/ad", "spec.groundTruth.propagation.1"),
        ("SK411", "solution 'reroute' does not resolve", "spec.solutions.1"),
        ("SK431", "'scale-ad' cleared every alert", "spec.decoys.1"),
        ("SK328", "a check failed", "spec.expect.checks"),
        ("SK307", "Errors on Deployment/ad fires", "spec"),
        ("SK901", "a node failed", None),
        ("SK904", "", None),
        ("SK911", "", None),
        ("SK990", "", None),
    ],
)
def test_entry_sharing_most_words_with_the_finding_is_located(code, message, path):
    assert place(code, message) == path


def test_step_and_observation_name_the_entry():
    assert place("SK431", "cleared", step="change Decoy scale-ad") == "spec.decoys.1"
    assert place("SK322", "missing", observed="Lag") == "spec.expect.alerts.2"


def test_finding_with_a_position_keeps_it():
    assert place("SK322", "Lag", position=Position(path="mine")) == "mine"


def test_correction_names_the_place():
    found = Finding(code="SK322", severity=Severity.ERROR, message="Lag", fix="do")
    validation = Validation(scenario="s", plan="quick", verdict=Verdict.FAIL, headline="", findings=(found,))
    assert locate_findings(validation, SPEC, Places()).correction == "SK322: do (spec.expect.alerts.2:1:1)"

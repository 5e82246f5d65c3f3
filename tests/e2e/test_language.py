"""Features of the language, from the file to the verdict: a trigger and what sustains it, and nothing at all."""

from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures" / "language"


@pytest.mark.parametrize(
    ("name", "purposes", "message"),
    [
        (
            "trigger-and-sustaining",
            ["repeat-1", "control", "untriggered", "label", "label-rest"],
            ["it reproduces", "the label is the cause", "the solution resolves it", "not occur without its trigger"],
        ),
        (
            "no-incident-with-distractor",
            ["repeat-1", "control", "leaks"],
            ["no fault and no alert", "nothing that a solver reads gives it away"],
        ),
    ],
)
def test_feature_scenario_passes_with_its_trials(lab, kit, name, purposes, message):
    done = kit("verify", str(FIXTURES / name), "--plan", "quick", "--name", lab.name, "--format", "json")
    assert done.code == 0, done.out
    assert [t["purpose"] for t in done.document["trials"]] == purposes
    assert {t["outcome"] for t in done.document["trials"]} == {"Held"}
    for words in message:
        assert words in done.document["headline"]


def test_stores_in_a_separate_namespace_reproduce(lab, kit):
    """A database fault there: its Job, alerts, decoys in both namespaces, repair and clean-up."""
    done = kit("try", str(FIXTURES / "stores-apart"), "--name", lab.name, "--format", "json")
    assert done.code == 0, done.out
    assert "it reproduces" in done.document["headline"]
    assert "2 decoys do not" in done.document["headline"]


def test_unchanged_component_does_not_propagate(lab, kit):
    """Product lists are unchanged, so components that only read lists do not explain failing pages."""
    done = kit("try", str(FIXTURES / "bystander"), "--name", lab.name, "--format", "json")
    assert done.code == 0, done.out
    reported = [f for f in done.document["findings"] if f["code"] == "SK415"]
    assert [f["message"].split()[0] for f in reported] == ["Deployment/recommendation"]
    (passage,) = done.document["statistics"]["passages"]
    assert passage["requests"] >= 100

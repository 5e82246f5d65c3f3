"""The objects applied by a demonstration."""

from __future__ import annotations

from scenario_kit.cli.validation.demo import _prepare_scenario


def test_demo_keeps_scenario_annotations() -> None:
    document = {
        "kind": "Scenario",
        "metadata": {"name": "s", "annotations": {"scenariokit.io/canary": "c"}},
        "spec": {},
    }

    played = _prepare_scenario(document)

    assert played["metadata"] == {
        "name": "s",
        "namespace": "scenario-kit",
        "annotations": {"scenariokit.io/canary": "c", "scenariokit.io/clock": "Virtual"},
    }
    assert document["metadata"] == {"name": "s", "annotations": {"scenariokit.io/canary": "c"}}


def test_scenario_without_annotations_is_played_in_virtual_time() -> None:
    played = _prepare_scenario({"metadata": {"name": "s", "annotations": None}})

    assert played["metadata"]["annotations"] == {"scenariokit.io/clock": "Virtual"}

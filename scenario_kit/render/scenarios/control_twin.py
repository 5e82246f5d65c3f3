"""The control twin of a scenario: the same app under the same load and noise, in which nothing is broken."""

from __future__ import annotations

import msgspec

from scenario_kit.model import Scenario
from scenario_kit.model.authored.scenario import Expect, GroundTruth


def build_control_twin(scenario: Scenario) -> Scenario:
    """Build the control twin: it keeps name, brief, app, load, noise and chronic alerts, and nothing is to be found.

    Its brief is that of the incident; only background alerts may fire.
    """
    spec = msgspec.structs.replace(
        scenario.spec, faults=(), solutions=(), decoys=(), ground_truth=GroundTruth(outcome="NoIncident"),
        expect=Expect(background=scenario.spec.expect.background),
    )  # fmt: skip
    return msgspec.structs.replace(scenario, spec=spec)

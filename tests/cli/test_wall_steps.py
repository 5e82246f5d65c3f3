"""What `solve --clock wall` shows until an incident is handed over."""

from __future__ import annotations

import re

from scenario_kit.campaign.interventions.programs import build_handover
from scenario_kit.catalog import Catalog, find_data_root
from scenario_kit.cli.solving.live import show_steps
from scenario_kit.load import load_scenario
from scenario_kit.model import StepStatus
from scenario_kit.render import resolve
from scenario_kit.trial import TrialStatus

FILE = find_data_root() / "catalog" / "scenarios" / "cart-scaled-to-zero" / "scenario.yaml"


def step(index: int, name: str, outcome: str, at: float) -> StepStatus:
    return StepStatus(index=index, step=name, outcome=outcome, started_at=at)  # type: ignore[arg-type]


def test_each_step_is_shown_as_it_begins() -> None:
    runbook = resolve(load_scenario(FILE).scenario, Catalog(), "app", beside=FILE.parent)
    said: list[str] = []
    show = show_steps(build_handover("Incident", 600), runbook, said.append)
    first = step(0, "deploy", "Running", 1795709395.0)
    show(TrialStatus(steps=(first,)))
    show(TrialStatus(steps=(step(0, "deploy", "Held", 1795709395.0), step(1, "inject cart", "Running", 1795709782.6))))
    show(TrialStatus(steps=(step(0, "deploy", "Held", 1795709395.0),)))
    assert re.fullmatch(r"in wall time, about \d+ min to the hand-over, \d+ min by its deadlines", said[0])
    assert said[1:] == ["16:09:55 deploy", "16:16:22 inject cart"]

"""Persistence declared by faults: the trials that check it."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, plan_trials
from scenario_kit.model import Change

COMMAND = (Change.from_json({"run": {"client": "psql", "command": ["REVOKE"]}}),)


@pytest.mark.parametrize(
    ("persistence", "changes", "role", "tried"),
    [
        ("Object", (), "Cause", []),
        ("Workload", (), "Cause", []),
        ("Pod", (), "Cause", ["Cheat"]),
        ("OneShot", (), "Cause", []),  # over at once, which lint sees
        ("OneShot", COMMAND, "Cause", ["Cheat"]),
        ("Expires", (), "Cause", ["Wait"]),
        ("SelfHeals", (), "Cause", ["Wait"]),
        ("SelfHeals", (), "Sustaining", ["Wait"]),
        ("SelfHeals", (), "Trigger", []),
        ("Pod", (), "Distractor", []),
    ],
)
def test_ending_trials_by_persistence(fault, runbook_of, persistence, changes, role, tried):
    one = msgspec.structs.replace(fault("a", role=role), persistence=persistence, changes=changes)
    runbook = runbook_of(one, fault("b"))
    found = [t for t in plan_trials(QUICK, runbook, 1) if t.purpose.startswith("ending")]
    assert [s.use for t in found for s in t.steps if s.kind == "expectCleared"] == tried
    assert all(("Fix", "b:0") in [(s.use, s.name) for s in t.steps] for t in found)
    benign = msgspec.structs.replace(
        runbook, ground_truth=msgspec.structs.replace(runbook.ground_truth, outcome="Benign")
    )
    assert not [t for t in plan_trials(QUICK, benign, 1) if t.purpose.startswith("ending")]

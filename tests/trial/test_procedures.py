"""Undo of procedures: the next one starts after rollouts, except for workloads the fault keeps down."""

import msgspec
import pytest

from scenario_kit.model import Change, Procedure, Solution, TrialStep
from scenario_kit.testing import FakeCluster
from scenario_kit.trial.procedures import undo_change

RESTART = Change.from_json({"restart": {"target": "Deployment/db"}})


def deployment(name, available):
    status = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available}
    metadata = {"name": name, "namespace": "shop", "generation": 1}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"replicas": 1},
        "status": status,
    }


class TrialHarness:
    """The step's part of a trial; the database recovers at ``ready``, the other workload never."""

    virtual = True

    def __init__(self, ready):
        self.ready, self.at = ready, 1000.0
        self.cluster = FakeCluster([])
        self.clock = self.engine = self.runbook = self
        self.waits = 0

    def now(self):
        return self.at

    def procedure(self, use, name):
        return Procedure(use=use, name=name, solution=Solution(name=name, changes=(RESTART,)))

    def undo_group(self, group):
        return []

    def settle(self):
        return self.at

    def wait(self, until):
        self.waits += 1
        self.at = until
        return until

    def contents(self, *kinds):
        assert "Deployment" in kinds
        return [deployment("db", int(self.at >= self.ready)), deployment("broken", 0)]


@pytest.mark.parametrize(("ready", "waits"), [(0.0, 0), (1020.0, 2), (9999.0, 8)])
def test_undo_waits_for_changed_workloads(ready, waits):
    stage = TrialHarness(ready)
    undo_change(stage, TrialStep(kind="undoChange", use="Cheat", name="raise-limits"))
    assert stage.waits == waits


def test_undo_does_not_wait_for_unchanged_workloads():
    stage = TrialHarness(0.0)
    stage.procedure = lambda use, name: msgspec.structs.replace(
        Procedure(use=use, name=name, solution=Solution(name=name)),
        solution=Solution(name=name, changes=(Change.from_json({"delete": {"target": "Service/db"}}),)),
    )
    undo_change(stage, TrialStep(kind="undoChange", use="Decoy", name="x"))
    assert stage.waits == 0

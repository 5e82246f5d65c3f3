"""The sham control: which restarts injecting brings with it."""

import msgspec
import pytest

from scenario_kit.campaign import QUICK, STANDARD, plan_trials
from scenario_kit.campaign.interventions.rollout_control import add_rollout_control, build_rollout_control
from scenario_kit.model import Change, Fault, Reference
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import Rollout

TEMPLATE = {"spec": {"template": {"spec": {"containers": []}}}}


def make_fault(*changes, drop_old=False, reconnect=None, callers=()):
    rollout = Rollout(drop_old=drop_old, reconnect=reconnect) if reconnect else Rollout(drop_old=drop_old)
    return Fault(
        name="f", type="t", version=1, target=Reference("Service", "cart"),
        changes=tuple(Change.from_json(c) for c in changes),
        effect=(), entities=(Entity(ref=Reference("Service", "cart")),), rollout=rollout, callers=callers,
    )  # fmt: skip


def patch(target, body, type="Strategic"):
    return {"patch": {"target": target, "type": type, "patch": body}}


@pytest.mark.parametrize(
    ("fault", "restarts"),
    [
        (make_fault(patch("Deployment/cart", TEMPLATE)), [("Deployment/cart", False)]),
        (make_fault(patch("Deployment/cart", TEMPLATE), drop_old=True), [("Deployment/cart", True)]),
        (
            make_fault(patch("Deployment/cart", [{"op": "add", "path": "/spec/template/spec/x", "value": 1}], "Json")),
            [("Deployment/cart", False)],
        ),
        (make_fault(patch("Deployment/cart", [{"op": "replace", "path": "/spec/replicas", "value": 1}], "Json")), []),
        (make_fault(patch("Deployment/cart", {"spec": {"replicas": 0}})), []),
        (make_fault(patch("Service/cart", [{"op": "remove", "path": "/spec/template"}], "Json")), []),
        (make_fault({"restart": {"target": "Deployment/cart"}}), [("Deployment/cart", False)]),
        (
            make_fault(
                patch("Service/cart", {"spec": {}}), reconnect="Callers", callers=("Deployment/a", "Deployment/b")
            ),
            [("Deployment/a", True), ("Deployment/b", True)],
        ),
        (make_fault({"scale": {"target": "Deployment/cart", "replicas": 0}}), []),
    ],
)  # fmt: skip
def test_rollout_control_restarts_workloads_rolled_by_faults(runbook_of, fault, restarts):
    found = build_rollout_control(runbook_of(fault))
    assert [(c.operation.target, c.operation.drop_old) for c in (found.solution.changes if found else ())] == restarts


def test_sham_control_follows_control_and_is_executable(runbook_of):
    book = runbook_of(make_fault({"restart": {"target": "Deployment/cart"}}))
    (quick,) = [t for t in plan_trials(QUICK, book, 1) if t.purpose == "control"]
    assert [s.kind for s in quick.steps] == ["deploy", "expectQuiet", "teardown", "expectClean"]
    (planned,) = [t for t in plan_trials(STANDARD, book, 1) if t.purpose == "control"]
    assert [(s.kind, s.use) for s in planned.steps] == [
        ("deploy", ""), ("expectQuiet", ""), ("change", "Sham"), ("expectQuiet", "Sham"), ("teardown", ""),
        ("expectClean", ""),
    ]  # fmt: skip
    assert planned.describe == "without the fault nothing fires, nor when Deployment/cart restarts"
    (change,) = [s for s in planned.steps if s.kind == "change"]
    assert add_rollout_control(book).procedure(change.use, change.name).solution.changes


def test_plan_without_control_may_request_rollout_control(runbook_of):
    book = runbook_of(make_fault({"restart": {"target": "Deployment/cart"}}))
    plan = msgspec.structs.replace(STANDARD, control=False)
    (planned,) = [t for t in plan_trials(plan, book, 1) if t.purpose == "control"]
    assert "Sham" in {s.use for s in planned.steps}


def test_faults_without_rollout_need_no_rollout_control(runbook_of, fault):
    (planned,) = [t for t in plan_trials(STANDARD, runbook_of(fault("a")), 1) if t.purpose == "control"]
    assert "Sham" not in {s.use for s in planned.steps}

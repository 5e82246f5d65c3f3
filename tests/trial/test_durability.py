"""Durability of solutions: recurring incidents, and workloads that do not restart."""

import msgspec
import pytest

from scenario_kit.changes.three_way_restore import RESTARTED
from scenario_kit.judge.repair.resolution import EntryTraffic, Resolution
from scenario_kit.model import Change, Fault, Procedure, Reference, Solution, TrialStep
from scenario_kit.testing import FakeCluster
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.context import Stopped
from scenario_kit.trial.procedures import change
from scenario_kit.trial.resolution import durability, resolve
from scenario_kit.trial.resolution.resolve import expect_cleared
from tests.trial.test_alert_steps import ERRORS, PROGRAM, Trial, codes, fault

REPAIRED = 1400.0
SOLVED = (1300.0, 1450.0)
SOLVE = TrialStep(kind="change", use="Solution", name="s")


def deployment(name):
    container = {"name": "c", "image": "web:1", "envFrom": [{"configMapRef": {"name": "a"}}] if name == "cart" else []}
    if name == "ad":
        container["envFrom"] = [{"configMapRef": {"name": "b"}}]
    spec = {"replicas": 1, "template": {"metadata": {}, "spec": {"containers": [container]}}}
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


class Rollouts(FakeCluster):
    """A cluster in which Deployments roll out at once, except paused and quota-limited ones."""

    def list(self, kind, *more, **options):
        found = super().list(kind, *more, **options)
        full = kind == "Deployment" and bool(super().list("ResourceQuota", "shop"))
        return [complete_rollout(obj, full=full) for obj in found] if kind == "Deployment" else found


def has_restart_annotation(obj):
    return RESTARTED in (obj["spec"]["template"]["metadata"].get("annotations") or {})


def complete_rollout(obj, *, full):
    updated = 0 if has_restart_annotation(obj) and (full or obj["spec"].get("paused")) else 1
    status = {"replicas": 1, "updatedReplicas": updated, "availableReplicas": 1}
    status["observedGeneration"] = obj["metadata"]["generation"]
    if full:
        status["conditions"] = [{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: budget"}]
    return {**obj, "status": status}


def run_solution(*changes, again=None, others=()):
    """Judge a trial injected at 1000 s and repaired at 1400 s; return findings and restarted workloads."""
    context = build_solved_trial(*changes, again=again, others=others)
    found = judge_solution(context)
    return found, {o["metadata"]["name"] for o in context.contents("Deployment") if has_restart_annotation(o)}


def judge_solution(context):
    return expect_cleared(context, context.spec.steps[-1], len(context.spec.steps) - 1, REPAIRED)


def build_solved_trial(*changes, again=None, others=()):
    """Build a trial injected at 1000 s and repaired at 1400 s, whose alert cleared and perhaps fires again."""
    spans = [SOLVED] if again is None else [SOLVED, (again, None)]
    program = (*PROGRAM, SOLVE, TrialStep(kind="expectCleared", use="Solution", name="s"))
    trial = Trial(
        fault("a"), *others, alerts=(ERRORS,), firing={("Errors", "Deployment/web"): spans}, steps=program,
        cluster=Rollouts,
    )  # fmt: skip
    context = trial.context
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    objects = tuple(deployment(name) for name in ("web", "cart", "ad"))
    # An app with limits of its own: where it has none, a quota of a repair is damage by itself.
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits", "namespace": "shop"}}
    objects = (*objects, limits)
    for obj in objects:
        trial.cluster.create(obj)
    solution = Solution(name="s", changes=tuple(Change.from_json(c) for c in changes))
    procedure = Procedure(use="Solution", name="s", solution=solution)
    context.runbook = msgspec.structs.replace(context.runbook, objects=objects, procedures=(procedure,))
    served = EntryTraffic(seconds=300, requests=600, errors=600)
    context.save_baseline(Baseline(namespace_uid=context.identity(), served=served))
    context.wait(REPAIRED)
    assert change(context, SOLVE, len(PROGRAM)) == ([], [])
    return context


@pytest.mark.parametrize(
    ("again", "expected"),
    [(None, []), (1700.0, ["SK412"]), (3000.0, [])],
    ids=["stays clear", "comes back", "has nothing to do with it"],
)
def test_recurrence_of_a_postponed_incident_is_an_error(again, expected):
    """The alert came 300 s after the fault, so it would be back a little more than that after the repair."""
    found, _ = run_solution(again=again)
    assert codes(found) == expected


@pytest.mark.parametrize(("again", "expected"), [(None, []), (1700.0, ["SK412"])], ids=["lasts", "comes back"])
def test_interrupted_check_is_not_disturbed_by_its_own_restarts(monkeypatch, again, expected):
    """A resumed run finds an app that is just restarting, after the deadline: the incident was resolved before."""
    context = build_solved_trial(again=again)

    def stop(*_):
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(durability.rollouts, "roll_out", stop)
        patch.setattr(durability.resolution, "find_returned", lambda *_: [])
        with pytest.raises(Stopped):
            judge_solution(context)
    assert has_restart_annotation(context.cluster.get(Reference("Deployment", "web", "shop", "apps")))
    context.wait(REPAIRED + 2 * context.runbook.windows.resolve)
    monkeypatch.setattr(resolve, "judge_resolution", lambda *_, **__: Resolution(answer="False", reasons=("restarts",)))
    assert codes(judge_solution(context)) == expected


def test_alerting_and_reading_workloads_restart_after_repair():
    assert run_solution() == ([], {"web", "cart"})


def settings(name):
    return {"apply": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"b": "c"}}}


def test_readers_of_rewritten_objects_restart():
    assert run_solution(settings("a")) == ([], {"web", "cart"})
    assert run_solution(settings("b")) == ([], {"web", "cart", "ad"})


def quota(name):
    return {"create": {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {}}}


@pytest.mark.parametrize(
    ("changed", "observed"),
    [
        ({"patch": {"target": "Deployment/web", "type": "Merge", "patch": {"spec": {"paused": True}}}}, "it is paused"),
        (quota("budget"), "exceeded quota: budget"),
    ],
    ids=["paused", "no further pod"],
)
def test_damage_visible_on_restart_is_reported(changed, observed):
    found, _ = run_solution(changed)
    assert set(codes(found)) == {"SK419"}
    assert all(observed in f.observed for f in found)
    assert "after solution 's', Deployment/" in found[0].message


def test_namespace_wide_changes_restart_every_workload():
    found, _ = run_solution(quota("budget"))
    assert [f.message.rpartition("/")[2].split()[0] for f in found] == ["ad", "cart", "web"]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}, "imagePullSecrets": []}
    assert run_solution({"apply": account}) == ([], {"web", "cart", "ad"})


def test_unrestarted_workloads_share_one_finding(monkeypatch):
    monkeypatch.setattr(durability, "_REPORTED", 2)
    found, _ = run_solution(quota("budget"))
    assert [f.message for f in found] == ["after solution 's', 3 of 3 workloads do not start again"]
    assert "Deployment/ad: exceeded quota: budget; Deployment/cart: " in found[0].observed
    assert found[0].observed.endswith("; likewise Deployment/web")


def test_startup_effects_of_distractor_are_ignored():
    distractor = Fault(
        name="full", type="quota", version=1, target=Reference("ResourceQuota", "budget"), role="Distractor",
        effect=(), entities=(),
        changes=(Change.from_json(quota("budget")),),
    )  # fmt: skip
    assert run_solution(others=(distractor,)) == ([], {"web", "cart"})

"""Resolution of an incident: missing parts of the app although everything runs."""

from datetime import UTC, datetime

import msgspec
import pytest

from scenario_kit.judge.repair.invariants import Guarded, take_baseline
from scenario_kit.model import Change, Fault, Finding, Severity, TrialStep
from scenario_kit.model.authored.app import Component
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.kubernetes.reference import Reference
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.injection.expiry import explain_expiry
from scenario_kit.trial.injection.inject import inject
from scenario_kit.trial.resolution.resolve import expect_cleared, judge_resolution
from tests.trial.test_alert_steps import ALWAYS, ERRORS, INJECTED, REPAIRED, Trial, config, fault


def build_deleting_fault(name, role):
    ref = f"ConfigMap/{name}"
    return Fault(
        name=name, type="gone", version=1, target=Reference.parse(ref), role=role, effect=(),
        entities=(Entity(ref=Reference.parse(ref)),),
        changes=(Change.from_json({"delete": {"target": ref}}),),
    )  # fmt: skip


def resolve_after(*faults, removed=(), guards=()):
    """Judge an app with two ConfigMaps and a finished Job, without ``removed`` objects."""
    trial = Trial(*faults)
    context = trial.context
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once", "namespace": "shop"}}
    context.runbook = msgspec.structs.replace(context.runbook, objects=(config("a"), config("b"), job))
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for name in {"a", "b"} - {f.name for f in faults}:
        trial.cluster.create(config(name))
    for name in removed:
        trial.cluster.delete(Reference("ConfigMap", name, "shop"))
    context.save_baseline(Baseline(namespace_uid=context.identity(), guards=guards))
    return [reason for reason in judge_resolution(context, INJECTED).reasons if "gone" in reason]


@pytest.mark.parametrize(
    ("faults", "removed", "reasons"),
    [
        ((), (), []),
        ((), ("b",), ["ConfigMap/b is gone"]),
        ((build_deleting_fault("a", "Cause"),), (), ["ConfigMap/a is gone"]),
        ((build_deleting_fault("a", "Distractor"),), (), []),
        ((build_deleting_fault("a", "Trigger"),), ("b",), ["ConfigMap/b is gone"]),
    ],
    ids=["all there", "removed", "deleted by a cause", "deleted by a distractor", "both"],
)
def test_missing_app_object_prevents_resolution(faults, removed, reasons):
    assert resolve_after(*faults, removed=removed) == reasons


def build_emptying_fault(role, value):
    ref = "ConfigMap/a"
    return Fault(
        name="a", type="emptied", version=1, target=Reference.parse(ref), role=role, effect=(),
        entities=(Entity(ref=Reference.parse(ref)),),
        changes=(Change.from_json({"patch": {"target": ref, "type": "Merge", "patch": {"data": {"k": value}}}}),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("role", "value", "lost"),
    [
        ("Cause", "other", False),
        ("Cause", None, True),
        ("Cause", "", True),
        ("Distractor", None, False),
        ("Trigger", "", False),
    ],
)
def test_removed_config_data_prevents_resolution(role, value, lost):
    trial = Trial(build_emptying_fault(role, value))
    context = trial.context
    context.runbook = msgspec.structs.replace(context.runbook, objects=(config("a"),))
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    context.save_baseline(Baseline(namespace_uid=context.identity()))
    reported = [
        reason
        for reason in judge_resolution(context, INJECTED).reasons
        if "no longer has" in reason or "any more" in reason
    ]
    assert reported == (["ConfigMap/a no longer has k"] if lost else [])


def test_guarded_object_is_reported_once():
    assert resolve_after(removed=("b",), guards=(Guarded(kind="ConfigMap", name="b"),)) == ["ConfigMap/b is gone"]


def workload(replicas=3, ready=3, probe=True, limits=True):
    container = {"name": "web"} | ({"readinessProbe": {"httpGet": {"port": 80}}} if probe else {})
    container |= {"resources": {"limits": {"memory": "64Mi"}}} if limits else {}
    spec = {"replicas": replicas, "template": {"spec": {"containers": [container]}}}
    metadata = {"name": "web", "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec,
            "status": {"readyReplicas": ready}}  # fmt: skip


def build_shrinking_fault(role, replicas, *, probe, limits):
    patch = {"spec": workload(replicas, probe=probe, limits=limits)["spec"]}
    return Fault(
        name="a", type="fewer", version=1, target=Reference("Deployment", "web"), role=role, effect=(), entities=(),
        changes=(Change.from_json({"patch": {"target": "Deployment/web", "type": "Merge", "patch": patch}}),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("role", "replicas", "probe", "limits", "reasons"),
    [
        ("Distractor", 2, True, True, []),
        ("Distractor", 2, False, True, []),
        ("Distractor", 2, True, False, []),
        ("Distractor", 0, True, True, ["Deployment/web is scaled to 0, its baseline is 1"]),
        ("Cause", 2, True, True, ["Deployment/web is scaled to 2, its baseline is 3"]),
        (
            "Cause", 3, True, False,
            ["Deployment/web container web: it has no limit of memory any more, its baseline is 64Mi"],
        ),
    ],
)  # fmt: skip
def test_removals_by_distractor_need_no_repair_while_it_is_active(role, replicas, probe, limits, reasons):
    trial = Trial()
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    trial.cluster.apply(workload())
    guarded = take_baseline([workload()], trial.context.runbook.app)
    trial.context.runbook = trial.with_fault(build_shrinking_fault(role, replicas, probe=probe, limits=limits))
    inject(trial.context, TrialStep(kind="inject"), 2, INJECTED)
    trial.context.save_baseline(Baseline(namespace_uid=trial.context.identity(), guards=guarded))
    assert [r for r in judge_resolution(trial.context, INJECTED).reasons if "baseline" in r or "lost" in r] == reasons


def build_running_pod(name, at):
    started = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": {},
            "status": {"containerStatuses": [{"state": {"running": {"startedAt": started}}}]}}  # fmt: skip


@pytest.mark.parametrize("where", ["", "stores/"])
@pytest.mark.parametrize(
    ("started", "reported"),
    [
        (INJECTED - 1, ""),
        (INJECTED + 20, "; also restarted since the fault: Deployment/store"),
        (REPAIRED + 1, ""),
    ],
    ids=["before the fault", "with the fault", "with the repair"],
)
def test_failed_repair_lists_workloads_restarted_by_fault(started, reported, where):
    trial = Trial(fault("a"), alerts=(ERRORS,), firing=ALWAYS)
    workloads = [Component(name=n, workload=Reference.parse(w), service=n)
                 for n, w in (("store", "Deployment/store"), ("web", f"{where}Deployment/web"))]  # fmt: skip
    app = msgspec.structs.replace(trial.context.runbook.app, components=tuple(workloads))
    hit = msgspec.structs.replace(trial.context.runbook.faults[0], target=Reference.parse(f"{where}Deployment/web"))
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, app=app, faults=(hit,))
    for pod, at in (("store-7d9f8b6c54-x2x4z", started), ("web-7d9f8b6c54-x2x4z", INJECTED + 20), ("b", started)):
        trial.cluster.put(build_running_pod(pod, at))
    trial.context.save_baseline(Baseline(namespace_uid=trial.context.identity()))
    trial.context.wait(REPAIRED)
    (found,) = expect_cleared(trial.context, TrialStep(kind="expectCleared", use="Solution", name="s"), 5, REPAIRED)
    assert found.observed == f"Errors on Deployment/web fires after 600 s{reported}"
    assert ("a repair of their own" in found.fix) == bool(reported)


def build_patch(name, value):
    return Change.from_json(
        {"patch": {"target": f"ConfigMap/{name}", "type": "Merge", "patch": {"data": {"k": value}}}}
    )


@pytest.mark.parametrize(
    ("repair", "reasons"),
    [
        ([build_patch("a", "good")], []),
        ([build_patch("a", "fair")], []),  # another value where the fault wrote
        ([build_patch("a", "good"), build_patch("b", "bad")], ["ConfigMap/b: data.k is bad, its baseline is good"]),
    ],
)
def test_repair_must_not_change_unrelated_objects(repair, reasons):
    trial = Trial(fault("a"))
    context = trial.context
    context.runbook = msgspec.structs.replace(context.runbook, objects=(config("a"), config("b")))
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    trial.cluster.create(config("b"))
    context.save_baseline(Baseline(namespace_uid=context.identity()))
    for position, change in enumerate(repair):
        context.engine.do(change, ordinal=70000 + position, group="Solution/s")
    assert [r for r in judge_resolution(context, INJECTED).reasons if "baseline" in r] == reasons


@pytest.mark.parametrize(
    ("kind", "use", "found", "expected"),
    [
        ("expectCleared", "Solution", [], ["SK305"]),
        ("expectCleared", "Wait", [], []),
        ("expectStillFiring", "Decoy", [], []),
        ("expectStillFiring", "Decoy", ["SK431"], ["SK305"]),
        ("expectUnresolved", "Cheat", ["SK422"], ["SK305"]),
        ("hold", "", [], []),
        ("expectAlerts", "", ["SK322"], ["SK322"]),
    ],
)
def test_self_ended_alerts_are_no_repair(monkeypatch, kind, use, found, expected):
    trial = Trial(fault("a"))
    given = [Finding(code=code, severity=Severity.ERROR, message="x") for code in found]
    step = TrialStep(kind=kind, use=use, name="a")
    assert [f.code for f in explain_expiry(trial.context, step, given)] == found
    monkeypatch.setattr(type(trial.context.engine), "has_expired", lambda *_: True)
    assert [f.code for f in explain_expiry(trial.context, step, given)] == expected


def condition(kind, reason=""):
    return {"conditions": [{"type": kind, "status": "True", "reason": reason}]}


POD_DEADLINE = {"template": {"spec": {"activeDeadlineSeconds": 60}}}


@pytest.mark.parametrize(
    ("status", "more", "reported"),
    [
        ({}, {}, ""),
        ({"active": 1}, {}, ""),
        (condition("Failed", "DeadlineExceeded"), {}, "Job/load is over by itself: its activeDeadlineSeconds"),
        (condition("Failed", "BackoffLimitExceeded"), {}, ""),
        ({**condition("Failed", "BackoffLimitExceeded"), "spec": POD_DEADLINE}, {}, "activeDeadlineSeconds"),
        (condition("Complete"), {}, "it has completed"),
        (condition("Complete"), {"persistence": "OneShot"}, ""),
        (condition("Complete"), {"entities": ()}, ""),
        (condition("Suspended"), {}, ""),
    ],
    ids=[
        "new",
        "running",
        "too long",
        "failed",
        "its pod too long",
        "completed",
        "did it once",
        "no cause",
        "suspended",
    ],
)
def test_fault_whose_job_is_over_ended_by_itself(status, more, reported):
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "load", "namespace": "shop"}}
    own = fault("a")
    named = msgspec.structs.replace(own.entities[0], ref=Reference("Job", "load", group="batch"))
    own = msgspec.structs.replace(
        own, changes=(Change.from_json({"create": job}),), **{"entities": (named,), "persistence": "Object", **more}
    )
    trial = Trial(own)
    ref = Reference("Job", "load", group="batch", namespace="shop")
    live = trial.cluster.get(ref)
    trial.cluster.put(
        {**live, "spec": status.get("spec", {}), "status": {k: v for k, v in status.items() if k != "spec"}}
    )
    step = TrialStep(kind="expectCleared", use="Solution", name="a")
    found = explain_expiry(trial.context, step, [])
    assert [f.code for f in found] == (["SK305"] if reported else [])
    assert not found or reported in found[0].observed

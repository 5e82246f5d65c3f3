"""The inject step on the fake cluster: order, gates, deadlines, and going on after a crash at any request."""

import msgspec
import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.errors import Rejected, Unreachable
from scenario_kit.model import (
    AlertExpectation,
    AlertHistory,
    AlertRule,
    AlertTimeline,
    App,
    Change,
    Check,
    Fault,
    Interval,
    Procedure,
    Reference,
    Runbook,
    Solution,
    TrialSpec,
    TrialStep,
    Windows,
)  # fmt: skip
from scenario_kit.model.authored.scenario import Expect, FaultStart, GroundTruth, OnAlert, Rollout
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial.alerts.alert_steps import expect_alerts
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.injection.inject import inject
from scenario_kit.trial.procedures import change

WINDOWS = Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600)
RULES = (AlertRule(name="Errors", expr="up", for_seconds=60, range_seconds=60),)


def config(name):
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "good"}}


AT_ONCE, NOTHING = FaultStart(), Expect()


def fault(name, start=AT_ONCE, desired="bad"):
    ref = f"ConfigMap/{name}"
    return Fault(
        name=name,
        type="key-wrong",
        version=1,
        target=Reference.parse(ref),
        start=start,
        changes=(Change.from_json({"patch": {"target": ref, "type": "Merge", "patch": {"data": {"k": "bad"}}}}),),
        effect=(Check.from_json({"object": {"ref": ref, "path": "data.k", "equals": desired}, "withinSeconds": 60}),),
        entities=(),
    )


class Evaluator:
    """Fires ``Errors`` on Deployment/web that many seconds after fault ``a``; None: never."""

    def __init__(self, cluster, clock, after):
        self.cluster, self.clock, self.after, self.since = cluster, clock, after, None
        self.entity = Reference("Deployment", "web")

    def advance(self, now):
        broken = self.cluster.get(Reference("ConfigMap", "a", "shop"))["data"]["k"] == "bad"
        if broken and self.since is None:
            self.since = 1000.0
        firing = ()
        if self.after is not None and self.since is not None and now >= self.since + self.after:
            firing = (Interval(start=self.since + self.after),)
        return AlertHistory(
            start=0.0,
            end=now,
            timelines=(AlertTimeline(name="Errors", entity=self.entity, firing=firing),),
        )


class TrialHarness:
    """A trial of those faults; ``context`` is made afresh, as by an operator that was started again."""

    def __init__(self, *faults, alert_after=120.0, expect=NOTHING):
        self.cluster = FakeCluster([config(f.name) for f in faults])
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
        self.clock = FakeClock(1000.0)
        self.evaluator = Evaluator(self.cluster, self.clock, alert_after)
        app = App(name="shop", version="1", namespace="shop", entry="web", components=())
        self.runbook = Runbook(
            scenario="s", digest="d", app=app, namespace="shop", users=1, objects=(), rules=RULES, windows=WINDOWS,
            faults=faults, expect=expect, ground_truth=GroundTruth(),
        )  # fmt: skip

    def context(self):
        spec = TrialSpec(scenario="s", digest="d", namespace="shop", steps=(), resolved="")
        context = ChangeContext(cluster=self.cluster, namespace="shop", app=self.runbook.app, now=self.clock.now)
        engine = Engine(context, self.clock, ClusterStore(self.cluster, "kit", "t"), "t")
        return TrialContext(
            name="t", spec=spec, runbook=self.runbook, cluster=self.cluster, solver=self.cluster,
            metrics=FakeMetrics(lambda *_: []),
            clock=self.clock, engine=engine, evaluator=self.evaluator, management="kit", health=list,
            stopping=lambda: False, idle=lambda _: None, tell=lambda *_: None,
        )  # fmt: skip

    def run(self, index=0, start=1000.0, **step):
        return inject(self.context(), TrialStep(kind="inject", **step), index, start)

    def at(self, name):
        return self.context().injected_at(name)

    def state(self):
        return {
            f.name: self.cluster.get(Reference("ConfigMap", f.name, "shop"))["data"]["k"] for f in self.runbook.faults
        }


LATER = fault("b", FaultStart(after_seconds=300))
CHAINED = fault("c", FaultStart(after_fault="b"))
ALERTED = fault("d", FaultStart(on_alert=OnAlert(name="Errors", entity=Reference("Deployment", "web"))))


def test_inject_starts_each_fault_when_due():
    stage = TrialHarness(fault("a"), LATER, CHAINED, ALERTED)
    findings, checks = stage.run()
    assert findings == []
    assert [c.answer for c in checks] == ["True"] * 4
    assert stage.at("a") == 1000
    assert stage.at("d") == 1120, "when the alert fires"
    assert stage.at("b") == stage.at("c") == 1300


def test_delayed_fault_does_not_block_immediate_faults():
    stage = TrialHarness(LATER, fault("a"))
    assert stage.run()[0] == []
    assert (stage.at("a"), stage.at("b")) == (1000, 1300)


def test_missing_start_alert_is_a_finding():
    stage = TrialHarness(fault("a"), ALERTED, alert_after=None)
    findings, _ = stage.run()
    assert [f.code for f in findings] == ["SK331"]
    assert "'d' never started" in findings[0].message
    assert stage.clock.now() >= 1000 + 60 + 60 + 240
    assert stage.state() == {"a": "bad", "d": "good"}


@pytest.mark.parametrize(
    ("entity", "named"), [(Reference("Deployment", "web"), "Errors on Deployment/web"), (None, "Errors")]
)
def test_alerts_that_fire_instead_of_the_start_alert_are_named(entity, named):
    stage = TrialHarness(fault("a"), fault("d", FaultStart(on_alert=OnAlert(name="Slow", within_seconds=60))))
    stage.evaluator.after, stage.evaluator.entity = 10.0, entity
    (found,) = stage.run()[0]
    assert found.observed == f"firing after 60 s: {named}"


def test_start_alert_deadline_is_configurable():
    impatient = fault("d", FaultStart(on_alert=OnAlert(name="Errors", within_seconds=60)))
    stage = TrialHarness(fault("a"), impatient)
    assert [f.code for f in stage.run()[0]] == ["SK331"]
    assert stage.clock.now() == 1060


def test_fault_without_effect_ends_the_step():
    stage = TrialHarness(fault("a", desired="worse"), fault("b", FaultStart(after_fault="a")))
    assert [f.code for f in stage.run()[0]] == ["SK304"]
    assert stage.state()["b"] == "good"


def test_other_active_fault_may_hide_an_effect():
    (alone,), _ = TrialHarness(fault("a", desired="worse")).run()
    (beside,), _ = TrialHarness(fault("a"), fault("b", desired="worse")).run()
    assert alone.fix.startswith("choose parameters that differ more")
    assert beside.fix.startswith("start it before 'a' if it is masked, or drop it")


def build_all_nodes_taint(desired="x"):
    everywhere = {"target": "Node/node:all", "key": "pool", "value": "x"}
    has = {"ref": "Node/node:all", "path": "spec.taints", "contains": {"key": "pool", "value": desired}}
    effect = [{"object": {"ref": "ConfigMap/a", "exists": True}}, {"object": has}]
    return msgspec.structs.replace(
        fault("a"),
        changes=(Change.from_json({"taint": everywhere}),),
        effect=tuple(Check.from_json({**check, "withinSeconds": 60}) for check in effect),
    )


@pytest.mark.parametrize(("desired", "codes"), [("x", []), ("y", ["SK304"] * 3)])
def test_change_to_all_nodes_is_checked_on_each(desired, codes):
    stage = TrialHarness(build_all_nodes_taint(desired))
    for name in ("n1", "n2", "n3"):
        stage.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}})
    findings, checks = stage.run()
    assert [f.code for f in findings] == codes
    assert len(checks) == (1 if codes else 4)


@pytest.mark.parametrize(
    ("step", "broken"),
    [({"faults": ("c",)}, {"c"}), ({"except_": ("a", "d")}, {"b", "c"}), ({"faults": ("d",)}, {"d"})],
    ids=["what it waits for is left out", "all but two", "alone, nothing can raise its alert"],
)
def test_inject_step_selects_faults(step, broken):
    stage = TrialHarness(fault("a"), LATER, CHAINED, ALERTED)
    assert stage.run(**step)[0] == []
    assert {name for name, value in stage.state().items() if value == "bad"} == broken


def test_one_fault_is_removed_and_restored():
    stage = TrialHarness(fault("a"), fault("b"))
    stage.run()
    assert change(stage.context(), TrialStep(kind="change", use="RemoveFault", name="a"), 1) == ([], [])
    assert stage.state() == {"a": "good", "b": "bad"}
    before = stage.at("b")
    assert stage.run(index=2, start=stage.clock.now())[0] == []
    assert stage.state() == {"a": "bad", "b": "bad"}
    assert stage.at("b") == before


def test_injection_killed_at_any_request_resumes():
    reference = TrialHarness(fault("a"), LATER, CHAINED, ALERTED)
    reference.run()
    build_expected_check = {name: reference.at(name) for name in "abcd"}
    requests = len(reference.cluster.requests)
    for fatal in range(0, requests, 3):
        stage = TrialHarness(fault("a"), LATER, CHAINED, ALERTED)
        left = [fatal]

        def before(verb, what, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise Unreachable("killed")

        stage.cluster.before = before
        try:
            findings, _ = stage.run()
        except Unreachable:
            findings, _ = stage.run()
        left[0] = -1
        assert findings == []
        assert {name: stage.at(name) for name in "abcd"} == build_expected_check, fatal
        assert stage.context().engine.undo_all() == []
        assert set(stage.state().values()) == {"good"}


def test_effect_true_before_injection_is_sk304():
    stage = TrialHarness(fault("a", desired="good"))
    findings, _ = stage.run()
    assert [(f.code, "holds before" in f.message) for f in findings] == [("SK304", True)]
    assert stage.state() == {"a": "good"}
    assert stage.at("a") is None


@pytest.mark.parametrize(
    ("updated", "drops", "reported"),
    [(1, False, True), (2, False, False), (1, True, False)],
    ids=["new pods are not ready", "the rollout is over", "there are no old pods"],
)
def test_fault_survived_by_old_pods_gets_rollout_hint(updated, drops, reported):
    ref = Reference("Deployment", "web")
    patch = {"patch": {"target": ref, "type": "Merge", "patch": {"spec": {"paused": True}}}}
    effect = Check.from_json({"object": {"ref": ref, "path": "spec.paused", "equals": "never"}, "withinSeconds": 60})
    changed = msgspec.structs.replace(
        fault("a"), target=ref, changes=(Change.from_json(patch),), effect=(effect,), rollout=Rollout(drop_old=drops)
    )
    stage = TrialHarness(fault("b"), changed)
    status = {"observedGeneration": 9, "replicas": 2, "updatedReplicas": updated, "availableReplicas": 2}
    metadata = {"name": "web", "namespace": "shop"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec, "status": status}
    stage.cluster = FakeCluster([config("a"), config("b"), web])
    stage.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
    stage.evaluator.cluster = stage.cluster
    (finding,) = stage.run()[0]
    assert finding.code == "SK304"
    assert ("add `rollout: {dropOld: true}` to fault 'a': new pods of Deployment/web" in finding.fix) == reported


def test_checks_made_true_by_earlier_fault_do_not_fail_later_one():
    later = msgspec.structs.replace(fault("b", FaultStart(after_fault="a")), effect=fault("a").effect)
    findings, checks = TrialHarness(fault("a"), later).run()
    assert not findings
    assert len(checks) == 2


def test_passed_effect_check_is_not_repeated():
    """A proven effect may no longer be visible after the next fault."""
    stage = TrialHarness(fault("a"), LATER)
    stage.run(faults=("a",))
    stage.cluster.patch(Reference("ConfigMap", "a", "shop"), {"data": {"k": "worse"}})
    findings, checks = stage.run()
    assert findings == []
    assert len(checks) == 2


@pytest.mark.parametrize(
    ("after", "alert_after", "codes"),
    [("a", 120.0, []), ("a", 200.0, ["SK322"]), ("b", 420.0, []), ("", 420.0, []), ("", 120.0, [])],
    ids=["of the first", "too late for the first", "of the second", "of the last", "raised by the first"],
)
def test_alert_deadline_counts_from_its_fault(after, alert_after, codes):
    expect = Expect(
        alerts=(
            AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), after=after, within_seconds=150),
        )
    )
    stage = TrialHarness(fault("a"), LATER, alert_after=alert_after, expect=expect)
    stage.run()
    assert [f.code for f in expect_alerts(stage.context(), stage.clock.now())] == codes


def test_alert_of_uninjected_fault_is_not_required():
    expect = Expect(alerts=(AlertExpectation(name="Other", after="b", within_seconds=150),))
    stage = TrialHarness(fault("a"), LATER, expect=expect)
    stage.run(faults=("a",))
    assert expect_alerts(stage.context(), stage.clock.now()) == []


def reject_patches(stage):
    """From now on the API server calls every patch of an object of the app invalid."""

    def refuse(verb, target):
        if verb == "patch" and target.startswith("shop/"):
            raise Rejected(f"{target} is invalid", status=422)

    stage.cluster.before = refuse


def test_rejected_change_is_an_authoring_error():
    stage = TrialHarness(fault("a"))
    reject_patches(stage)
    findings, _ = stage.run()
    assert [f.code for f in findings] == ["SK121"]
    assert "ConfigMap/a is invalid" in findings[0].observed


@pytest.mark.parametrize(("use", "code"), [("Decoy", "SK121"), ("Solution", "SK411"), ("Fix", "SK401")])
def test_rejected_procedure_is_an_authoring_error(use, code):
    stage = TrialHarness(fault("a"))
    assert stage.run()[0] == []
    repair = Change.from_json({"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {"data": {"k": "x"}}}})
    procedure = Procedure(use=use, name="try", solution=Solution(name="try", changes=(repair,)))
    stage.runbook = msgspec.structs.replace(stage.runbook, procedures=(procedure,))
    reject_patches(stage)
    findings, _ = change(stage.context(), TrialStep(kind="change", use=use, name="try"), 4)
    assert [f.code for f in findings] == [code]
    assert "cannot be executed" in findings[0].message


@pytest.mark.parametrize(("equals", "waited"), [("bad", 0), ("worse", 90)])
def test_next_change_waits_for_check_of_previous(equals, waited):
    until = {"check": {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": equals}}, "withinSeconds": 90}
    slow = fault("a")
    patch = slow.changes[0].to_json()
    slow = msgspec.structs.replace(slow, changes=(Change.from_json({**patch, "until": until}),))
    stage = TrialHarness(slow)
    assert stage.run()[0] == []
    assert stage.clock.now() == 1000 + waited


def build_expected_check(value, *, stays=False):
    """A check that a scenario expects, of the object that the fault changes."""
    document = {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": value}, "withinSeconds": 0}
    return Expect(checks=(Check.from_json({**document, "stays": stays, "describe": "the key"}),))


@pytest.mark.parametrize(
    ("value", "stays", "reported"),
    [
        ("bad", False, []),
        ("good", True, []),
        ("good", False, ["an expected check holds before the fault: the key"]),
        ("bad", True, ["an expected check marked `stays` is not true before the fault: the key"]),
    ],
)
def test_expected_check_runs_before_the_fault(value, stays, reported):
    stage = TrialHarness(fault("a"), expect=build_expected_check(value, stays=stays))
    findings, _ = stage.run()
    assert [f.message for f in findings] == reported
    assert {f.code for f in findings} <= {"SK141"}
    assert stage.state() == {"a": "good" if reported else "bad"}


@pytest.mark.parametrize(("stays", "reported"), [(False, 0), (True, 1)])
def test_unknown_check_before_fault_only_fails_a_lasting_check(stays, reported):
    document = {"query": {"expr": "up", "is": "AtLeast", "value": 1}, "withinSeconds": 0, "stays": stays}
    stage = TrialHarness(fault("a"), expect=Expect(checks=(Check.from_json(document),)))
    findings, _ = stage.run()
    assert [f.code for f in findings] == ["SK141"] * reported

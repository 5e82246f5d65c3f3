"""Infrastructure failures at any request of a trial are never authoring errors."""

import re
import threading

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.errors import Conflict, InfrastructureError, LabError, MetricsError, Unreachable
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
    Severity,
    Solution,
    TrialSpec,
    TrialStep,
    Windows,
)
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial import TrialStatus, run
from scenario_kit.trial.engine.context import TrialContext

REF = Reference("ConfigMap", "a", "shop")
STEPS = (
    TrialStep(kind="deploy"),
    TrialStep(kind="expectQuiet"),
    TrialStep(kind="inject"),
    TrialStep(kind="expectAlerts"),
    TrialStep(kind="hold"),
    TrialStep(kind="change", use="Decoy", name="wrong"),
    TrialStep(kind="expectStillFiring", use="Decoy", name="wrong"),
    TrialStep(kind="undoChange", use="Decoy", name="wrong"),
    TrialStep(kind="change", use="Solution", name="right"),
    TrialStep(kind="expectCleared", use="Solution", name="right"),
    TrialStep(kind="teardown"),
    TrialStep(kind="expectClean"),
)


def build_patch(value, key="k"):
    return Change.from_json({"patch": {"target": "ConfigMap/a", "type": "Merge", "patch": {"data": {key: value}}}})


BITES = Check.from_json({"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": "bad"}, "withinSeconds": 60})
RUNBOOK = Runbook(
    scenario="s",
    digest="d",
    app=App(name="shop", version="1", namespace="shop", entry="web", components=()),
    namespace="shop",
    users=1,
    objects=(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "shop"},
            "data": {"k": "good"},
        },
    ),
    rules=(AlertRule(name="Errors", expr="up", for_seconds=60, range_seconds=60),),
    windows=Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600),
    faults=(
        Fault(
            name="f", type="key-wrong", version=1, target=Reference("ConfigMap", "a"), changes=(build_patch("bad"),),
            entities=(),
            effect=(BITES,),
        ),
    ),
    expect=Expect(alerts=(AlertExpectation(name="Errors", alert_class="MustFire"),)),
    ground_truth=GroundTruth(),
    procedures=(
        Procedure(use="Decoy", name="wrong", solution=Solution(name="wrong", changes=(build_patch("x", "other"),))),
        Procedure(use="Solution", name="right", solution=Solution(name="right", changes=(build_patch("good"),))),
    ),
)  # fmt: skip


class Trouble:
    """Counts every request to anything below a trial; those of some numbers fail, and time may pass meanwhile."""

    def __init__(self, fails=lambda number: False, error=Unreachable, jump=0.0):
        self.fails, self.error, self.jump = fails, error, jump
        self.count, self.clock, self._lock = 0, None, threading.Lock()

    def __call__(self, verb="", what=""):
        with self._lock:
            self.count += 1
            if self.fails(self.count):
                if self.jump:
                    self.clock.wait(self.clock.now() + self.jump)
                raise self.error(f"request {self.count} fails: {verb} {what}")


class Clock:
    """A clock behind the same trouble."""

    def __init__(self, clock, trouble):
        self._clock, self._trouble = clock, trouble

    def now(self):
        self._trouble("now")
        return self._clock.now()

    def wait(self, until):
        self._trouble("wait")
        return self._clock.wait(until)


class Evaluator:
    """Fires from a minute after the key became bad until it is good again."""

    def __init__(self, cluster, trouble):
        self._cluster, self._trouble = cluster, trouble

    def advance(self, now):
        self._trouble("evaluate")
        firing, since = [], None
        for at, bad in self._cluster.turns:
            if bad and since is None:
                since = at
            if not bad and since is not None:
                firing += [Interval(start=since + 60, end=at)] if at > since + 60 else []
                since = None
        if since is not None and now >= since + 60:
            firing.append(Interval(start=since + 60))
        timelines = (AlertTimeline(name="Errors", entity=Reference("Deployment", "web"), firing=tuple(firing)),)
        return AlertHistory(start=0.0, end=now, timelines=timelines)


class Quiet(FakeCluster):
    """A cluster that tests can look into without a request; ``turns`` are when the key became bad, or good again."""

    clock = None

    def __init__(self, objects):
        super().__init__(objects)
        self.turns, self.lock = [], threading.RLock()

    def patch(self, ref, patch, type="Merge", *, subresource=""):
        done = super().patch(ref, patch, type, subresource=subresource)
        if ref.name == REF.name and ref.kind == REF.kind:
            self.turns.append((self.clock.now(), done["data"]["k"] == "bad"))
        return done

    def delete(self, ref, *, uid="", grace_seconds=None):
        with self.lock:  # threads delete side by side, and this store knows no locks
            super().delete(ref, uid=uid, grace_seconds=grace_seconds)
        if ref.name == REF.name and ref.kind == REF.kind:
            self.turns.append((self.clock.now(), False))

    def objects(self, ref):
        before, self.before = self.before, lambda verb, what: None
        try:
            return self.get(ref)
        finally:
            self.before = before


class TrialHarness:
    """A trial, and an operator that goes on from the saved status whenever something below it fails."""

    def __init__(self, trouble, wrong=()):
        self.trouble, self.hangs = trouble, list(wrong)
        self.cluster = Quiet([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}}])
        self.clock = trouble.clock = self.cluster.clock = FakeClock(1000.0)
        self.cluster.before = trouble
        self.status = TrialStatus()
        self.evaluator = Evaluator(self.cluster, trouble)

    def _metrics(self, expr, at):
        self.trouble("query")
        seconds = int(re.search(r"\[(\d+)s\]", expr).group(1))
        return [({}, 0.0 if "STATUS_CODE_ERROR" in expr else 10.0 * seconds)]

    def context(self):
        clock = Clock(self.clock, self.trouble)
        context = ChangeContext(cluster=self.cluster, namespace="shop", app=RUNBOOK.app, now=clock.now)
        return TrialContext(
            name="t",
            spec=TrialSpec(scenario="s", digest="d", namespace="shop", steps=STEPS, resolved=""),
            runbook=RUNBOOK, cluster=self.cluster, solver=self.cluster, metrics=FakeMetrics(self._metrics),
            clock=clock, engine=Engine(context, clock, ClusterStore(self.cluster, "kit", "t"), "t"),
            evaluator=self.evaluator, management="kit", health=list, diagnose=lambda: self.hangs,
            stopping=lambda: False, idle=lambda _: None, tell=lambda *_: None,
        )  # fmt: skip

    def save(self, status):
        self.trouble("save")
        self.status = status

    def run(self, lives=40):
        for _ in range(lives):
            try:
                run(self.context(), self.status, self.save, lambda _: None)
            except InfrastructureError:
                continue
            return self
        return self

    @property
    def errors(self):
        return [f for s in self.status.steps for f in s.findings if f.severity == Severity.ERROR]


def test_trial_without_failures_holds():
    stage = TrialHarness(Trouble()).run()
    assert [(s.step, s.outcome, s.message) for s in stage.status.steps if s.outcome != "Held"] == []
    assert stage.status.outcome == "Held"


REQUESTS = TrialHarness(trouble := Trouble()).run() and trouble.count
ERRORS = st.sampled_from([Unreachable, Conflict, LabError, MetricsError])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, REQUESTS), st.integers(1, 12), ERRORS, st.sampled_from([0.0, 5000.0]))
@example(64, 5, Unreachable, 5000.0)  # between the receipt of a change and the change
def test_transient_request_failures_are_not_findings(first, length, error, jump):
    """However much time passes meanwhile: the trial holds, or it was infrastructure."""
    stage = TrialHarness(Trouble(lambda n: first <= n < first + length, error, jump)).run()
    assert stage.status.outcome in ("Held", "Infra"), [(f.code, f.message) for f in stage.errors]
    assert stage.errors == []
    if stage.status.outcome == "Held":
        assert stage.cluster.objects(REF) is None, "and the app is gone"


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, REQUESTS), ERRORS)
def test_permanent_failure_is_infra(first, error):
    stage = TrialHarness(Trouble(lambda n: n >= first, error)).run()
    assert stage.errors == []
    assert stage.status.outcome in ("", "Infra")


@pytest.mark.parametrize("deaf", ["evaluate", "query"])
def test_hanging_component_is_detected_before_a_finding(deaf):
    """Nothing fails, but what should be seen is not: the alert engine is stuck, or no request is counted."""
    stage = TrialHarness(Trouble(), wrong=["kube-controller-manager does not answer"])
    if deaf == "evaluate":
        stage.evaluator.advance = lambda now: AlertHistory(start=0.0, end=now, timelines=())
    else:
        stage._metrics = lambda expr, at: []
    stage.run()
    assert (stage.status.outcome, stage.errors) == ("Infra", [])


def test_missing_metrics_are_not_quiet():
    """Silence of the whole pipeline looks like peace: a control must not pass on it."""
    stage = TrialHarness(Trouble())
    stage._metrics = lambda expr, at: []
    stage.run()
    assert (stage.status.outcome, stage.errors) == ("Infra", [])
    assert stage.status.step(1).outcome == "Infra"


def test_wrong_scenario_is_still_broken():
    stage = TrialHarness(Trouble())
    stage.evaluator.advance = lambda now: AlertHistory(start=0.0, end=now, timelines=())
    stage.run()
    assert (stage.status.outcome, {f.code for f in stage.errors}) == ("Broken", {"SK322"})


def test_infra_message_is_in_the_step():
    stage = TrialHarness(Trouble(), wrong=["etcd does not answer"])
    stage.evaluator.advance = lambda now: AlertHistory(start=0.0, end=now, timelines=())
    stage.run()
    assert msgspec.structs.asdict(stage.status.step(3))["message"] == "etcd does not answer"

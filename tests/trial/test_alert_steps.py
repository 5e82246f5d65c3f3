"""Alert steps on the fake cluster, by outcome, role and control."""

import msgspec
import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.errors import MetricsError
from scenario_kit.judge.alerts.missing_alerts import UnusedRules
from scenario_kit.judge.repair.resolution import EntryTraffic
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
    Reference,
    Runbook,
    TrialSpec,
    TrialStep,
    Windows,
)  # fmt: skip
from scenario_kit.model.authored.fault import Entity
from scenario_kit.model.authored.scenario import BackgroundAlert, Expect, GroundTruth, PropagationEdge, RootCause
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial import Stopped
from scenario_kit.trial.alerts.alert_steps import expect_alerts, expect_quiet, expect_still_firing, hold
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.context import TrialContext
from scenario_kit.trial.injection.inject import inject
from scenario_kit.trial.resolution.resolve import expect_cleared

WINDOWS = Windows(quiet=60, hold=300, still_firing=300, clear=60, resolve=600)
INJECTED = 1000.0
ERRORS = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"))
KINDS = ("deploy", "expectQuiet", "inject", "expectAlerts", "hold")
PROGRAM = tuple(TrialStep(kind=kind) for kind in KINDS)


def config(name):
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "good"}}


def fault(name, role="Cause"):
    ref = f"ConfigMap/{name}"
    return Fault(
        name=name, type="key-wrong", version=1, target=Reference.parse(ref), role=role, effect=(),
        entities=(Entity(ref=Reference.parse(ref)),),
        changes=(Change.from_json({"patch": {"target": ref, "type": "Merge", "patch": {"data": {"k": "bad"}}}}),),
    )  # fmt: skip


class Evaluator:
    """Alerts with scripted firing intervals; later ones are not visible yet."""

    def __init__(self, firing):
        self.firing = firing

    def advance(self, now):
        timelines = tuple(
            AlertTimeline(
                name=n,
                entity=Reference.parse(e) if e else None,
                firing=tuple(Interval(start=a, end=b) for a, b in spans if a <= now),
            )
            for (n, e), spans in self.firing.items()
        )
        return AlertHistory(start=0.0, end=now, timelines=timelines)


class Ending(Evaluator):
    """As an evaluator: what fires now has no end yet."""

    def advance(self, now):
        reported = super().advance(now)
        timelines = tuple(
            msgspec.structs.replace(
                t, firing=tuple(i if (i.end or now) < now else Interval(start=i.start) for i in t.firing)
            )
            for t in reported.timelines
        )
        return msgspec.structs.replace(reported, timelines=timelines)


class Trial:
    """A trial whose faults were injected at 1000 s, with the test's alerts."""

    def __init__(
        self, *faults, firing=(), outcome="Incident", alerts=(), checks=(), background=(), edges=(), steps=PROGRAM,
        cluster=FakeCluster,
    ):  # fmt: skip
        self.cluster = cluster([config(f.name) for f in faults])
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
        self.clock = FakeClock(INJECTED)
        app = App(name="shop", version="1", namespace="shop", entry="web", components=())
        labels = [f for f in faults if f.role == "Cause" and outcome == "Incident"]
        truth = GroundTruth(
            outcome=outcome,
            root_causes=tuple(RootCause(fault=f.name, entity=f.target) for f in labels),
            propagation=tuple(PropagationEdge(from_=Reference.parse(a), to=Reference.parse(b)) for a, b in edges),
        )
        expect = Expect(alerts=alerts, background=background, checks=tuple(Check.from_json(c) for c in checks))
        rules = (AlertRule(name="Errors", expr="up", for_seconds=60, range_seconds=60),)
        self.runbook = Runbook(
            scenario="s", digest="d", app=app, namespace="shop", users=1, objects=(), rules=rules, windows=WINDOWS,
            faults=faults, expect=expect, ground_truth=truth,
        )  # fmt: skip
        spec = TrialSpec(scenario="s", digest="d", namespace="shop", steps=steps, resolved="")
        context = ChangeContext(cluster=self.cluster, namespace="shop", app=app, now=self.clock.now)
        engine = Engine(context, self.clock, ClusterStore(self.cluster, "kit", "t"), "t")
        self.stops = False
        self.context = TrialContext(
            name="t", spec=spec, runbook=self.runbook, cluster=self.cluster, solver=self.cluster,
            metrics=FakeMetrics(lambda *_: [({}, 600.0)]),
            clock=self.clock, engine=engine, evaluator=Evaluator(dict(firing)), management="kit", health=list,
            stopping=lambda: self.stops, idle=self.idle, tell=lambda *_: None,
        )  # fmt: skip
        if faults:
            inject(self.context, TrialStep(kind="inject"), 2, INJECTED)

    def idle(self, seconds):
        self.stops = True

    def with_fault(self, other):
        """The runbook with one more fault, which is not injected."""
        return msgspec.structs.replace(self.runbook, faults=(*self.runbook.faults, other))


def codes(findings):
    return [f.code for f in findings]


ALWAYS = {("Errors", "Deployment/web"): [(1100.0, None)]}
PASSING = {("Errors", "Deployment/web"): [(1100.0, 1150.0)]}
OTHER = {("Latency", "Deployment/ad"): [(1100.0, 1150.0)]}


@pytest.mark.parametrize(
    ("outcome", "role", "alerts", "firing", "expected"),
    [
        ("Incident", "Cause", [ERRORS], ALWAYS, []),
        ("Incident", "Cause", [ERRORS], PASSING, ["SK305"]),
        ("Incident", "Cause", [], {}, ["SK322"]),
        ("Incident", "Cause", [], {("Errors", "Deployment/web"): [(900.0, None)]}, ["SK322", "SK325"]),
        ("Incident", "Cause", [], OTHER, ["SK325"]),
        ("Incident", "Cause", [ERRORS], {**ALWAYS, **OTHER}, ["SK325"]),
        ("Benign", "Cause", [ERRORS], PASSING, []),
        ("Benign", "Cause", [ERRORS], {**PASSING, **OTHER}, ["SK327"]),
        ("Benign", "Cause", [], {}, []),
        ("NoIncident", "Distractor", [], {}, []),
        ("NoIncident", "Distractor", [], OTHER, ["SK307"]),
        ("NoIncident", "Distractor", [AlertExpectation(name="Latency", alert_class="MayFire")], OTHER, []),
        ("NoIncident", "Distractor", [AlertExpectation(name="Latency", alert_class="MustNotFire")], OTHER, ["SK307"]),
    ],
)
def test_hold_allows_only_declared_alerts(outcome, role, alerts, firing, expected):
    trial = Trial(fault("a", role), outcome=outcome, alerts=tuple(alerts), firing=firing)
    findings, _ = hold(trial.context, TrialStep(kind="hold"), INJECTED)
    assert codes(findings) == expected


def test_hold_without_expected_alerts_passes_when_quiet():
    """In the matrix, a fault without alerts is a row, not an error."""
    trial = Trial(fault("a", "Cause"), steps=tuple(s for s in PROGRAM if s.kind != "expectAlerts"))
    assert hold(trial.context, TrialStep(kind="hold"), INJECTED)[0] == []


def test_hold_without_faults_equals_no_incident():
    findings, _ = hold(Trial(firing=OTHER).context, TrialStep(kind="hold", seconds=600), INJECTED)
    assert codes(findings) == ["SK307"]
    assert "there is no incident" in findings[0].message


@pytest.mark.parametrize(("desired", "expected"), [("bad", []), ("worse", ["SK328"])])
def test_expected_checks_are_evaluated_while_fault_is_active(desired, expected):
    check = {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": desired}, "withinSeconds": 60}
    trial = Trial(fault("a"), firing=ALWAYS, alerts=(ERRORS,), checks=[check])
    findings, answers = hold(trial.context, TrialStep(kind="hold"), INJECTED)
    assert codes(findings) == expected
    assert [a.answer for a in answers] == ["True" if desired == "bad" else "False"]


def undone(desired, **more):
    check = Check.from_json({"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": desired}})
    return msgspec.structs.replace(fault("a"), undone=(check,), **more)


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (fault("a"), []),
        (undone("good"), []),
        (undone("bad"), ["SK129"]),
        (undone("bad", persistence="OneShot"), []),
    ],
    ids=["nothing is said", "it fails until then", "it holds meanwhile", "it is over at once"],
)
def test_undone_checks_must_fail_while_fault_is_active(broken, expected):
    findings, _ = hold(Trial(broken, firing=ALWAYS, alerts=(ERRORS,)).context, TrialStep(kind="hold"), INJECTED)
    assert codes(findings) == expected


def test_endless_hold_ends_when_the_trial_stops():
    trial = Trial(outcome="NoIncident")
    with pytest.raises(Stopped):
        hold(trial.context, TrialStep(kind="hold", forever=True), INJECTED)


@pytest.mark.parametrize(
    ("steps", "index", "expected"),
    [
        ((TrialStep(kind="deploy"), TrialStep(kind="expectQuiet")), 1, ["SK307"]),
        (PROGRAM, 1, ["SK303"]),
        ((*PROGRAM[:3], TrialStep(kind="expectQuiet")), 3, ["SK307"]),
    ],
    ids=["control", "before injection", "with the distractors alone"],
)
def test_control_requires_stricter_quiet(steps, index, expected):
    trial = Trial(fault("d", "Distractor"), firing=OTHER, steps=steps)
    findings = expect_quiet(trial.context, TrialStep(kind="expectQuiet", seconds=600), index, INJECTED)
    assert codes(findings) == expected
    assert ("nothing but d was injected" in findings[0].message) == (index == 3)


@pytest.mark.parametrize("steps", [PROGRAM, PROGRAM[:2]], ids=["before injection", "control"])
@pytest.mark.parametrize(
    ("spans", "quiet", "until"),
    [
        ([], True, INJECTED + 60),
        ([(INJECTED - 100, INJECTED + 45)], True, INJECTED + 45 + 60),
        ([(INJECTED - 100, INJECTED + 45), (INJECTED + 90, INJECTED + 95)], False, INJECTED + 45 + 60),
        ([(INJECTED - 100, None)], False, INJECTED + 360 + 60),
    ],
    ids=["calm", "services were waited for", "it comes again", "it never ends"],
)
def test_quiet_starts_after_startup_alerts(steps, spans, quiet, until):
    trial = Trial(firing={("Errors", "Deployment/web"): spans}, alerts=(ERRORS,), steps=steps)
    trial.context.evaluator = Ending(trial.context.evaluator.firing)
    findings = expect_quiet(trial.context, TrialStep(kind="expectQuiet"), 1, INJECTED)
    assert codes(findings) == ([] if quiet else ["SK302"] if steps == PROGRAM else ["SK307"])
    assert trial.clock.now() == pytest.approx(until, abs=60)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"entity": Reference("Deployment", "ad"), "after": "d"}, []),
        ({"entity": Reference("Deployment", "web"), "after": "d"}, ["SK307"]),  # somewhere else
        ({"after": "d"}, ["SK307"]),  # anywhere
        ({"entity": Reference("Deployment", "ad")}, ["SK307"]),  # of whatever
    ],
)
def test_distractor_raises_only_declared_alerts(declared, expected):
    alert = AlertExpectation(name="Latency", alert_class="MayFire", **declared)
    steps = (*PROGRAM[:3], TrialStep(kind="expectQuiet", seconds=300))
    trial = Trial(fault("d", "Distractor"), firing=OTHER, alerts=(ERRORS, alert), steps=steps)
    assert codes(expect_quiet(trial.context, steps[3], 3, INJECTED)) == expected


def test_control_with_distractors_keeps_the_baseline():
    trial = Trial(fault("d", "Distractor"), steps=(*PROGRAM[:3], TrialStep(kind="expectQuiet")))
    trial.context.save_baseline(Baseline(namespace_uid="u"))
    expect_quiet(trial.context, TrialStep(kind="expectQuiet"), 3, INJECTED)
    assert trial.context.baseline() == Baseline(namespace_uid="u")


def test_benign_fault_raises_only_declared_alerts():
    trial = Trial(
        fault("a"),
        outcome="Benign",
        alerts=(ERRORS,),
        firing={**ALWAYS, ("Latency", "Deployment/ad"): [(1050.0, None)]},
    )
    assert codes(expect_alerts(trial.context, INJECTED)) == ["SK327"]


BOTH = (ERRORS, AlertExpectation(name="Latency", entity=Reference("Deployment", "ad")))
EDGES = [("ConfigMap/a", "Deployment/web"), ("ConfigMap/b", "Deployment/cart"), ("Deployment/cart", "Deployment/ad")]


@pytest.mark.parametrize(
    ("left", "firing", "expected"),
    [
        ("a", ALWAYS, []),
        ("a", {("Latency", "Deployment/ad"): [(1100.0, None)]}, ["SK403"]),
        ("b", {("Latency", "Deployment/ad"): [(1100.0, None)]}, []),
        ("b", ALWAYS, ["SK403"]),
    ],
)
def test_alerts_of_a_remaining_cause_must_keep_firing(left, firing, expected):
    trial = Trial(fault("a"), fault("b"), alerts=BOTH, edges=EDGES, firing=firing)
    step = TrialStep(kind="expectStillFiring", use="Fix", name="the other", faults=(left,))
    assert codes(expect_still_firing(trial.context, step, INJECTED)) == expected


@pytest.mark.parametrize(("left", "expected"), [("a", ["SK410"]), ("b", [])])
def test_alert_is_attributed_to_its_after_fault(left, expected):
    wrong = AlertExpectation(name="Latency", entity=Reference("Deployment", "ad"), after="a")
    trial = Trial(fault("a"), fault("b"), alerts=(ERRORS, wrong), edges=[*EDGES, ("ConfigMap/b", "Deployment/web")],
                  firing=ALWAYS)  # fmt: skip
    step = TrialStep(kind="expectStillFiring", use="Fix", name="the other", faults=(left,))
    findings = expect_still_firing(trial.context, step, INJECTED)
    assert codes(findings) == expected
    assert all("Latency on Deployment/ad counts from 'a'" in f.message for f in findings)


@pytest.mark.parametrize(
    ("use", "edges", "expected"),
    [
        ("Fix", [("ConfigMap/a", "Deployment/web"), ("ConfigMap/a", "Deployment/ad")], ["SK410"]),
        ("Fix", [*EDGES, ("ConfigMap/a", "Deployment/ad"), ("ConfigMap/b", "Deployment/ad")], []),
        ("Decoy", [("ConfigMap/a", "Deployment/web"), ("ConfigMap/a", "Deployment/ad")], []),
    ],
    ids=["only this one leads there", "both lead there", "a decoy"],
)
def test_alert_is_attributed_to_the_cause_that_leads_there(use, edges, expected):
    trial = Trial(fault("a"), fault("b"), alerts=BOTH, edges=edges, firing=ALWAYS)
    step = TrialStep(kind="expectStillFiring", use=use, name="x", faults=("a",))
    assert codes(expect_still_firing(trial.context, step, INJECTED)) == expected


@pytest.mark.parametrize(("use", "code"), [("Decoy", "SK431"), ("Fix", "SK402")])
def test_unnamed_expectation_matches_any_alert(use, code):
    step = TrialStep(kind="expectStillFiring", use=use, name="x")
    assert expect_still_firing(Trial(fault("a"), alerts=BOTH, firing=ALWAYS).context, step, INJECTED) == []
    assert codes(expect_still_firing(Trial(fault("a"), alerts=BOTH, firing=PASSING).context, step, INJECTED)) == [code]


@pytest.mark.parametrize(
    ("took", "dip", "expected"),
    [
        (100.0, (1050.0, 1200.0), []),  # back within the windows of its rules
        (100.0, (1050.0, 1400.0), ["SK431"]),  # too late for what came that fast
        (400.0, (1450.0, 1850.0), []),  # back as slowly as it came
        (400.0, (1450.0, 2000.0), ["SK431"]),
    ],
)
def test_decoy_waits_for_slow_alerts_to_return(took, dip, expected):
    gone, back = dip
    firing = {("Errors", "Deployment/web"): [(INJECTED + took, gone), (back, None)]}
    trial = Trial(fault("a"), alerts=(ERRORS,), firing=firing)
    start = gone - 20.0
    trial.clock.wait(start)
    step = TrialStep(kind="expectStillFiring", use="Decoy", name="restart")
    assert codes(expect_still_firing(trial.context, step, start)) == expected


@pytest.mark.parametrize(
    ("firing", "expected"),
    [
        ([(INJECTED, None)], []),
        ([(INJECTED, INJECTED + 500.0)], ["SK431"]),  # gone when a solution would be due, though not at once
        ([(INJECTED, INJECTED + 590.0), (INJECTED + 640.0, None)], []),  # off for a moment
        ([(INJECTED, INJECTED + 590.0), (INJECTED + 700.0, None)], ["SK431"]),
    ],
)
def test_decoy_is_observed_for_the_whole_solution_window(firing, expected):
    trial = Trial(fault("a"), alerts=(ERRORS,), firing={("Errors", "Deployment/web"): firing})
    step = TrialStep(kind="expectStillFiring", use="Decoy", name="slow")
    assert codes(expect_still_firing(trial.context, step, INJECTED)) == expected


def test_background_alerts_are_ignored():
    chronic = (BackgroundAlert(name="Latency", reason="always on"),)
    trial = Trial(fault("d", "Distractor"), outcome="NoIncident", background=chronic, firing=OTHER)
    assert hold(trial.context, TrialStep(kind="hold"), INJECTED)[0] == []


@pytest.mark.parametrize(
    ("firing", "message", "observed"),
    [
        ({("Errors", "Deployment/web"): [(1330.0, None)]}, "fired too late", "330 s after injection"),
        ({("Latency", "Deployment/ad"): [(1330.0, None)]}, "did not fire", "Latency on Deployment/ad"),
        ({("Errors", "Deployment/web"): [(1900.0, None)]}, "did not fire", "no alert fired at all"),
    ],
)
def test_missing_alert_reports_other_firing_alerts(firing, message, observed):
    """It is due after 90 s; the rules may take 120, and the way there as long as everywhere."""
    due = AlertExpectation(name="Errors", entity=Reference("Deployment", "web"), within_seconds=90)
    trial = Trial(fault("a"), firing=firing, alerts=[due])
    found = expect_alerts(trial.context, INJECTED)[0]
    assert (found.code, message in found.message) == ("SK322", True)
    assert observed in found.observed


def lag(*spans):
    return {"lags": UnusedRules(Evaluator({("Lag", "Deployment/kafka"): list(spans)}).advance(1900.0), ("lags",))}


def no_answer():
    raise MetricsError("no answer")


@pytest.mark.parametrize(
    ("firing", "beside", "reported"),
    [
        ({}, lambda: lag((1100.0, None)), "Lag on Deployment/kafka (pack 'lags')"),
        ({}, no_answer, "no alert fired at all"),
        (OTHER, lambda: lag((1100.0, None)), "Latency on Deployment/ad"),
    ],
    ids=["silence", "what cannot be asked", "something else fired"],
)
def test_missing_alert_lists_rules_firing_in_other_packs(firing, beside, reported):
    trial = Trial(fault("a"), firing=firing, alerts=[ERRORS])
    trial.context.beside = beside
    found = expect_alerts(trial.context, INJECTED)[0]
    assert (found.code, found.observed.endswith(reported)) == ("SK322", True), found.observed


REPAIRED = 1400.0
SOLVED = {("Errors", "Deployment/web"): [(1100.0, 1450.0)]}


@pytest.mark.parametrize(
    ("spans", "use", "chronic", "expected"),
    [
        ([(1100.0, None)], "Solution", False, ["SK411"]),
        ([(1100.0, None)], "Fix", False, ["SK401"]),
        ([(1100.0, 1700.0)], "Fix", False, []),
        ([(1100.0, None)], "Wait", False, []),
        ([(1530.0, None)], "Solution", False, ["SK411"]),
        ([(1530.0, 1800.0)], "Solution", False, []),
        ([(1100.0, None)], "Solution", True, ["SK411"]),
        ([(500.0, None)], "Solution", True, []),
        ([(1100.0, 1700.0)], "Solution", False, []),
        ([(1100.0, 1450.0)], "Solution", False, []),
    ],
    ids=[
        "goes on", "after a fix", "over after a fix", "after waiting", "raised by the repair", "raised, and over",
        "called chronic", "chronic", "forgotten by its rule", "over with the rest",
    ],
)  # fmt: skip
def test_solution_must_clear_unpromised_alerts(spans, use, chronic, expected):
    trial = Trial(
        fault("a"), alerts=(ERRORS,), firing={**SOLVED, ("Latency", "Deployment/ad"): spans},
        background=(BackgroundAlert(name="Latency", reason="always on"),) if chronic else (),
    )  # fmt: skip
    identity = trial.context.identity()
    trial.context.save_baseline(
        Baseline(namespace_uid=identity, served=EntryTraffic(seconds=300, requests=600, errors=600))
    )
    trial.context.wait(REPAIRED)
    found = expect_cleared(trial.context, TrialStep(kind="expectCleared", use=use, name="s"), 5, REPAIRED)
    assert codes(found) == expected, [f.observed for f in found]
    if found:
        raised = "Latency on Deployment/ad fires after solution 's', and did not before"
        assert ("leaves Latency on Deployment/ad firing" in found[0].message) == (spans[0][0] < REPAIRED)
        assert (raised in found[0].message) == (spans[0][0] >= REPAIRED)


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ((("ConfigMap/a", "Deployment/web"),), []),
        ((("ConfigMap/a", "Deployment/ad"),), ["SK326"]),
        ((("Deployment/ad", "Deployment/web"),), ["SK326"]),
        ((), []),
    ],
    ids=["explained", "elsewhere", "from no cause", "a draft without any propagation"],
)
def test_alert_on_any_entity_must_follow_propagation(edges, expected):
    trial = Trial(
        fault("a"),
        edges=edges,
        alerts=(AlertExpectation(name="Errors"),),
        firing={("Errors", "Deployment/web"): [(1050.0, None)]},
    )
    assert codes(expect_alerts(trial.context, INJECTED)) == expected

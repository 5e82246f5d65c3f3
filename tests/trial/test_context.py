"""The trial context: waiting, saved state, procedures, and silent components."""

import msgspec
import pytest

from scenario_kit.changes import TRIAL_LABEL
from scenario_kit.changes.operations.chaos import Chaos
from scenario_kit.changes.undo import Blocked
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.model import Change, Component, FlagStore, Procedure, Reference, Severity, Solution, TrialStep
from scenario_kit.model.runtime.observation import Passage, Work
from scenario_kit.testing import FakeClock, FakeMetrics
from scenario_kit.trial import Stopped, procedures
from scenario_kit.trial.alerts.extended_wait import compute_recurrence_time
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.engine.progress import FaultProgress, TrialProgress
from scenario_kit.trial.engine.rollouts import list_live, roll_out
from scenario_kit.trial.investigation.silent_hops import measure_passages
from scenario_kit.trial.investigation.symptoms import find_new, list_pods
from scenario_kit.trial.procedures import change, undo_change
from tests.trial.test_alert_steps import ALWAYS, ERRORS, INJECTED, Trial, config, fault
from tests.trial.test_inject import TrialHarness
from tests.trial.test_inject import fault as effective


def namespace(name, uid):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": uid}}


def get_context(trial, **fields):
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, **fields)
    return trial.context


# --- what it is


def test_context_lists_namespaces_and_their_identity():
    trial = Trial()
    context = get_context(trial, namespaces={"stores": "shop-stores"})
    assert context.everywhere == ("shop", "shop-stores")
    assert context.homes() == {"shop": None, "shop-stores": None}
    assert context.identity() == ""
    trial.cluster.put(namespace("shop", "u1"))
    assert context.identity() == "", "half of it"
    trial.cluster.put(namespace("shop-stores", "u2"))
    assert context.identity() == "u1 u2"
    trial.cluster.put({**config("b"), "metadata": {"name": "b", "namespace": "shop-stores"}})
    trial.cluster.put(config("a"))
    trial.cluster.put({**config("c"), "metadata": {"name": "c", "namespace": "other"}})
    assert [o["metadata"]["name"] for o in context.contents("ConfigMap")] == ["a", "b"]
    assert context.contents() == []


def test_guarded_objects_are_workloads_services_and_flags():
    trial = Trial()
    for kind, api in (("Deployment", "apps/v1"), ("Service", "v1"), ("Secret", "v1")):
        metadata = {"name": "x", "namespace": "shop"}
        trial.cluster.put({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": {}})
    trial.cluster.put(config("flags"))
    assert [o["kind"] for o in trial.context.guarded()] == ["Deployment", "Service"]
    app = msgspec.structs.replace(trial.context.runbook.app, flags=FlagStore(config_map="flags", key="k"))
    assert [o["kind"] for o in get_context(trial, app=app).guarded()] == ["Deployment", "Service", "ConfigMap"]
    trial.cluster.delete(Reference("ConfigMap", "flags", "shop"))
    assert [o["kind"] for o in trial.context.guarded()] == ["Deployment", "Service"]


def test_context_lists_faults_of_an_inject_step():
    context = TrialHarness(effective("a"), effective("b"), effective("c")).context()
    names = lambda **step: [f.name for f in context.chosen_faults(TrialStep(kind="inject", **step))]  # noqa: E731
    assert names() == ["a", "b", "c"]
    assert names(faults=("c", "a")) == ["a", "c"]
    assert names(except_=("b",)) == ["a", "c"]
    assert names(faults=("a", "b"), except_=("b",)) == ["a"]


def test_injected_at_is_recorded_per_fault():
    stage = TrialHarness(effective("a"), effective("b"), effective("never"))
    context = stage.context()
    assert (context.injected_at(), context.last_injected_at()) == (None, None)

    def do(name, ordinal, **more):
        context.engine.do(build_patch(str(ordinal), name), ordinal=ordinal, group=f"Fault/{name}", **more)

    do("never", 1, causal=False)
    stage.clock.wait(1100)
    do("a", 2)
    stage.clock.wait(1200)
    do("a", 3)
    do("b", 4)
    assert (context.injected_at(), context.injected_at("a"), context.injected_at("b")) == (1100, 1100, 1200)
    assert context.injected_at("never") is None
    assert context.last_injected_at() == 1200
    context.engine.undo_group("Fault/a")
    assert context.injected_at() in (1100, 1200)
    assert context.persistent() == []
    named = tuple(msgspec.structs.replace(f, persistence="Workload") for f in context.runbook.faults[:2])
    context.runbook = msgspec.structs.replace(context.runbook, faults=(*named, context.runbook.faults[2]))
    assert context.persistent() == ["Fault/a", "Fault/b"]


# --- what it writes down


def test_saved_baseline_and_progress_are_labelled_and_read_again():
    stage = TrialHarness(effective("a"))
    first, second = stage.context(), stage.context()
    assert (first.baseline(), first.progress()) == (None, TrialProgress())
    baseline = Baseline(namespace_uid="u", snapshot={"a": "b"}, ready_at=7.0)
    progress = TrialProgress(faults={"a": FaultProgress(step=1, injected_at=2.0)}, proofs=3, resyncs=4)
    first.save_baseline(baseline)
    first.save_progress(progress)
    assert first.save_evidence({"x": 1}) == "t-evidence"
    assert (second.baseline(), second.progress()) == (baseline, progress)
    for name in ("baseline", "progress", "evidence"):
        found = stage.cluster.get(Reference("ConfigMap", f"t-{name}", "kit"))
        assert found["metadata"]["labels"] == {TRIAL_LABEL: "t"}
        assert list(found["data"]) == ["document"]


def test_observers_get_alert_history_and_time():
    trial, list_passages = Trial(), []
    trial.context.tell = lambda now, history: list_passages.append((now, history))
    history = trial.context.history()
    assert list_passages == [(INJECTED, history)]
    assert history.end == INJECTED


# --- how time passes


def test_wait_ends_when_stopped_or_unhealthy():
    trial = Trial()
    trial.context.health = lambda: ["a", "b"]
    with pytest.raises(InfrastructureError, match="a; b"):
        trial.context.wait(2000.0)
    trial.stops = True
    with pytest.raises(Stopped):
        trial.context.wait(2000.0)
    assert trial.clock.now() == INJECTED


@pytest.mark.parametrize(("virtual", "until"), [(True, INJECTED), (False, INJECTED + 1)])
def test_to_settle_takes_no_virtual_time(virtual, until):
    trial = Trial()
    trial.context.spec = msgspec.structs.replace(trial.context.spec, clock="Virtual" if virtual else "Wall")
    assert trial.context.settle() == until
    assert trial.context.virtual is virtual


def test_wait_continues_until_a_coarse_clock_arrives():
    trial = Trial()
    trial.context.clock = FakeClock(INJECTED, stride=10.0)
    assert trial.context.wait(INJECTED + 25) == INJECTED + 25


@pytest.mark.parametrize("clock", ["Virtual", "Wall"])
def test_experiment_expires_in_the_time_of_the_trial(clock):
    spec = {"mode": "all", "duration": "90s", "selector": {}, "action": "pod-failure"}
    experiment = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "x"}, "spec": spec}
    trial = Trial()
    trial.cluster.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"}, "spec": {},
                       "status": {"phase": "Running", "containerStatuses": [{"containerID": "c"}]}})  # fmt: skip
    trial.context.spec = msgspec.structs.replace(trial.context.spec, clock=clock)
    trial.context.engine.do(Change(Chaos(manifest=experiment)), ordinal=1, group="Fault/f")
    trial.context.wait(INJECTED + 89)
    assert not trial.context.engine.has_expired("Fault/f")
    trial.context.wait(INJECTED + 105)
    trial.context.wait(INJECTED + 106)
    assert trial.context.engine.has_expired("Fault/f")


# --- procedures


def build_patch(value, name="a", **more):
    return Change.from_json({"patch": {"target": f"ConfigMap/{name}", "type": "Merge", "patch": {"data": {"k": value}}},
                             **more})  # fmt: skip


def run_procedure(use, *changes):
    stage = TrialHarness(effective("a"))
    stage.run()
    procedure = Procedure(use=use, name="p", solution=Solution(name="p", changes=changes))
    stage.runbook = msgspec.structs.replace(stage.runbook, procedures=(procedure,))
    return stage, stage.context()


def do(use, *changes):
    stage, context = run_procedure(use, *changes)
    return stage, context, change(context, TrialStep(kind="change", use=use, name="p"), 4)


def test_procedure_applies_changes_in_order():
    stage, context, found = do("Solution", build_patch("x"), build_patch("y"))
    assert found == ([], [])
    assert [(r.ordinal, r.group) for r in context.engine.list_receipts("Solution/")] == [
        (40000, "Solution/p"), (40001, "Solution/p"),
    ]  # fmt: skip
    assert stage.state() == {"a": "y"}


@pytest.mark.parametrize("use", ["Solution", "Decoy", "Fix", "Sham"])
@pytest.mark.parametrize(
    ("first", "message"),
    [(build_patch("bad"), "changes nothing"), (build_patch("x", "absent"), "cannot be executed")],
)
def test_change_without_effect_ends_procedure_with_error(use, first, message):
    code = {"Solution": "SK411", "Decoy": "SK121", "Fix": "SK401", "Sham": "SK307"}[use]
    stage, _, (findings, checks) = do(use, first, build_patch("y"))
    assert [(f.code, f.severity, f.message) for f in findings] == [
        (code, Severity.ERROR, f"{use.lower()} 'p' {message}")
    ]
    assert (checks, stage.state()) == ([], {"a": "bad"})
    assert findings[0].fix


def test_cheat_skips_failed_changes():
    stage, _, found = do("Cheat", build_patch("bad"), build_patch("x", "absent"), build_patch("y"))
    assert (found, stage.state()) == (([], []), {"a": "y"})


def test_procedure_waits_for_until_checks():
    until = {"check": {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": "z"}}, "withinSeconds": 45}
    stage, _, (findings, checks) = do("Solution", build_patch("x", until=until), build_patch("y"))
    assert (findings, [c.answer for c in checks]) == ([], ["False"])
    assert stage.clock.now() == 1045.0


def test_procedure_may_remove_a_fault():
    stage, _, found = do("Solution", Change.from_json({"removeFault": {"fault": "a"}}))
    assert (found, stage.state()) == (([], []), {"a": "good"})


def test_undo_step_restores_a_single_object():
    stage, context = run_procedure("Solution")
    assert change(context, TrialStep(kind="change", use="Undo", name="ConfigMap/b", faults=("a",)), 4) == ([], [])
    assert stage.state() == {"a": "bad"}
    assert change(context, TrialStep(kind="change", use="Undo", name="ConfigMap/a", faults=("a",)), 4) == ([], [])
    assert stage.state() == {"a": "good"}


@pytest.mark.parametrize(
    ("clears", "virtual", "raised", "end"),
    [(0, True, False, 0), (40, True, False, 45), (40, False, False, 41), (301, True, True, 300)],
)
def test_blocked_undo_is_tried_for_five_minutes(clears, virtual, raised, end):
    stage, context = run_procedure("Decoy", build_patch("x"))
    context.spec = msgspec.structs.replace(context.spec, clock="Virtual" if virtual else "Wall")
    requests, start = [], stage.clock.now()

    def undo_group(group):
        requests.append(group)
        return [] if stage.clock.now() >= start + clears else [Blocked(group, "ConfigMap/a", "no")]

    context.engine.undo_group = undo_group
    if raised:
        with pytest.raises(InfrastructureError, match="undo of Decoy/p on ConfigMap/a is blocked: no"):
            undo_change(context, TrialStep(kind="undoChange", use="Decoy", name="p"))
    else:
        undo_change(context, TrialStep(kind="undoChange", use="Decoy", name="p"))
    assert set(requests) == {"Decoy/p"}
    assert stage.clock.now() - start == end or (not virtual and stage.clock.now() - start <= end + 1)


def test_authoring_error_is_reported_unchanged():
    list_passages = procedures._report_impossible(
        TrialStep(kind="change", use="Fix", name="p"), AuthoringError("no such", fix="do this")
    )
    assert (list_passages.observed, list_passages.fix) == ("no such", "do this")
    assert procedures._report_impossible(TrialStep(kind="change", use="Fix", name="p"), AuthoringError("x")).fix


# --- rollouts


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


@pytest.mark.parametrize(("ready", "left", "end"), [(0, [], 0), (20, [], 30), (60, [], 60), (61, ["a"], 60)])
def test_rollout_is_waited_for(ready, left, end):
    trial = Trial()
    for name in ("a", "other"):
        trial.cluster.put(deployment(name, 0))

    def passing(now):
        if now >= INJECTED + ready:
            trial.cluster.put(deployment("a", 1))

    trial.context.clock = FakeClock(INJECTED, on_advance=passing)
    passing(INJECTED)
    found = roll_out(trial.context, {("Deployment", "a")}, 60)
    assert [o["metadata"]["name"] for o in found] == left
    assert trial.context.clock.now() == INJECTED + end
    assert [
        o["metadata"]["name"] for o in list_live(trial.context, {("Deployment", "a"), ("StatefulSet", "other")})
    ] == ["a"]


# --- what passed through silent components

EDGES = [("ConfigMap/a", "Deployment/x"), ("Deployment/x", "Deployment/y"), ("Deployment/y", "Deployment/web")]


def passing_trial(firing=ALWAYS, faults=None, **rates):
    """Components x and y lie between the fault and the alert; their requests a second, before and after it."""
    trial = Trial(*(faults if faults is not None else [fault("a")]), alerts=(ERRORS,), edges=EDGES, firing=firing)
    names = ("x", "y", "web", "aside")
    app = msgspec.structs.replace(
        trial.context.runbook.app,
        components=tuple(Component(name=n, workload=Reference("Deployment", n)) for n in names),
    )
    get_context(trial, app=app)

    def answer(expr, at):
        if "calls_total" not in expr:
            return []
        seconds = float(expr.partition("[")[2].partition("s]")[0])
        rate = {n: before if at <= INJECTED else after for n, (before, after) in rates.items()}
        return [({"service_name": n, "status_code": "OK"}, r * seconds) for n, r in rate.items() if r is not None]

    trial.context.metrics = FakeMetrics(answer)
    trial.clock.wait(INJECTED + 600)
    return trial.context


def list_passages(found):
    return [(p.entity, p.before.requests, p.before.seconds, p.during.requests, p.during.seconds) for p in found]


def test_traffic_through_silent_components_is_compared():
    context = passing_trial(x=(2.0, 1.0), y=(3.0, 3.0), web=(1.0, 1.0), aside=(1.0, 1.0))
    found = measure_passages(context, INJECTED + 600)
    assert list_passages(found) == [
        ("Deployment/x", 600.0, 300.0, 600.0, 600.0),
        ("Deployment/y", 900.0, 300.0, 1800.0, 600.0),
    ]
    assert isinstance(found[0], Passage)


def test_passages_cover_newly_idle_components_only():
    context = passing_trial(x=(2.0, None), y=(None, 3.0))
    found = measure_passages(context, INJECTED + 600)
    assert list_passages(found) == [("Deployment/x", 600.0, 300.0, 0.0, 600.0)]
    assert found[0].during == Work(seconds=600.0, requests=0.0)


@pytest.mark.parametrize(
    ("firing", "silent"),
    [
        ({**ALWAYS, ("Slow", "Deployment/x"): [(1100.0, None)]}, ["Deployment/y"]),
        ({**ALWAYS, ("Slow", "Deployment/x"): [(800.0, 900.0)]}, ["Deployment/x", "Deployment/y"]),  # before
        ({**ALWAYS, ("Slow", ""): [(1100.0, None)]}, ["Deployment/x", "Deployment/y"]),
    ],
)
def test_component_with_a_firing_alert_is_not_silent(firing, silent):
    context = passing_trial(firing, x=(1.0, 1.0), y=(1.0, 1.0))
    assert [p.entity for p in measure_passages(context, INJECTED + 600)] == silent


def test_touched_entities_and_times_before_fault_are_skipped():
    touched = msgspec.structs.replace(fault("a"), entities=(), target=Reference("Deployment", "x"))
    context = passing_trial(x=(1.0, 1.0), y=(1.0, 1.0))
    context.runbook = msgspec.structs.replace(context.runbook, faults=(touched,))
    assert [p.entity for p in measure_passages(context, INJECTED + 600)] == ["Deployment/y"]
    assert measure_passages(passing_trial(faults=[], x=(1.0, 1.0), y=(1.0, 1.0)), INJECTED + 600) == ()


# --- signs and patience


def test_find_new_excludes_baseline_observations():
    trial = Trial()
    app = msgspec.structs.replace(
        trial.context.runbook.app, components=(Component(name="web", workload=Reference("Deployment", "web")),)
    )
    get_context(trial, app=app, namespaces={"stores": "shop-stores"})
    waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "x"}}
    for space in ("shop", "shop-stores", "other"):
        trial.cluster.put({"apiVersion": "v1", "kind": "Pod", "spec": {},
                           "metadata": {"name": f"web-7d9f8b6c54-{space[-5:]}", "namespace": space},
                           "status": {"containerStatuses": [{"name": "web", "state": waiting}]}})  # fmt: skip
    assert {p["metadata"]["namespace"] for p in list_pods(trial.context)} == {"shop", "shop-stores"}
    found = find_new(trial.context, [])
    assert found
    assert any("CrashLoopBackOff" in sign for sign in found)
    assert find_new(trial.context, found) == []
    assert find_new(trial.context, found[:-1]) == found[-1:]


@pytest.mark.parametrize(
    ("onset", "repaired", "seconds"), [(1100.0, 1400.0, 125.0), (1300.0, 1400.0, 375.0), (1500.0, 1400.0, 0.0)]
)
def test_recurrence_time_is_the_onset_delay(onset, repaired, seconds):
    trial = Trial(fault("a"), alerts=(ERRORS,), firing={("Errors", "Deployment/web"): [(onset, None)]})
    trial.clock.wait(1600.0)
    assert compute_recurrence_time(trial.context, repaired) == seconds

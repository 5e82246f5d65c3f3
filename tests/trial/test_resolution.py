"""Resolution of an incident, part by part; cheats; and messages about failed repairs."""

import msgspec
import pytest

from scenario_kit.changes import ClusterStore, Engine
from scenario_kit.errors import KitError
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.judge.repair.resolution import EntryTraffic
from scenario_kit.model import AlertExpectation, Change, Procedure, Reference, Severity, Solution, TrialStep
from scenario_kit.testing import FakeMetrics
from scenario_kit.trial import Stopped
from scenario_kit.trial.engine.baseline import Baseline
from scenario_kit.trial.resolution import durability
from scenario_kit.trial.resolution.resolve import expect_cleared, expect_unresolved, judge_resolution
from tests.trial.test_alert_steps import ERRORS, Trial, codes, config, fault

SERVED = EntryTraffic(seconds=300, requests=600, errors=0)
REPAIRED = 1200.0
CLEARED = {("Errors", "Deployment/web"): [(1100.0, 1250.0)]}
FIRING = {("Errors", "Deployment/web"): [(1100.0, None)]}


def metrics(rate, errors=0.0):
    """Build Prometheus responses with this request rate and error rate at the entry."""

    def answer(expr, wait_until):
        seconds = float(expr.partition("[")[2].partition("s]")[0])
        share = errors if "STATUS_CODE_ERROR" in expr else rate
        return [] if share is None else [({}, share * seconds)]

    return FakeMetrics(answer)


def build_repaired_trial(
    *faults, firing=CLEARED, rate=2.0, errors=0.0, served=SERVED, guards=(), outcome="Incident", alerts=(ERRORS,)
):
    """Build a trial at the time of the repair, with the app at its baseline."""
    trial = Trial(*(faults or (fault("a"),)), firing=firing, alerts=alerts, outcome=outcome)
    trial.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    trial.context.metrics = metrics(rate, errors)
    trial.context.save_baseline(Baseline(namespace_uid=trial.context.identity(), served=served, guards=guards))
    trial.clock.wait(REPAIRED)
    return trial


def wait_until(trial, now):
    trial.clock.wait(now)
    return trial


# --- the parts of the answer


@pytest.mark.parametrize(
    ("now", "answer", "reason"),
    [
        (1240.0, "False", "Errors on Deployment/web fires"),
        (1300.0, "False", "clear for 50 s of 60 s"),
        (1310.0, "True", ""),
    ],
)
def test_alerts_have_to_be_clear_for_the_whole_window(now, answer, reason):
    trial = build_repaired_trial()
    if now < 1250.0:
        trial.context.evaluator.firing = FIRING
    found = judge_resolution(wait_until(trial, now).context, REPAIRED)
    assert (found.answer, "; ".join(found.reasons)) == (answer, reason)


def test_alerts_of_fault_may_continue_but_not_those_of_repair():
    other = ("Latency", "Deployment/ad")
    assert (
        judge_resolution(
            wait_until(build_repaired_trial(firing={**CLEARED, other: [(1150.0, None)]}), 1400.0).context, REPAIRED
        ).answer
        == "True"
    )
    found = judge_resolution(
        wait_until(build_repaired_trial(firing={**CLEARED, other: [(1250.0, None)]}), 1400.0).context, REPAIRED
    )
    assert (found.answer, found.reasons) == ("False", ("Latency on Deployment/ad fires and did not before",))


def test_benign_incident_must_end_without_new_alerts():
    other = ("Latency", "Deployment/ad")
    trial = build_repaired_trial(firing={**CLEARED, other: [(1150.0, None)]}, outcome="Benign")
    found = judge_resolution(wait_until(trial, 1400.0).context, REPAIRED)
    assert found.reasons == ("Latency on Deployment/ad fires and did not before",)


def test_distractor_alerts_do_not_block_resolution():
    own = AlertExpectation(name="Latency", entity=Reference("Deployment", "ad"), alert_class="MayFire", after="d")
    firing = {**CLEARED, ("Latency", "Deployment/ad"): [(1350.0, None)]}
    faults = (fault("a"), fault("d", "Distractor"))
    assert (
        judge_resolution(
            wait_until(build_repaired_trial(*faults, firing=firing, alerts=(ERRORS, own)), 1400.0).context, REPAIRED
        ).answer
        == "True"
    )
    assert (
        judge_resolution(wait_until(build_repaired_trial(*faults, firing=firing), 1400.0).context, REPAIRED).answer
        == "False"
    )


def test_recreated_namespace_is_another_app():
    trial = wait_until(build_repaired_trial(), 1400.0)
    trial.cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "another"}})
    found = judge_resolution(trial.context, REPAIRED)
    assert (found.answer, found.reasons) == ("False", ("the app's namespace is not the one that was deployed",))


def test_missing_baseline_is_an_internal_error():
    trial = wait_until(build_repaired_trial(), 1400.0)
    trial.cluster.delete(Reference("ConfigMap", "t-baseline", "kit"))
    with pytest.raises(KitError, match="without a baseline"):
        judge_resolution(trial.context, REPAIRED)


def web(replicas, **more):
    template = {"spec": {"containers": [{"name": "web"}]}}
    spec, status = {"replicas": replicas, "template": template}, {"readyReplicas": replicas}
    metadata = {"name": "web", "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec, "status": status, **more}


def scaler(kind="Deployment", name="web", minimum=1):
    spec = {"scaleTargetRef": {"kind": kind, "name": name}, "minReplicas": minimum, "maxReplicas": 9}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": name, "namespace": "shop"}, "spec": spec}  # fmt: skip


@pytest.mark.parametrize(
    ("objects", "answer"),
    [
        ([web(3)], "True"),
        ([web(2)], "False"),
        ([], "False"),
        ([web(2), scaler()], "True"),  # how many there are is its matter
        ([web(2), scaler(name="other")], "False"),
    ],
)
def test_guards_hold(objects, answer):
    trial = build_repaired_trial(guards=(Guarded(kind="Deployment", name="web", replicas=3),))
    for obj in objects:
        trial.cluster.put(obj)
    assert judge_resolution(wait_until(trial, 1400.0).context, REPAIRED).answer == answer


@pytest.mark.parametrize(("alert", "answer"), [("after", "True"), ("none", "False")])
def test_pods_unready_by_distractor_need_not_be_ready(alert, answer):
    own = AlertExpectation(name="Down", entity=Reference("Deployment", "web"), alert_class="MayFire", after="d")
    alerts = (ERRORS, own) if alert == "after" else (ERRORS,)
    guards = (Guarded(kind="Deployment", name="web", replicas=2),)
    trial = build_repaired_trial(fault("a"), fault("d", "Distractor"), alerts=alerts, guards=guards)
    trial.cluster.put(web(2, status={"readyReplicas": 0}))
    assert judge_resolution(wait_until(trial, 1400.0).context, REPAIRED).answer == answer


@pytest.mark.parametrize(
    ("rate", "errors", "served", "answer", "reason"),
    [
        (2.0, 0.0, SERVED, "True", ""),
        (1.6, 0.0, SERVED, "True", ""),
        (1.5, 0.0, SERVED, "False", "the entry serves 1.5 requests/s, less than 80% of 2.0"),
        (2.0, 0.2, SERVED, "False", "60 of 600 requests fail, the baseline had 0 of 600"),
        (None, 0.0, SERVED, "Unknown", "no request data from the entry"),
        (2.0, 0.0, None, "Unknown", "no traffic was measured before the fault"),
    ],
)
def test_entry_traffic_must_reach_its_baseline(rate, errors, served, answer, reason):
    found = judge_resolution(
        wait_until(build_repaired_trial(rate=rate, errors=errors, served=served), 1400.0).context, REPAIRED
    )
    assert (found.answer, "; ".join(found.reasons)) == (answer, reason)


@pytest.mark.parametrize(
    ("rate", "now", "windows", "answer"),
    [
        (1.0, 1600.0, [300], "True"),
        (0.5, 1650.0, [300, 400], "True"),  # back to when it was clear
        (0.5, 1400.0, [300], "Unknown"),  # not further than that
        (0.25, 2250.0, [300, 600, 900], "True"),
        (0.2, 2450.0, [300, 600, 900], "Unknown"),  # nor than a quarter of an hour
    ],
)
def test_resolution_window_grows_with_low_traffic(rate, now, windows, answer):
    trial = wait_until(
        build_repaired_trial(rate=rate, served=EntryTraffic(seconds=300, requests=300 * rate, errors=0)), now
    )
    assert judge_resolution(trial.context, REPAIRED).answer == answer
    queries = [e for e in trial.context.metrics.queries if "STATUS_CODE_ERROR" not in e]
    assert [int(e.partition("[")[2].partition("s]")[0]) for e in queries] == windows


def test_traffic_is_queried_only_if_all_else_holds():
    trial = build_repaired_trial()
    assert judge_resolution(wait_until(trial, 1260.0).context, REPAIRED).answer == "False"
    assert trial.context.metrics.queries == []


# --- cheats


@pytest.mark.parametrize(
    ("name", "code"), [("restart-everything", "SK422"), ("scale-to-zero", "SK423"), ("my-own", "SK427")]
)
def test_resolved_cheat_is_a_finding(name, code):
    trial = build_repaired_trial()
    (found,) = expect_unresolved(trial.context, TrialStep(kind="expectUnresolved", use="Cheat", name=name), REPAIRED)
    assert (found.code, found.severity, found.message) == (
        code,
        Severity.ERROR,
        f"the cheat '{name}' counts as resolved",
    )


@pytest.mark.parametrize(
    "cheat",
    [
        {"firing": FIRING},
        {"rate": 0.0},
        {"rate": None},
        {"errors": 1.0},
        {"guards": (Guarded(kind="Deployment", name="web"),)},
        {"served": None},
        {"firing": {**CLEARED, ("Down", "Deployment/web"): [(1250.0, None)]}},
    ],
    ids=["alerts", "load", "no data", "errors", "guards", "unmeasured", "damage"],
)
def test_unresolved_or_unknown_cheat_is_no_finding(cheat):
    trial = build_repaired_trial(**cheat)
    assert expect_unresolved(trial.context, TrialStep(kind="expectUnresolved", use="Cheat", name="x"), REPAIRED) == []


def test_to_delete_the_namespace_is_no_repair():
    trial = build_repaired_trial()
    trial.cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "another"}})
    assert expect_unresolved(trial.context, TrialStep(kind="expectUnresolved", use="Cheat", name="x"), REPAIRED) == []


@pytest.mark.parametrize(("seconds", "end"), [(None, REPAIRED + 300 + 60), (500, REPAIRED + 500)])
def test_cheat_is_observed_for_all_windows(seconds, end):
    trial = build_repaired_trial()
    step = TrialStep(kind="expectUnresolved", use="Cheat", name="x", seconds=seconds)
    assert codes(expect_unresolved(trial.context, step, REPAIRED)) == ["SK427"]
    assert trial.clock.now() == end


# --- a repair before its deadline


def build_clearing_alert(wait_until):
    return {("Errors", "Deployment/web"): [(1100.0, wait_until)]}


def keep_alerts_open(trial):
    """What fires now has no end yet."""
    evaluator, advance = trial.context.evaluator, trial.context.evaluator.advance

    def open_(interval, now):
        return msgspec.structs.replace(interval, end=None) if (interval.end or 0) >= now else interval

    def reported(now):
        history = advance(now)
        timelines = (
            msgspec.structs.replace(t, firing=tuple(open_(i, now) for i in t.firing)) for t in history.timelines
        )
        return msgspec.structs.replace(history, timelines=tuple(timelines))

    evaluator.advance = reported
    return trial


@pytest.mark.parametrize(
    ("use", "cleared", "seconds", "end", "found"),
    [
        ("Fix", 1250.0, None, 1320.0, []),
        ("Fix", 1230.0, None, 1320.0, []),  # looked at every minute from the repair
        ("Fix", 1680.0, None, 1740.0, []),
        ("Fix", 1740.0, None, 1800.0, []),  # at the deadline itself
        ("Fix", 1790.0, None, 1800.0, ["SK401"]),
        ("Fix", 1250.0, 30, 1260.0, ["SK401"]),
        ("Wait", 1790.0, None, 1800.0, ["SK435"]),
    ],
)
def test_repair_must_clear_alerts_by_its_deadline(use, cleared, seconds, end, found):
    trial = keep_alerts_open(build_repaired_trial(firing=build_clearing_alert(cleared)))
    step = TrialStep(kind="expectCleared", use=use, name="s", seconds=seconds)
    assert codes(expect_cleared(trial.context, step, 5, REPAIRED)) == found
    assert trial.clock.now() == end or (seconds and trial.clock.now() >= REPAIRED + seconds)


@pytest.mark.parametrize(("use", "lasts"), [("Solution", True), ("Fix", False), ("Cheat", False), ("Wait", False)])
def test_only_a_solution_has_to_last(monkeypatch, use, lasts):
    seen = []
    monkeypatch.setattr(durability, "lasts", lambda *given, **times: seen.append((given, times)) or ["found"])
    trial, step = build_repaired_trial(), TrialStep(kind="expectCleared", use=use, name="s")
    assert expect_cleared(trial.context, step, 5, REPAIRED) == (["found"] if lasts else [])
    times = {"repaired": REPAIRED, "cleared": trial.clock.now()}
    assert seen == ([((trial.context, step, 5), times)] if lasts else [])


def test_live_scenario_has_no_deadline():
    trial = build_repaired_trial(firing=FIRING)
    looks = []
    trial.context.idle = lambda seconds: looks.append(seconds) or trial.clock.wait(trial.clock.now() + 900)
    trial.context.stopping = lambda: len(looks) > 3
    with pytest.raises(Stopped):
        expect_cleared(trial.context, TrialStep(kind="expectCleared", forever=True), 5, REPAIRED)
    assert trial.clock.now() > REPAIRED + 600
    trial = build_repaired_trial(firing=build_clearing_alert(9000.0))
    keep_alerts_open(trial)
    trial.context.idle = lambda seconds: trial.clock.wait(trial.clock.now() + 900)
    assert expect_cleared(trial.context, TrialStep(kind="expectCleared", forever=True), 5, REPAIRED) == []
    assert trial.clock.now() >= 9060.0


@pytest.mark.parametrize(
    ("use", "code", "subject", "why", "fix"),
    [
        (
            "Solution",
            "SK411",
            "solution 's' does not resolve the incident",
            "a documented solution",
            "correct the solution",
        ),
        ("Fix", "SK401", "repairing only the labelled causes (s)", "the labels do not name", "label the object"),
        (
            "Cheat",
            "SK435",
            "the fault is declared to end with its pods",
            "cheats and checks",
            "declare in the fault type",
        ),
        ("Wait", "SK435", "fault 's' is declared to end by itself", "cheats and checks", "declare in the fault type"),
        ("RemoveFault", "SK329", "the incident outlives the fault: removing s", "", ""),
        ("", "SK329", "the incident is not resolved", "", ""),
    ],
)
def test_failed_repair_finding_has_reason_and_fix(use, code, subject, why, fix):
    trial = build_repaired_trial(firing=FIRING)
    (found,) = expect_cleared(trial.context, TrialStep(kind="expectCleared", use=use, name="s"), 5, REPAIRED)
    assert (found.code, found.severity) == (code, Severity.ERROR)
    assert found.message.startswith(subject)
    assert found.why.startswith(why)
    assert found.fix.startswith(fix)
    assert (found.why == "", found.fix == "") == (why == "", fix == "")
    assert found.observed == "Errors on Deployment/web fires after 600 s"


def test_benign_fault_must_end_by_itself():
    trial = build_repaired_trial(firing=FIRING, outcome="Benign")
    (found,) = expect_cleared(trial.context, TrialStep(kind="expectCleared", use="Wait", name="a"), 5, REPAIRED)
    assert found.message == "the scenario is Benign, but does not end by itself"
    assert found.fix.startswith("choose the outcome Incident")


@pytest.mark.parametrize(
    ("truth", "own", "use", "reported"),
    [
        ("Conjunctive", "Independent", "Fix", True),
        ("Independent", "Conjunctive", "Fix", True),
        ("Independent", "Independent", "Fix", False),
        ("Conjunctive", "Conjunctive", "Solution", False),
    ],
)
def test_declared_conjunction_of_causes_is_tested(truth, own, use, reported):
    trial = build_repaired_trial(firing=FIRING)
    runbook = trial.context.runbook
    trial.context.runbook = msgspec.structs.replace(
        runbook,
        ground_truth=msgspec.structs.replace(runbook.ground_truth, causes_join=truth),
        faults=(msgspec.structs.replace(runbook.faults[0], causes_join=own),),
    )
    (found,) = expect_cleared(trial.context, TrialStep(kind="expectCleared", use=use, name="s"), 5, REPAIRED)
    assert ("causesJoin" in found.fix) is reported


# --- what is gone counts, what nobody owes does not


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_completed_jobs_and_pods_are_not_missing(kind):
    trial = build_repaired_trial()
    api = "batch/v1" if kind == "Job" else "v1"
    ending = {"apiVersion": api, "kind": kind, "metadata": {"name": "once", "namespace": "shop"}}
    objects = (ending, config("kept"))
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, objects=objects)
    assert judge_resolution(wait_until(trial, 1400.0).context, REPAIRED).reasons == ("ConfigMap/kept is gone",)
    trial.cluster.create(config("kept"))
    assert judge_resolution(trial.context, REPAIRED).answer == "True"


@pytest.mark.parametrize("role", ["Cause", "Trigger", "Distractor"])
def test_removals_are_exempt_only_while_fault_is_active(role):
    """A distractor that was taken back has taken nothing away any more."""
    trial = build_repaired_trial(fault("a"), fault("d", role))
    trial.context.runbook = msgspec.structs.replace(trial.context.runbook, objects=(config("d"),))
    change = Change.from_json({"patch": {"target": "ConfigMap/d", "type": "Merge", "patch": {"data": None}}})
    trial.context.engine.do(change, ordinal=29999, group="Fault/d")
    lost = judge_resolution(wait_until(trial, 1400.0).context, REPAIRED).reasons
    assert ("ConfigMap/d no longer has k" in lost) is (role == "Cause")
    context = trial.context.engine._context
    Engine(context, trial.clock, ClusterStore(trial.cluster, "kit", "t"), "t").undo_group("Fault/d")
    trial.context.engine = Engine(context, trial.clock, ClusterStore(trial.cluster, "kit", "t"), "t")
    trial.cluster.patch(Reference("ConfigMap", "d", "shop"), {"data": None})
    assert "ConfigMap/d no longer has k" in judge_resolution(trial.context, REPAIRED).reasons


def test_solution_that_deletes_an_object_is_reported():
    trial = build_repaired_trial()
    solution = Solution(name="s", changes=(Change.from_json({"delete": {"target": "ConfigMap/a"}}),))
    trial.context.runbook = msgspec.structs.replace(
        trial.context.runbook, objects=(config("a"),),
        procedures=(Procedure(use="Solution", name="s", solution=solution),),
    )  # fmt: skip
    trial.cluster.delete(Reference("ConfigMap", "a", "shop"))
    (found,) = expect_cleared(trial.context, TrialStep(kind="expectCleared", use="Solution", name="s"), 5, REPAIRED)
    assert (found.code, found.observed) == ("SK411", "ConfigMap/a is gone after 600 s")


@pytest.mark.parametrize(("kind", "reported"), [("NetworkPolicy", True), ("ConfigMap", False)])
def test_repair_must_not_make_a_policy(kind, reported):
    trial = build_repaired_trial()
    group = {"NetworkPolicy": "networking.k8s.io/v1"}.get(kind, "v1")
    made = {"apiVersion": group, "kind": kind, "metadata": {"name": "np-1"}}
    trial.context.engine.do(Change.from_json({"create": made}), ordinal=39999, group="Solution/s")
    reasons = judge_resolution(wait_until(trial, 1400.0).context, REPAIRED).reasons
    assert (f"{kind}/np-1 restricts the app" in reasons) is reported

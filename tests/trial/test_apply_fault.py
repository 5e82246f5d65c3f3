"""Application of one fault: changes, injector proofs, rollouts, and blame, in order."""

import msgspec
import pytest

from scenario_kit.errors import InfrastructureError, Rejected
from scenario_kit.model import Change, Check, Component, Fault, Severity, TrialStep
from scenario_kit.model.authored.scenario import FaultStart, OnAlert, Rollout
from scenario_kit.model.kubernetes.reference import Reference
from scenario_kit.trial.engine.checks import answer_check, await_checks, await_until
from scenario_kit.trial.engine.progress import FaultProgress
from scenario_kit.trial.injection.apply_fault import FAULT, STEP, apply_fault
from scenario_kit.trial.injection.inject import inject
from tests.trial.test_inject import TrialHarness, config, fault


def thing(kind, name, api="v1", **fields):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop"}, **fields}


def deployment(name, kind="Deployment"):
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": []}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    return thing(kind, name, "apps/v1", spec=spec)


def build_patch(target, spec):
    return Change.from_json({"patch": {"target": target, "type": "Merge", "patch": spec}})


def receipts(context, prefix=""):
    return [
        (r.ordinal, r.group, r.change.operation.keyword, r.change.target, r.causal)
        for r in context.engine.list_receipts(prefix)
    ]


# --- the order of changes


def test_ordinals_follow_from_step_fault_and_position():
    two = msgspec.structs.replace(
        fault("b"), changes=(*fault("b").changes, build_patch("ConfigMap/a", {"data": {"other": "x"}}))
    )
    stage = TrialHarness(fault("a"), two)
    context = stage.context()
    apply_fault(context, two, 3)
    first = 3 * STEP + FAULT
    assert receipts(context) == [
        (first, "Fault/b", "patch", "ConfigMap/b", True),
        (first + 1, "Fault/b", "patch", "ConfigMap/a", True),
    ]
    writes = len([r for r in stage.cluster.requests if r[0] == "patch"])
    apply_fault(stage.context(), two, 3)
    assert len([r for r in stage.cluster.requests if r[0] == "patch"]) == writes, "again is nothing"


@pytest.mark.parametrize(
    ("drop", "reconnect", "callers", "restarted"),
    [
        (False, "None", ("Deployment/cart",), []),
        (True, "None", ("Deployment/cart",), ["Deployment/web", "StatefulSet/db"]),
        (False, "Callers", ("Deployment/cart",), ["Deployment/cart"]),
        (True, "Callers", ("Deployment/cart",), ["Deployment/web", "StatefulSet/db", "Deployment/cart"]),
        (False, "Callers", (), []),
    ],
)
def test_changes_restart_their_workloads_and_callers(drop, reconnect, callers, restarted):
    written = (
        build_patch("StatefulSet/db", {"spec": {"replicas": 3}}),
        build_patch("Deployment/web", {"spec": {"replicas": 3}}),
        build_patch("ConfigMap/a", {"data": {"k": "bad"}}),
        Change.from_json({"scale": {"target": "Deployment/other", "replicas": 1}}),
    )
    rollout = Rollout(drop_old=drop, reconnect=reconnect)
    broken = msgspec.structs.replace(fault("a"), changes=written, rollout=rollout, callers=callers)
    stage = TrialHarness(broken)
    for name in ("web", "cart", "other"):
        stage.cluster.create(deployment(name))
    stage.cluster.create(deployment("db", "StatefulSet"))
    context = stage.context()
    apply_fault(context, broken, 1)
    helped = [r for r in context.engine.list_receipts() if r.change.operation.restarts]
    assert [r.change.target for r in helped] == restarted
    assert [r.ordinal for r in helped] == [STEP + 100 + i for i in range(len(restarted))]
    assert all(r.change.operation.drop_old and not r.causal and r.group == "Fault/a" for r in helped)
    assert context.injected_at("a") == 1000.0


def test_command_is_undone_where_first_command_is_recorded():
    undo = (Change.from_json({"scale": {"target": "Deployment/web", "replicas": 2}}),)
    scale = Change.from_json({"scale": {"target": "Deployment/web", "replicas": 0}})
    stage = TrialHarness(fault("a"))
    stage.cluster.create(deployment("web"))
    context, seen = stage.context(), []
    context.engine.do = lambda change, **more: seen.append((change.operation.keyword, more["undo"]))
    run = Change.from_json({"run": {"client": "cli", "command": ["x"]}})
    for changes, where in (((scale, run, run), 1), ((run, scale), 0), ((scale,), 0)):
        seen.clear()
        apply_fault(context, msgspec.structs.replace(fault("a"), changes=changes, undo=undo), 0)
        assert [u == undo for _, u in seen] == [i == where for i in range(len(changes))]
        assert [u for i, (_, u) in enumerate(seen) if i != where] == [()] * (len(changes) - 1)


def test_no_change_while_infrastructure_is_unhealthy():
    stage = TrialHarness(fault("a"))
    context = stage.context()
    context.health = lambda: ["etcd is slow", "no disk"]
    with pytest.raises(InfrastructureError, match="etcd is slow; no disk"):
        apply_fault(context, fault("a"), 0)
    assert receipts(context) == []


# --- checks have deadlines of their own


def key(value, within=60, name="a"):
    return Check.from_json({"object": {"ref": f"ConfigMap/{name}", "path": "data.k", "equals": value},
                            "withinSeconds": within})  # fmt: skip


def set_key_at(stage, at, value="bad", name="a"):
    """The key becomes that at an instant."""
    wait = stage.clock.wait

    def passing(until):
        now = wait(until)
        if now >= at:
            stage.cluster.patch(Reference("ConfigMap", name, "shop"), {"data": {"k": value}})
        return now

    stage.clock.wait = passing
    return stage


@pytest.mark.parametrize(
    ("turns", "within", "answered", "end"),
    [
        (1000, 60, "True", 1015.0),
        (1045, 60, "True", 1045.0),
        (1060, 60, "True", 1060.0),
        (1061, 60, "False", 1060.0),
        (1010, 0, "False", 1000.0),
    ],
)
def test_checks_run_each_tick_until_deadline(turns, within, answered, end):
    stage = set_key_at(TrialHarness(fault("a")), turns)
    context = stage.context()
    assert [r.answer for r in await_checks(context, [key("bad", within)])] == [answered]
    assert stage.clock.now() == end


def test_passed_checks_count_with_own_times():
    stage = TrialHarness(fault("a"))
    set_key_at(stage, 1030)
    results = await_checks(stage.context(), [key("good", 60), key("bad", 60), key("worse", 90), key("bad", 15)])
    assert [r.answer for r in results] == ["True", "True", "False", "False"]
    assert [r.observed for r in results] == ["'good'", "'bad'", "'bad'", "'good'"]
    assert [r.at for r in results] == [1000.0, 1030.0, 1090.0, 1015.0]
    assert stage.clock.now() == 1090.0


def test_no_checks_are_answered_at_once():
    stage = TrialHarness(fault("a"))
    assert await_checks(stage.context(), []) == []
    assert stage.clock.now() == 1000.0


def test_followup_check_has_deadline_of_its_change():
    stage = TrialHarness(fault("a"))
    until = Change.from_json({**fault("a").changes[0].to_json(), "until": {
        "check": key("bad", 600).to_json(), "withinSeconds": 45}}).until  # fmt: skip
    assert await_until(stage.context(), until).answer == "False"
    assert stage.clock.now() == 1045.0


def test_answer_is_of_the_app_of_the_trial():
    stage = TrialHarness(fault("a"))
    stage.runbook = msgspec.structs.replace(stage.runbook, namespaces={"stores": "shop-stores"})
    stage.cluster.put({**config("x"), "metadata": {"name": "x", "namespace": "shop-stores"}})
    check = Check.from_json({"object": {"ref": "stores/ConfigMap/x", "path": "data.k", "equals": "good"}})
    assert (answer_check(stage.context(), check, 7.0).answer, answer_check(stage.context(), check, 7.0).at) == (
        "True",
        7.0,
    )


# --- proofs


@pytest.mark.parametrize(("turns", "codes", "end"), [(1060, [], 1060.0), (1061, ["SK304"], 1060.0), (1016, [], 1030.0)])
def test_effect_check_has_a_deadline(turns, codes, end):
    stage = TrialHarness(fault("a", desired="worse"))
    set_key_at(stage, turns, "worse")
    findings, checks = stage.run()
    assert [f.code for f in findings] == codes
    assert len(checks) == (0 if codes else 1)
    assert stage.clock.now() == end
    progress = stage.context().progress().faults["a"]
    assert progress.effective_at == (None if codes else end)
    assert (progress.step, progress.injected_at) == (0, 1000.0)


def test_missing_effects_are_reported_and_passed_checks_kept():
    broken = msgspec.structs.replace(fault("a"), effect=(key("worse", 30), key("bad", 30), key("worst", 60)))
    stage = TrialHarness(broken)
    findings, checks = stage.run()
    assert [f.code for f in findings] == ["SK304"]
    assert findings[0].severity == Severity.ERROR
    assert findings[0].message == "injecting 'a' (key-wrong on ConfigMap/a) has no measurable effect"
    assert findings[0].observed.endswith(": 'bad'")
    assert [c.observed for c in checks] == ["'bad'"]
    assert list(stage.context().progress().faults["a"].checks) == ["1"]
    assert stage.clock.now() == 1030.0


def chaos_fault():
    spec = {"mode": "all", "selector": {"labelSelectors": {"app": "web"}}, "action": "pod-failure"}
    experiment = thing("PodChaos", "x", "chaos-mesh.org/v1alpha1", spec=spec)
    return Fault(name="a", type="down", version=1, target=Reference("Deployment", "web"), effect=(key("bad", 30),),
    entities=(),
                 changes=(Change.from_json({"chaos": experiment}),))  # fmt: skip


POD = thing("Pod", "web-1", spec={}, status={"phase": "Running", "containerStatuses": [{"containerID": "c"}]})
POD["metadata"]["labels"] = {"app": "web"}


def claim_injection_from(stage, at):
    """From an instant on Chaos Mesh claims that every experiment is injected."""
    get = stage.cluster.get

    def with_claim(ref):
        found = get(ref)
        if found and ref.kind == "PodChaos" and stage.clock.now() >= at:
            record = {"id": "shop/web-1", "phase": "Injected", "injectedCount": 1}
            found["status"] = {"experiment": {"containerRecords": [record]}}
        return found

    stage.cluster.get = with_claim
    return stage


@pytest.mark.parametrize(("well", "blamed"), [(True, "SK304"), (False, "")])
def test_missing_effect_blames_author_only_if_injector_is_healthy(well, blamed):
    stage = claim_injection_from(TrialHarness(chaos_fault()), 1000)
    stage.cluster.put(config("a"))
    stage.cluster.put(POD)
    context = stage.context()
    if not well:
        context.health = lambda: [] if stage.clock.now() < 1030 else ["the chaos daemon died"]
        with pytest.raises(InfrastructureError, match="the chaos daemon died"):
            inject(context, TrialStep(kind="inject"), 0, 1000.0)
    else:
        findings, _ = inject(context, TrialStep(kind="inject"), 0, 1000.0)
        assert [f.code for f in findings] == [blamed]


def test_fault_without_chaos_is_blamed_despite_unhealthy_injector():
    stage = TrialHarness(fault("a", desired="worse"))
    context = stage.context()
    context.health = lambda: [] if stage.clock.now() < 1060 else ["the chaos daemon died"]
    findings, _ = inject(context, TrialStep(kind="inject"), 0, 1000.0)
    assert [f.code for f in findings] == ["SK304"]


@pytest.mark.parametrize(
    ("claims", "raised", "end"), [(1000, False, 1000.0), (1100, False, 1105.0), (1130, True, 1120.0)]
)
def test_chaos_mesh_has_two_minutes_to_claim_an_injection(claims, raised, end):
    stage = claim_injection_from(TrialHarness(chaos_fault()), claims)
    stage.cluster.put(config("a"))
    stage.cluster.put(POD)
    if raised:
        with pytest.raises(InfrastructureError, match=r"did not inject .* within 120 s: no record"):
            apply_fault(stage.context(), chaos_fault(), 0)
    else:
        apply_fault(stage.context(), chaos_fault(), 0)
    assert stage.clock.now() == end


def test_waiting_target_pods_are_reported():
    broken = msgspec.structs.replace(fault("a", desired="worse"), target=Reference("Deployment", "web"))
    stage = TrialHarness(broken)
    stage.runbook = msgspec.structs.replace(
        stage.runbook,
        app=msgspec.structs.replace(
            stage.runbook.app,
            components=(Component(name="web", workload=Reference("Deployment", "web"), service="Service/web"),),
        ),
    )
    full = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    stage.cluster.put(thing("Pod", "web-7d9f8b6c54-x2x4z", spec={}, status={"conditions": [full]}))
    (found,), _ = stage.run()
    assert found.observed.endswith("; pods of Deployment/web wait: Unschedulable: no room")


def test_chaos_mesh_rejection_is_an_authoring_error():
    stage = TrialHarness(fault("a"))
    context = stage.context()

    def refuse(*_, **__):
        raise Rejected("bad delay", by="Chaos Mesh")

    context.engine.do = refuse
    (found,), _ = inject(context, TrialStep(kind="inject"), 0, 1000.0)
    assert (found.code, found.severity, found.observed) == ("SK121", Severity.ERROR, "bad delay")
    assert found.message == "injecting 'a' (key-wrong on ConfigMap/a) is refused by Chaos Mesh"


def test_fault_without_change_is_sk304():
    stage = TrialHarness(fault("a"))
    stage.cluster.patch(Reference("ConfigMap", "a", "shop"), {"data": {"k": "bad"}})
    stage.runbook = msgspec.structs.replace(
        stage.runbook, faults=(msgspec.structs.replace(fault("a"), effect=(key("worse"),)),)
    )
    (found,), _ = stage.run()
    assert (found.code, found.expected) == ("SK304", "a change of the object")
    assert "leaves shop/ConfigMap/a as it was" in found.observed


# --- deadlines of what is waited for


def build_fault_on_alert(seconds=None, name="d"):
    return fault(
        name,
        FaultStart(on_alert=OnAlert(name="Errors", entity=Reference("Deployment", "web"), within_seconds=seconds)),
    )


@pytest.mark.parametrize(
    ("faults", "alert_after", "codes", "end"),
    [
        ((fault("a"), build_fault_on_alert(120)), 120.0, [], 1120.0),
        ((fault("a"), build_fault_on_alert(120)), 121.0, ["SK331"], 1120.0),
        # counted from the latest injection, not from the first
        ((fault("a"), fault("b", FaultStart(after_seconds=60)), build_fault_on_alert(120)), 180.0, [], 1180.0),
        ((fault("a"), fault("b", FaultStart(after_seconds=60)), build_fault_on_alert(120)), 181.0, ["SK331"], 1180.0),
        # what the rule may need: 60 s for, 60 s range, 240 s on the way
        ((fault("a"), build_fault_on_alert()), None, ["SK331"], 1360.0),
    ],
)
def test_fault_on_alert_fails_after_its_deadline(faults, alert_after, codes, end):
    stage = TrialHarness(*faults, alert_after=alert_after)
    findings, _ = stage.run()
    assert [f.code for f in findings] == codes
    assert stage.clock.now() == pytest.approx(end, abs=60 if alert_after is None or not codes else 0)
    if codes:
        assert findings[0].severity == Severity.ERROR
        assert findings[0].message.startswith("fault 'd' never started: Errors on Deployment/web")


def test_missing_start_alert_lists_firing_alerts():
    stage = TrialHarness(
        fault("a"), fault("d", FaultStart(on_alert=OnAlert(name="Other", within_seconds=120))), alert_after=60.0
    )
    (found,), _ = stage.run()
    assert found.observed == "firing after 120 s: Errors on Deployment/web"
    assert found.expected == "Other within 120 s of the injection before it"
    (found,), _ = TrialHarness(fault("a"), build_fault_on_alert(120), alert_after=None).run()
    assert found.observed == "firing after 120 s: nothing"


def test_alerts_are_checked_every_virtual_minute_or_wall_clock_tick():
    for clock, end in (("Virtual", 1120.0), ("Wall", 1105.0)):
        stage = TrialHarness(fault("a"), build_fault_on_alert(600), alert_after=95.0)
        context = stage.context()
        context.spec = msgspec.structs.replace(context.spec, clock=clock)
        inject(context, TrialStep(kind="inject"), 0, 1000.0)
        assert context.injected_at("d") == pytest.approx(end, abs=20)


def test_fault_progress_records_step_and_injection_time():
    stage = TrialHarness(fault("a"), fault("b"))
    stage.run(faults=("a",))
    assert stage.context().progress().proofs == 1
    stage.run(index=1)
    progress = stage.context().progress()
    assert progress.proofs == 2
    assert {n: (p.step, p.effective_at) for n, p in progress.faults.items()} == {"a": (0, 1000.0), "b": (1, 1000.0)}
    assert isinstance(progress.faults["a"], FaultProgress)

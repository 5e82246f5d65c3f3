"""Deploy and teardown of the app: order, waits, deadlines, and blame."""

import msgspec
import pytest

from scenario_kit.changes.undo import Blocked
from scenario_kit.errors import Forbidden, InfrastructureError, NotFound, Rejected
from scenario_kit.judge.repair.invariants import Guarded
from scenario_kit.model import Change, Check, Fault, Procedure, Reference, Severity, Solution
from scenario_kit.model.authored.fault import Entity
from scenario_kit.schema.writable import APP_ROLE, OWNED
from scenario_kit.testing import FakeClock, FakeCluster, FakeMetrics
from scenario_kit.trial import deploy as module
from scenario_kit.trial.clean_room import expect_clean, snapshot
from scenario_kit.trial.deploy import deploy, tear_down
from scenario_kit.trial.engine.baseline import Baseline
from tests.trial.test_alert_steps import Trial, config, fault

RBAC = "rbac.authorization.k8s.io"


def thing(kind, name, namespace="shop", api="v1", meta=None, **fields):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | (meta or {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def web(**status):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return thing("Deployment", "web", api="apps/v1", spec=spec, status=status)


READY = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}


class App(Trial):
    """An app of these objects before deployment; its Deployment is ready after ``ready`` seconds."""

    def __init__(self, *objects, ready=0.0, faults=(), others=None, virtual=True):
        super().__init__()
        self.ready, self.idled = 1000.0 + ready, []
        self.clock = FakeClock(1000.0, on_advance=self.pass_)
        spec = msgspec.structs.replace(self.context.spec, clock="Virtual" if virtual else "Wall")
        runbook = msgspec.structs.replace(
            self.context.runbook, objects=objects, faults=faults, namespaces=dict(others or {})
        )
        self.context.clock = self.context.engine._clock = self.clock
        self.context.runbook, self.context.spec, self.context.idle = runbook, spec, self.idled.append

    def pass_(self, now):
        ref = Reference("Deployment", "web", "shop")
        if now >= self.ready and self.cluster.get(ref):
            self.cluster.patch(ref, {"status": READY}, subresource="status")

    def created(self):
        return [target for verb, target in self.cluster.requests if verb == "create"]


# --- deploy


def test_deploy_waits_for_all_workloads():
    app = App(web(), thing("Service", "web", spec={"selector": {"app": "web"}}), config("c"), ready=40)
    assert deploy(app.context) == []
    assert app.clock.now() == 1045.0, "looked at in ticks"
    for ref in ("Deployment/web", "Service/web", "ConfigMap/c"):
        assert app.cluster.get(Reference.parse(ref).within("shop")) is not None
    baseline = app.context.baseline()
    assert baseline.namespace_uid == app.cluster.get(Reference("Namespace", "shop"))["metadata"]["uid"]
    assert baseline.ready_at == 1045.0
    assert {(g.kind, g.name) for g in baseline.guards} == {("Deployment", "web"), ("Service", "web")}
    assert baseline.snapshot == {}


def refuse(app, status, message, refused="shop/ConfigMap/c"):
    def before(verb, target):
        if (verb, target) == ("create", refused):
            raise Rejected(message, status=status)

    app.cluster.before = before


@pytest.mark.parametrize("status", [400, 404, 422])
def test_object_that_no_api_server_takes_is_a_mistake_of_the_app(status):
    app = App(web(), config("c"))
    refuse(app, status, 'strict decoding error: unknown field "dta"')
    (found,) = deploy(app.context)
    assert (found.code, found.severity) == ("SK301", Severity.ERROR)
    assert 'unknown field "dta"' in found.observed


@pytest.mark.parametrize(
    ("status", "message"),
    [(403, "exceeded quota"), (422, "spec.ports[0].nodePort: provided port is already allocated")],
)
def test_object_that_this_cluster_does_not_take_now_is_no_mistake(status, message):
    app = App(web(), config("c"))
    refuse(app, status, message)
    with pytest.raises(Rejected):
        deploy(app.context)


@pytest.mark.parametrize("own", ["Namespace/shop", "shop/RoleBinding/oncall"])
def test_refusal_of_what_a_trial_adds_is_no_mistake_of_the_app(own):
    app = App(web())
    refuse(app, 422, "metadata.name: Invalid value", own)
    with pytest.raises(Rejected, match="Invalid value"):
        deploy(app.context)


def test_version_that_is_not_served_is_a_mistake_of_the_app():
    budget = thing("PodDisruptionBudget", "web", api="policy/v1beta1", spec={"minAvailable": 1})
    (found,) = deploy(App(web(), budget).context)
    assert found.code == "SK301"
    assert "policy/v1beta1" in found.observed


def test_deploy_polls_more_often_in_wall_time():
    app = App(web(), ready=4, virtual=False)
    assert deploy(app.context) == []
    assert 1004.0 <= app.clock.now() <= 1006.0


def test_manifests_order_namespaces_access_then_bindings():
    app = App(config("c"), others={"stores": "shop-stores"})
    app.cluster.requests.clear()
    assert deploy(app.context) == []
    created = app.created()
    assert sorted(created[:2]) == ["Namespace/shop", "Namespace/shop-stores"]
    assert sorted(created[2:4]) == ["shop-stores/RoleBinding/oncall", "shop/RoleBinding/oncall"]
    assert created[4:] == ["shop/ConfigMap/c"]
    for name in ("shop", "shop-stores"):
        assert app.cluster.get(Reference("Namespace", name))["metadata"]["labels"] == dict([OWNED])
    binding = app.cluster.get(Reference("RoleBinding", "oncall", "shop", RBAC))
    assert binding["roleRef"] == {"apiGroup": RBAC, "kind": "ClusterRole", "name": "oncall"}
    assert binding["subjects"][0] == {"kind": "User", "name": "oncall", "apiGroup": RBAC}
    assert [s["kind"] for s in binding["subjects"]] == ["User"]


def test_what_makes_pods_is_created_last():
    job = thing("Job", "seed", api="batch/v1", spec={"template": {"spec": {"containers": []}}})
    limits = thing("LimitRange", "bounds", spec={"limits": []})
    app = App(web(), job, limits, thing("ServiceAccount", "web"))
    assert deploy(app.context) == []
    assert {*app.created()[-2:]} == {"shop/Deployment/web", "shop/Job/seed"}


def shared():
    return thing("PriorityClass", "high", "", api="scheduling.k8s.io/v1", value=9)


def test_objects_of_the_whole_cluster_are_made_and_removed_with_the_app():
    app, ref = App(web(), shared()), Reference("PriorityClass", "high", "", "scheduling.k8s.io")
    assert deploy(app.context) == []
    assert app.cluster.get(ref) is not None
    assert tear_down(app.context) == []
    assert app.cluster.get(ref) is None
    assert expect_clean(app.context) == []


def test_an_object_of_the_cluster_that_was_there_before_is_refused():
    app, ref = App(web(), shared()), Reference("PriorityClass", "high", "", "scheduling.k8s.io")
    app.cluster.put(shared())
    with pytest.raises(InfrastructureError, match="PriorityClass/high, which the app brings"):
        deploy(app.context)
    assert app.context.baseline() is None
    tear_down(app.context)
    assert app.cluster.get(ref) is not None


def visible(visibility="Visible"):
    chaos = thing("PodChaos", "x", api="chaos-mesh.org/v1alpha1", spec={"mode": "all", "selector": {}})
    return Fault(name="f", type="t", version=1, target=Reference("Deployment", "web"), visibility=visibility, effect=(),
                 changes=(Change.from_json({"chaos": chaos}),), entities=())  # fmt: skip


def test_solver_may_read_and_delete_visible_chaos():
    app = App(config("c"), faults=(visible(),))
    assert deploy(app.context) == []
    role = app.cluster.get(Reference("Role", "oncall-extra", "shop", RBAC))
    assert role["rules"] == [
        {"apiGroups": ["chaos-mesh.org"], "resources": ["*"], "verbs": ["get", "list", "watch", "delete"]}
    ]
    binding = app.cluster.get(Reference("RoleBinding", "oncall-extra", "shop", RBAC))
    assert binding["roleRef"] == {"apiGroup": RBAC, "kind": "Role", "name": "oncall-extra"}
    assert [s["name"] for s in binding["subjects"]] == ["oncall"]
    created = app.created()
    assert created.index("shop/Role/oncall-extra") < created.index("shop/RoleBinding/oncall-extra")


def test_interrupted_deploy_resumes():
    app = App(web(), config("c"), ready=40)
    app.context.save_baseline(Baseline(snapshot={"Node/x": "1"}))
    app.cluster.create(thing("Namespace", "shop", ""))
    app.cluster.create(config("c"))
    assert deploy(app.context) == []
    assert app.context.baseline().snapshot == {"Node/x": "1"}, "what was there before is known from then"
    again = msgspec.structs.replace(app.context.baseline(), ready_at=7.0)
    app.context.save_baseline(again)
    assert deploy(app.context) == []
    assert app.context.baseline().ready_at == 7.0, "it was ready then"


@pytest.mark.parametrize(("ready", "held"), [(900, True), (916, False)])
def test_app_that_never_becomes_ready_is_a_finding(ready, held):
    app = App(web(), ready=ready)
    found = deploy(app.context)
    if held:
        assert found == []
        return
    assert [(f.code, f.severity, f.message) for f in found] == [
        ("SK301", Severity.ERROR, "the app did not become ready")
    ]
    assert found[0].observed == "not available after 900 s: Deployment/web"
    assert app.clock.now() == 1900.0


def waiting_pod(namespace, name, *, placed):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]} | (
        {"nodeName": "n"} if placed else {}
    )
    full = [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes: Insufficient cpu"}]
    return thing("Pod", name, namespace, spec=spec, status={"phase": "Running"} if placed else {"conditions": full})


@pytest.mark.parametrize("others", [True, False])
def test_app_without_capacity_is_infra(others):
    app = App(web(), ready=5000)
    node = thing("Node", "n", "", spec={}, status={"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}})
    app.cluster.put(node)
    app.cluster.put(waiting_pod("elsewhere" if others else "shop", "a", placed=True))
    app.context.save_baseline(Baseline())
    app.cluster.put(waiting_pod("shop", "b", placed=False))
    if others:
        with pytest.raises(InfrastructureError, match="the cluster is full: 1 pods of the app are unschedulable"):
            deploy(app.context)
    else:
        assert [f.code for f in deploy(app.context)] == ["SK301"]


@pytest.mark.parametrize(
    ("going", "seconds", "refused"), [(False, 0, True), (True, 3, False), (True, 59, False), (True, 60, True)]
)
def test_foreign_namespace_is_refused_unless_terminating(going, seconds, refused):
    app = App(config("c"))
    meta = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]} if going else {}
    app.cluster.put(thing("Namespace", "shop", "", meta=meta))

    def idle(wait):
        app.idled.append(wait)
        if len(app.idled) == seconds:
            app.cluster.patch(Reference("Namespace", "shop"), {"metadata": {"finalizers": None}})

    app.context.idle = idle
    if refused:
        with pytest.raises(InfrastructureError, match="'shop' exists and was not created by scenario-kit"):
            deploy(app.context)
        assert app.context.baseline() is None
        assert app.created()[-1:] != ["shop/ConfigMap/c"]
    else:
        assert deploy(app.context) == []
        assert len(app.idled) == seconds
        assert set(app.idled) <= {1.0}


def stray(namespace):
    chaos = thing("PodChaos", "x", api="chaos-mesh.org/v1alpha1", spec={"selector": {"namespaces": [namespace]}})
    return Change.from_json({"chaos": chaos})


@pytest.mark.parametrize("where", ["changes", "undo", "procedure"])
@pytest.mark.parametrize(("namespace", "codes"), [("kube-system", ["SK150"]), ("shop", []), ("shop-stores", [])])
def test_chaos_outside_the_app_is_refused_before_deploy(where, namespace, codes):
    patch = fault("a").changes[0]
    of = {where: (stray(namespace),)} if where != "procedure" else {}
    broken = msgspec.structs.replace(fault("a"), **{"changes": (patch,), **of})
    app = App(config("c"), faults=(broken,), others={"stores": "shop-stores"})
    if where == "procedure":
        solution = Procedure(use="Solution", name="s", solution=Solution(name="s", changes=(stray(namespace),)))
        app.context.runbook = msgspec.structs.replace(app.context.runbook, procedures=(solution,))
    found = deploy(app.context)
    assert [f.code for f in found] == codes
    assert (app.cluster.get(Reference("Namespace", "shop")) is None) is bool(codes)


# --- the clean room


def binding(name, namespace):
    subjects = [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}]
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    return thing("ClusterRoleBinding", name, "", f"{RBAC}/v1", subjects=subjects, roleRef=ref)


def test_snapshot_contains_cluster_objects_naming_the_app():
    cluster = FakeCluster([
        thing("Node", "n", "", spec={"unschedulable": True}), config("c"), thing("Namespace", "extra", ""),
        thing("PriorityClass", "p", "", "scheduling.k8s.io/v1", value=5), binding("ours", "shop"),
        binding("of others", "elsewhere"), binding("shop", "elsewhere"),
        thing("PersistentVolume", "v", "", spec={"claimRef": {"namespace": "shop-stores", "name": "data"}}),
    ])  # fmt: skip
    before = snapshot(cluster, ("shop", "shop-stores"))
    assert set(before) == {f"ClusterRoleBinding.{RBAC}/ours", "PersistentVolume/v"}
    cluster.patch(
        Reference("ClusterRoleBinding", "ours", "", RBAC), {"subjects": binding("", "shop-stores")["subjects"]}
    )
    after = snapshot(cluster, ("shop", "shop-stores"))
    assert [name for name in before if before[name] != after[name]] == [f"ClusterRoleBinding.{RBAC}/ours"]


@pytest.mark.parametrize("error", [NotFound, Forbidden])
def test_snapshot_omits_unreadable_kinds(error):
    cluster = FakeCluster([binding("ours", "shop")])

    def before(verb, target):
        if (verb, target) == ("list", "ClusterRoleBinding"):
            raise error("no", status=403)

    cluster.before = before
    assert snapshot(cluster, ("shop",)) == {}


def deploy_app(*objects, **more):
    app = App(*objects, **more)
    assert deploy(app.context) == []
    return app


PRIORITY = {"create": thing("PriorityClass", "p", "", "scheduling.k8s.io/v1", value=5)}


def test_teardown_removes_all_objects_and_receipts():
    app = deploy_app(config("c"), others={"stores": "shop-stores"})
    app.context.engine.do(Change.from_json(PRIORITY), ordinal=1, group="Fault/f")
    assert tear_down(app.context) == []
    assert app.cluster.get(Reference("PriorityClass", "p", "", "scheduling.k8s.io")) is None
    for name in ("shop", "shop-stores"):
        assert app.cluster.get(Reference("Namespace", name)) is None
    assert app.context.baseline().undone == ()
    assert app.context.baseline().ready_at is None
    assert app.context.engine.list_receipts() != []
    assert expect_clean(app.context) == []
    assert app.context.engine.list_receipts() == []


def test_leftovers_are_reported_and_receipts_kept():
    app = deploy_app(config("c"))
    app.context.engine.do(Change.from_json(PRIORITY), ordinal=1, group="Fault/f")
    tear_down(app.context)
    app.cluster.put(binding("left", "shop"))
    found = expect_clean(app.context)
    assert [f.severity for f in found] == [Severity.ERROR]
    assert "left" in found[0].message + found[0].observed
    assert app.context.engine.list_receipts() != []


def test_foreign_changes_are_not_leftovers():
    app = App(config("c"))
    for name in ("kept", "removed", "changed"):
        app.cluster.put(thing("PriorityClass", name, "", "scheduling.k8s.io/v1", value=5))
    assert deploy(app.context) == []
    tear_down(app.context)
    app.cluster.put(thing("PriorityClass", "new", "", "scheduling.k8s.io/v1", value=5))
    app.cluster.put(binding("elsewhere", "monitoring"))
    app.cluster.delete(Reference("PriorityClass", "removed", "", "scheduling.k8s.io"))
    app.cluster.patch(Reference("PriorityClass", "changed", "", "scheduling.k8s.io"), {"value": 6})
    assert expect_clean(app.context) == []


@pytest.mark.parametrize(
    ("meanwhile", "messages"),
    [
        ({}, ""),
        ({"metadata": {"labels": {"team": "b"}}}, ""),
        ({"spec": {"unschedulable": True}}, "changed: Node/n"),
    ],
)
def test_only_written_fields_must_be_restored(meanwhile, messages):
    app = App(config("c"))
    app.cluster.put(thing("Node", "n", "", spec={}))
    assert deploy(app.context) == []
    app.context.engine.do(Change.from_json({"cordon": {"target": "Node/n"}}), ordinal=1, group="Fault/f")
    assert tear_down(app.context) == []
    app.cluster.patch(Reference("Node", "n", ""), meanwhile)
    found = expect_clean(app.context)
    assert [f.observed for f in found] == ([messages] if messages else [])


def test_terminating_objects_have_a_minute_in_wall_time():
    app = App(config("c"), virtual=False)
    assert deploy(app.context) == []
    tear_down(app.context)
    volume = Reference("PersistentVolume", "v", "")
    app.cluster.put(thing("PersistentVolume", "v", "", spec={"claimRef": {"namespace": "shop", "name": "data"}}))
    since = app.clock.now()
    app.clock._on_advance = lambda now: app.cluster.delete(volume) if now >= since + 10 else None
    assert expect_clean(app.context) == []
    assert app.clock.now() == since + 10


def test_leftovers_in_app_namespaces_are_reported():
    app = deploy_app(config("c"), others={"stores": "shop-stores"})
    tear_down(app.context)
    app.cluster.put(config("left") | {"metadata": {"name": "left", "namespace": "shop-stores"}})
    assert [("left" in f.message + f.observed) for f in expect_clean(app.context)] == [True]


@pytest.mark.parametrize(("visibility", "reported"), [("Hidden", True), ("Visible", False)])
def test_hidden_experiment_leftovers_are_reported(visibility, reported):
    app = deploy_app(config("c"), faults=(visible(visibility),))
    tear_down(app.context)
    spec = {"selector": {"namespaces": ["shop"]}}
    app.cluster.put(thing("PodChaos", "left", "kit", "chaos-mesh.org/v1alpha1", spec=spec))
    assert bool(expect_clean(app.context)) is reported


@pytest.mark.parametrize(
    ("blocked_until", "virtual", "raised", "at"),
    [(0, True, False, 1000.0), (40, True, False, 1045.0), (40, False, False, 1040.0), (400, True, True, 1300.0)],
)
def test_blocked_undo_is_retried_until_deadline(monkeypatch, blocked_until, virtual, raised, at):
    app = deploy_app(config("c"), virtual=virtual)
    app.clock = app.context.clock = FakeClock(1000.0)
    blocked, seen = [Blocked("Fault/f", "ConfigMap/c", "no")], []
    undo = lambda self: blocked if app.clock.now() < 1000.0 + blocked_until else []  # noqa: E731
    monkeypatch.setattr(type(app.context.engine), "undo_all", undo)
    monkeypatch.setattr(module, "remove", lambda context, deadline: seen.append((context, deadline)))
    if raised:
        with pytest.raises(InfrastructureError, match="undo of Fault/f on ConfigMap/c is blocked: no"):
            tear_down(app.context)
    else:
        assert tear_down(app.context) == []
    assert seen == ([] if raised else [(app.context, 1300.0)])
    assert app.clock.now() == at


def undone(desired):
    check = Check.from_json(
        {"object": {"ref": "ConfigMap/a", "path": "data.k", "equals": desired}, "withinSeconds": 30}
    )
    return Fault(name="a", type="t", version=1, target=Reference("ConfigMap", "a"), effect=(),
    entities=(Entity(ref=Reference("ConfigMap", "a")),),
                 changes=fault("a").changes, undone=(check,))  # fmt: skip


@pytest.mark.parametrize(
    ("desired", "injected", "codes"),
    [("good", True, []), ("bad", True, ["SK306"]), ("bad", False, [])],
)
def test_undone_checks_run_before_app_removal(desired, injected, codes):
    app = deploy_app(config("a"), faults=(undone(desired),))
    if injected:
        app.context.engine.do(fault("a").changes[0], ordinal=1, group="Fault/a")
    found = tear_down(app.context)
    assert [(f.code, f.severity) for f in found] == [(code, Severity.ERROR) for code in codes]
    assert app.cluster.get(Reference("Namespace", "shop")) is None
    if codes:
        assert "the fault 'a' was undone" in found[0].message
    again = tear_down(app.context)
    assert [f.code for f in again] == codes, "asked once; the app is gone by now"


def test_unknown_undone_check_is_not_a_finding():
    query = Check.from_json({"query": {"expr": "up", "is": "AtLeast", "value": 5}, "withinSeconds": 0})
    app = deploy_app(config("a"), faults=(msgspec.structs.replace(undone("good"), undone=(query,)),))
    app.context.metrics = FakeMetrics(lambda *_: [])
    app.context.engine.do(fault("a").changes[0], ordinal=1, group="Fault/a")
    assert tear_down(app.context) == []


# --- who removes what


OWNED_BY = {"ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "u"}]}
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("rest", "requests"),
    [
        ([config("a"), config("b")], ["a", "b"]),
        ([config("a"), thing("Pod", "owned", meta=OWNED_BY)], ["a"]),
        ([config("a"), thing("ConfigMap", "going", meta=GOING)], ["a"]),
        ([thing("Service", "web"), thing("Endpoints", "web"), thing("Endpoints", "other")], ["web", "other"]),
        ([thing("Endpoints", "web")], ["web"]),
        ([thing("RoleBinding", "oncall", api=f"{RBAC}/v1"), config("a")], ["oncall", "a"]),
    ],
)
def test_objects_removed_with_their_owner_are_not_deleted(rest, requests):
    assert [o["metadata"]["name"] for o in module._list_unowned(rest)] == requests


def test_operator_role_is_deleted_before_the_namespace():
    app = deploy_app(config("c"), thing("RoleBinding", APP_ROLE, api=f"{RBAC}/v1"))
    requests = []
    app.cluster.before = lambda verb, target: requests.append(target) if verb == "delete" else None
    module.remove(app.context, 1300.0)
    assert not [target for target in requests[: requests.index("Namespace/shop")] if APP_ROLE in target]
    assert app.cluster.get(Reference("Namespace", "shop")) is None


@pytest.mark.parametrize(("released", "raised"), [(20, False), (400, True)])
def test_removal_timeout_names_object(released, raised):
    app = deploy_app(config("c"), thing("ConfigMap", "held", meta={"finalizers": ["f"]}))
    ref = Reference("ConfigMap", "held", "shop")

    def passing(now):
        if now >= 1000.0 + released and app.cluster.get(ref):
            app.cluster.patch(ref, {"metadata": {"finalizers": None}})

    app.clock = app.context.clock = FakeClock(1000.0, on_advance=passing)
    if raised:
        with pytest.raises(InfrastructureError, match="objects of shop are still there: ConfigMap/held"):
            module.remove(app.context, 1300.0)
    else:
        module.remove(app.context, 1300.0)
        assert app.cluster.get(Reference("Namespace", "shop")) is None


@pytest.mark.parametrize(("virtual", "end"), [(True, 1030.0), (False, 1021.0)])
def test_slow_removal_is_polled_by_clock(virtual, end):
    app = deploy_app(thing("ConfigMap", "held", meta={"finalizers": ["f"]}), virtual=virtual)
    ref = Reference("ConfigMap", "held", "shop")

    def passing(now):
        if now >= 1020.0 and app.cluster.get(ref):
            app.cluster.patch(ref, {"metadata": {"finalizers": None}})

    app.clock = app.context.clock = FakeClock(1000.0, on_advance=passing)
    module.remove(app.context, 1300.0)
    assert app.clock.now() == pytest.approx(end, abs=1.0)


def test_removal_of_missing_app_sends_nothing():
    app = App(config("c"))
    app.cluster.requests.clear()
    module.remove(app.context, 1300.0)
    assert {verb for verb, _ in app.cluster.requests} <= {"get"}


def test_guards_are_recorded_from_the_healthy_app():
    app = deploy_app(web())
    (guard,) = app.context.baseline().guards
    assert guard == Guarded(kind="Deployment", name="web", replicas=1, probes={"web": []}, resources={"web": {}})

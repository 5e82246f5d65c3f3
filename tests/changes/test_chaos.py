"""Chaos objects on the fake cluster: bound to the pods of the moment on both sides, and Schedules, which are not."""

import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.changes.chaos import parse_content_error
from scenario_kit.changes.operations.chaos import Chaos
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Component, Reference
from scenario_kit.model.chaos.kinds import get_experiment, schedule_key
from scenario_kit.testing import FakeClock, FakeCluster

NS = "demo-bcdf"
APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web")),),
)


def run(cluster, name, app):
    """A pod that runs."""
    metadata = {"name": name, "namespace": NS, "labels": {"app": app}}
    spec = {"containers": [{"name": app, "image": f"{app}:1"}]}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    status = {"phase": "Running", "containerStatuses": [{"name": app, "containerID": f"containerd://{name}"}]}
    cluster.patch(Reference("Pod", name, NS), {"status": status}, subresource="status")


@pytest.fixture
def cluster():
    found = FakeCluster()
    for name in (NS, "scenario-kit"):
        found.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for name, app in (("web-1", "web"), ("cart-1", "cart")):
        run(found, name, app)
    return found


@pytest.fixture
def engine(cluster):
    clock = FakeClock()
    context = ChangeContext(cluster=cluster, namespace=NS, app=APP, now=clock.now)
    return Engine(context, clock, ClusterStore(cluster, "scenario-kit", "t1"), "t1")


def partition(peer="cart"):
    side = lambda app: {"mode": "all", "selector": {"namespaces": [NS], "labelSelectors": {"app": app}}}  # noqa: E731
    spec = {"action": "partition", "direction": "both", **side("web"), "target": side(peer)}
    return {
        "apiVersion": "chaos-mesh.org/v1alpha1",
        "kind": "NetworkChaos",
        "metadata": {"name": "net-1"},
        "spec": spec,
    }


def schedule():
    spec = {"schedule": "@every 60s", "type": "NetworkChaos", "networkChaos": partition()["spec"]}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "Schedule", "metadata": {"name": "net-1"}, "spec": spec}


LIVE = Reference("NetworkChaos", "net-1", NS, "chaos-mesh.org")
SCHEDULE = Reference("Schedule", "net-1", NS, "chaos-mesh.org")


def do(engine, manifest):
    return engine.do(Change(Chaos(manifest=manifest)), ordinal=0, group="Fault/main")


def test_bind_with_peers_binds_both_sides(engine, cluster):
    receipt = do(engine, partition())
    spec = cluster.get(LIVE)["spec"]
    assert spec["selector"]["pods"] == {NS: ["web-1"]}
    assert spec["target"]["selector"]["pods"] == {NS: ["cart-1"]}
    assert len(receipt.covered) == 2


@pytest.mark.parametrize("app", ["web", "cart"])
def test_maintain_with_new_pods_on_either_side_rebinds(engine, cluster, app):
    assert not engine.needs_maintenance(["Fault/main"])
    do(engine, partition())
    assert engine.needs_maintenance(["Fault/main"])
    assert not engine.needs_maintenance([])
    assert engine.maintain(["Fault/main"]) == 0
    run(cluster, f"{app}-2", app)
    assert engine.maintain(["Fault/main"]) == 1
    spec = cluster.get(LIVE)["spec"]
    sides = {"web": spec["selector"]["pods"][NS], "cart": spec["target"]["selector"]["pods"][NS]}
    assert sides[app] == [f"{app}-1", f"{app}-2"]
    assert engine.maintain(["Fault/main"]) == 0


def test_maintain_without_pods_on_a_side_replaces_nothing(engine, cluster):
    do(engine, partition())
    before = cluster.get(LIVE)["metadata"]["uid"]
    cluster.delete(Reference("Pod", "cart-1", NS))
    assert engine.maintain(["Fault/main"]) == 0
    assert cluster.get(LIVE)["metadata"]["uid"] == before


def test_maintain_waits_for_successors_of_replaced_pods(cluster):
    class Meanwhile(FakeClock):
        """All pods of one side are gone as soon as time passes."""

        def wait(self, until):
            for pod in cluster.list("Pod", NS, labels={"app": "cart"}):
                cluster.delete(Reference("Pod", pod["metadata"]["name"], NS))
            return super().wait(until)

    clock = Meanwhile()
    context = ChangeContext(cluster=cluster, namespace=NS, app=APP, now=clock.now)
    engine = Engine(context, clock, ClusterStore(cluster, "scenario-kit", "t1"), "t1")
    do(engine, partition())
    run(cluster, "cart-2", "cart")
    assert (engine.maintain(["Fault/main"]), cluster.get(LIVE)) == (0, None)
    assert engine.maintain(["Fault/main"]) == 0
    run(cluster, "cart-3", "cart")
    assert engine.maintain(["Fault/main"]) == 1
    assert cluster.get(LIVE)["spec"]["target"]["selector"]["pods"] == {NS: ["cart-3"]}


@pytest.mark.parametrize("manifest", [partition("nobody"), schedule()])
def test_do_without_pods_on_a_side_is_refused(engine, cluster, manifest):
    if manifest["kind"] == "Schedule":
        cluster.delete(Reference("Pod", "cart-1", NS))
    with pytest.raises(AuthoringError, match="matches no running pod"):
        do(engine, manifest)


def test_schedule_keeps_its_selector(engine, cluster):
    receipt = do(engine, schedule())
    live = cluster.get(SCHEDULE)
    assert live["spec"]["networkChaos"]["selector"] == {"namespaces": [NS], "labelSelectors": {"app": "web"}}
    assert receipt.covered == ()
    assert not engine.needs_maintenance(["Fault/main"])
    assert Engine.read_chaos_state(live) == (True, "")
    run(cluster, "web-2", "web")
    assert engine.maintain(["Fault/main"]) == 0


def test_undo_of_schedule_waits_for_started_experiments(engine, cluster):
    do(engine, schedule())
    child = {**partition(), "metadata": {"name": "net-1-abcde", "namespace": NS, "labels": {"managed-by": "net-1"}}}
    cluster.create(child)
    blocked = engine.undo_all()
    assert "net-1-abcde is still there" in blocked[0].reason
    assert cluster.get(SCHEDULE) is None
    cluster.delete(Reference("NetworkChaos", "net-1-abcde", NS, "chaos-mesh.org"))
    assert engine.undo_all() == []


@pytest.mark.parametrize(
    ("kind", "key"),
    [("NetworkChaos", "networkChaos"), ("IOChaos", "ioChaos"), ("HTTPChaos", "httpChaos"), ("JVMChaos", "jvmChaos")],
)
def test_schedule_experiment_is_read_from_its_spec(kind, key):
    assert schedule_key(kind) == key
    spec = {"type": kind, key: {"mode": "all"}}
    assert get_experiment({"kind": "Schedule", "spec": spec}) == (kind, {"mode": "all"}, ("spec", key))


@pytest.mark.parametrize(
    ("obj", "kind"),
    [
        ({}, ""),
        ({"kind": "PodChaos"}, "PodChaos"),
        ({"kind": "PodChaos", "spec": ["mode"]}, "PodChaos"),
        ({"kind": "Schedule", "spec": "PodChaos"}, ""),
        ({"kind": "Schedule", "spec": {"podChaos": {"mode": "all"}}}, ""),
        ({"kind": "Schedule", "spec": {"type": "PodChaos", "ioChaos": {}}}, "PodChaos"),
        ({"kind": "Schedule", "spec": {"type": "PodChaos", "podChaos": ["mode"]}}, "PodChaos"),
    ],
)
def test_malformed_experiment_has_empty_spec(obj, kind):
    assert get_experiment(obj)[:2] == (kind, {})


def build_pod_chaos(**selector):
    """An experiment on pods of the app that fit the whole selector."""
    spec = {"action": "pod-failure", "mode": "all", "selector": {"namespaces": [NS], **selector}}
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "pod-1"}, "spec": spec}


POD_CHAOS = Reference("PodChaos", "pod-1", NS, "chaos-mesh.org")


@pytest.mark.parametrize(
    ("selector", "bound"),
    [
        ({"expressionSelectors": [{"key": "app", "operator": "In", "values": ["cart"]}]}, ["cart-1"]),
        ({"expressionSelectors": [{"key": "app", "operator": "NotIn", "values": ["cart"]}]}, ["web-1"]),
        ({"fieldSelectors": {"metadata.name": "web-1"}}, ["web-1"]),
        ({"podPhaseSelectors": ["!Pending"]}, ["cart-1", "web-1"]),
        ({"labelSelectors": {"app": "web"}, "podPhaseSelectors": ["Running"]}, ["web-1"]),
        ({"pods": {NS: ["cart-1", "ghost"]}}, ["cart-1"]),
    ],
)
def test_selection_evaluates_all_selector_fields(engine, cluster, selector, bound):
    do(engine, build_pod_chaos(**selector))
    assert sorted(cluster.get(POD_CHAOS)["spec"]["selector"]["pods"][NS]) == bound


@pytest.mark.parametrize(
    "selector",
    [
        {"annotationSelectors": {"chaos": "on"}},
        {"podPhaseSelectors": ["Failed"]},
        {"fieldSelectors": {"spec.nodeName": "worker-7"}},
        {"nodeSelectors": {"zone": "z"}},
        {"expressionSelectors": [{"key": "app", "operator": "DoesNotExist"}]},
    ],
)
def test_selector_without_pods_reports_sk111(engine, cluster, selector):
    with pytest.raises(AuthoringError) as refused:
        do(engine, build_pod_chaos(**selector))
    assert [finding.code for finding in refused.value.findings] == ["SK111"]
    assert cluster.get(POD_CHAOS) is None


def test_selector_with_unknown_node_is_refused(engine):
    with pytest.raises(AuthoringError, match="worker-7"):
        do(engine, build_pod_chaos(nodes=["worker-7"]))


@pytest.mark.parametrize(("mode", "value", "bound"), [("one", "", 1), ("fixed", "1", 1), ("fixed-percent", "51", 2)])
def test_mode_limits_selection_to_oldest_pods(engine, cluster, mode, value, bound):
    manifest = build_pod_chaos()
    manifest["spec"] |= {"mode": mode, "value": value}
    do(engine, manifest)
    spec = cluster.get(POD_CHAOS)["spec"]
    assert (spec["mode"], len(spec["selector"]["pods"][NS])) == ("all", bound)


def test_bound_schedule_has_explicit_namespaces(engine, cluster):
    manifest = schedule()
    del manifest["spec"]["networkChaos"]["selector"]["namespaces"]
    do(engine, manifest)
    assert cluster.get(SCHEDULE)["spec"]["networkChaos"]["selector"]["namespaces"] == [NS]


def test_experiment_expires_after_its_duration_in_trial_time(cluster, engine):
    short = partition()
    short["spec"]["duration"] = "2m"
    do(engine, short)
    assert engine.record_expired(60.0) == 120.0
    assert not engine.has_expired("Fault/main")
    assert engine.record_expired(120.0) is None
    assert engine.has_expired("Fault/main")
    assert "annotations" not in cluster.get(LIVE)["metadata"], "the manager ends it"
    run(cluster, "web-2", "web")
    assert not engine.needs_maintenance(["Fault/main"])
    assert engine.maintain(["Fault/main"]) == 0
    assert engine.undo_all() == []
    assert cluster.get(LIVE) is None


@pytest.mark.parametrize("spec", [{}, {"duration": "soon"}, {"duration": "1m", "action": "pod-kill"}])
def test_experiment_without_duration_does_not_expire(engine, spec):
    manifest = partition()
    manifest["spec"] |= spec
    do(engine, manifest)
    assert engine.record_expired(1e9) is None


@pytest.mark.parametrize(
    "trouble",
    [
        "shop/web-1: lookup redis.default on 10.96.0.10:53: no such host",
        'shop/web-1: time: invalid duration ""',
        'shop/web-1: time: missing unit in duration "5"',
        'shop/web-1: strconv.ParseFloat: parsing "": invalid syntax',
        "shop/web-1: action: netem: unknown action",
        "shop/web-1: mysql connector version 9 is not supported",
        "shop/web-1: unable to parse label selector",
        'shop/web-1: parse port strconv.ParseUint: parsing "x": invalid syntax',
        "shop/web-1: rpc error: code = InvalidArgument desc = rule 'r' has no METHOD",
        "shop/db-0: rpc error: code = Unknown desc = toda startup takes too long or an error occurs: path is the root",
        "db: rpc error: code = Unknown desc = toda update RPC failed: [-32602] Invalid params: 'x' is no duration",
        "db: rpc error: code = Unknown desc = toda startup takes too long or an error occurs: source: /x, target: "
        "/__chaosfs__x__",
    ],
)
def test_parse_content_error_returns_content_errors(trouble):
    assert parse_content_error(trouble)


@pytest.mark.parametrize(
    "trouble",
    [
        "",
        "shop/web-1: cannot find daemonIP on node worker-1 in related Endpoints",
        'shop/web-1: rpc error: code = Unavailable desc = connection error: desc = "transport: dial tcp: refused"',
        "shop/web-1: dial tcp: lookup chaos-daemon: no such host",
        "shop/web-1: context deadline exceeded",
        'shop/web-1: Internal error occurred: failed calling webhook "vpodchaos.kb.io": not supported',
        "shop/web-1: Operation cannot be fulfilled on podnetworkchaos: the object has been modified",
        "shop/web-1: rpc error: code = Unknown desc = tc: no such device",
        "pod web-1 not found, InvalidArgument",
    ],
)
def test_parse_content_error_ignores_transport_errors(trouble):
    assert parse_content_error(trouble) == ""

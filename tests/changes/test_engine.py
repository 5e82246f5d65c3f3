"""Changes, done and undone on the fake cluster: receipts come first, crashes change nothing, other writers survive."""

import contextlib
import copy

import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine, NoEffect
from scenario_kit.changes.three_way_restore import strip_to_desired
from scenario_kit.errors import AuthoringError, Unreachable
from scenario_kit.model import App, Change, Component, FlagStore, Reference
from scenario_kit.testing import FakeClock, FakeCluster

NS = "demo-bcdf"
APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web"), service="Service/web"),),
    flags=FlagStore(config_map="flags", key="flags.json", restart=(Reference("Deployment", "web"),)),
)
FLAGS = (
    '{"flags": {"slow": {"variants": {"on": true, "off": false}, "defaultVariant": "off"},'
    ' "odd": {"variants": {"a": 1, "b": 2}, "defaultVariant": "a"}}}'
)


def objects():
    meta = lambda name: {"name": name, "namespace": NS}  # noqa: E731
    container = {
        "name": "web",
        "image": "web:1",
        "env": [{"name": "ADDR", "value": "cart:80"}, {"name": "X", "value": "1"}],
    }
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "web"}}
    spec = {"replicas": 2, "selector": selector, "template": template}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web"), "spec": spec},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": meta("web"),
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta("flags"),
            "data": {"flags.json": FLAGS, "other": "kept"},
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta("password"), "data": {"key": "c2VjcmV0"}},
    ]


class Lab:
    """A fake cluster with a small app, and an engine that can be started again at any time."""

    def __init__(self):
        self.cluster = FakeCluster()
        self.clock = FakeClock()
        for name in (NS, "scenario-kit"):
            self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for obj in objects():
            self.cluster.create(copy.deepcopy(obj))
        self.before = self.state()
        self.engine = self.start()

    def start(self, cluster=None):
        cluster = cluster or self.cluster
        context = ChangeContext(cluster=cluster, namespace=NS, app=APP, now=self.clock.now)
        return Engine(context, self.clock, ClusterStore(cluster, "scenario-kit", "t"), "t")

    def state(self):
        kinds = ("Deployment", "Service", "ConfigMap", "Secret", "NetworkPolicy")
        found = [o for k in kinds for o in self.cluster.list(k, NS)]
        return {(o["kind"], o["metadata"]["name"]): strip_to_desired(o) for o in found}

    def get(self, text):
        return self.cluster.get(Reference.parse(text).within(NS))


@pytest.fixture
def lab():
    return Lab()


POLICY = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "p"},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
}
CHANGES = {
    "json patch": {
        "patch": {
            "target": "Service/web",
            "type": "Json",
            "patch": [{"op": "replace", "path": "/spec/ports/0/targetPort", "value": 9999}],
        }
    },
    "merge patch": {"patch": {"target": "Deployment/web", "type": "Merge", "patch": {"spec": {"replicas": 5}}}},
    "strategic patch": {
        "patch": {
            "target": "Deployment/web",
            "type": "Strategic",
            "patch": {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:absent"}]}}}},
        }
    },
    "create": {"create": POLICY},
    "delete": {"delete": {"target": "Service/web"}},
    "scale": {"scale": {"target": "Deployment/web", "replicas": 0}},
    "set flag": {"setFlag": {"flag": "slow", "variant": "on"}},
    "set flag to a new variant": {"setFlag": {"flag": "slow", "variant": "7", "value": 7}},
    "secret": {"patch": {"target": "Secret/password", "type": "Merge", "patch": {"data": {"key": "d3Jvbmc="}}}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_do_and_undo_restore_the_object(lab, change):
    lab.engine.do(Change.from_json(change), ordinal=1, group="Fault/f")
    assert lab.state() != lab.before
    assert lab.engine.undo_group("Fault/f") == []
    after = lab.state()
    if "setFlag" in change:  # the reader was restarted: its template keeps the time of that
        after["Deployment", "web"]["spec"]["template"]["metadata"].pop("annotations", None)
        lab.before["ConfigMap", "flags"]["data"].pop("flags.json")
        document = after["ConfigMap", "flags"]["data"].pop("flags.json")
        assert '"defaultVariant": "off"' in document
        assert '"7"' not in document
    assert after == lab.before
    assert lab.engine.undo_all() == [], "undoing twice is the same as once"


def test_undo_removes_created_object_recreated_by_another_undo(lab):
    lab.engine.do(Change.from_json({"create": POLICY}), ordinal=1, group="Fault/f")
    lab.engine.do(Change.from_json({"delete": {"target": "NetworkPolicy/p"}}), ordinal=2, group="Solution/s")
    assert lab.engine.undo_all() == []
    assert lab.state() == lab.before


def test_undo_removes_restarted_object_recreated_by_another_undo(lab):
    made = copy.deepcopy(lab.get("Deployment/web"))
    made["metadata"] = {"name": "batch", "namespace": NS}
    lab.engine.do(Change.from_json({"create": made}), ordinal=1, group="Fault/f")
    restart = Change.from_json({"restart": {"target": "Deployment/batch"}})
    lab.engine.do(restart, ordinal=2, group="Decoy/d")
    assert lab.engine.undo_group("Decoy/d") == []
    lab.engine.do(Change.from_json({"delete": {"target": "Deployment/batch"}}), ordinal=3, group="Solution/s")
    assert lab.engine.undo_all() == []
    assert lab.state() == lab.before


def test_undo_keeps_foreign_object_of_same_name(lab):
    lab.engine.do(Change.from_json({"create": POLICY}), ordinal=1, group="Fault/f")
    lab.cluster.delete(Reference("NetworkPolicy", "p", NS))
    other = {**POLICY, "metadata": {"name": "p", "namespace": NS}, "spec": {"podSelector": {"matchLabels": {"a": "b"}}}}
    lab.cluster.create(other)
    assert lab.engine.undo_all() == []
    assert lab.get("NetworkPolicy/p")["spec"] == other["spec"]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_crash_after_any_write_has_same_result(change):
    done = Lab()
    done.engine.do(Change.from_json(change), ordinal=1, group="Fault/f")
    for survive in range(6):
        lab = Lab()
        dying = Dying(lab.cluster, survive)
        try:
            lab.start(dying).do(Change.from_json(change), ordinal=1, group="Fault/f")
        except Unreachable:
            lab.start().do(Change.from_json(change), ordinal=1, group="Fault/f")
        assert without_times(lab.state()) == without_times(done.state()), f"died after {survive} writes"
        assert lab.start().undo_all() == []
        if "setFlag" not in change:
            assert lab.state() == lab.before


@pytest.mark.parametrize(("survive", "at"), [(1, 600.0), (2, 0.0)], ids=["before the change", "after it"])
def test_resumed_change_has_time_of_its_write(survive, at):
    lab = Lab()
    with pytest.raises(Unreachable):
        lab.start(Dying(lab.cluster, survive)).do(Change.from_json(CHANGES["scale"]), ordinal=1, group="Fault/f")
    lab.clock.wait(lab.clock.now() + 600.0)
    begin = lab.clock.now() - 600.0
    assert lab.start().do(Change.from_json(CHANGES["scale"]), ordinal=1, group="Fault/f").at == begin + at


def test_undo_after_crash_before_write_restores():
    for survive in range(4):
        lab = Lab()
        dying = Dying(lab.cluster, survive)
        with contextlib.suppress(Unreachable):
            lab.start(dying).do(Change.from_json(CHANGES["json patch"]), ordinal=1, group="Fault/f")
        assert lab.start().undo_all() == []
        assert lab.state() == lab.before


def without_times(state):
    state = copy.deepcopy(state)
    for obj in state.values():
        if obj["kind"] == "Deployment":
            obj["spec"]["template"]["metadata"].pop("annotations", None)
    return state


class Dying:
    """A cluster that stops answering after some writes: a process that is killed there."""

    def __init__(self, cluster, writes):
        self._cluster, self._left = cluster, writes

    def __getattr__(self, name):
        method = getattr(self._cluster, name)
        if name not in ("create", "apply", "patch", "delete"):
            return method

        def write(*args, **kwargs):
            if self._left == 0:
                raise Unreachable("killed")
            self._left -= 1
            return method(*args, **kwargs)

        return write


def test_receipt_is_saved_before_write(lab):
    with pytest.raises(Unreachable):
        lab.start(Dying(lab.cluster, 1)).do(Change.from_json(CHANGES["scale"]), ordinal=1, group="Fault/f")
    assert lab.state() == lab.before
    assert lab.cluster.get(Reference("ConfigMap", "t-r001", "scenario-kit")) is not None


def test_receipt_of_secret_is_a_secret(lab):
    lab.engine.do(Change.from_json(CHANGES["secret"]), ordinal=1, group="Fault/f")
    assert lab.cluster.get(Reference("Secret", "t-r001", "scenario-kit")) is not None
    assert lab.cluster.get(Reference("ConfigMap", "t-r001", "scenario-kit")) is None


def test_restart_through_zero_crashed_at_any_write_restores_replicas():
    restart = {"restart": {"target": "Deployment/web", "dropOld": True}}
    for survive in range(6):
        lab = Lab()
        try:
            lab.start(Dying(lab.cluster, survive)).do(Change.from_json(restart), ordinal=1, group="Fault/f")
        except Unreachable:
            pod = {"name": "web-1", "namespace": NS, "labels": {"app": "web"}}
            spec = {"containers": [{"name": "web", "image": "web:1"}]}
            if lab.get("Deployment/web")["spec"]["replicas"] and survive > 1:  # the new pods are coming up
                lab.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": pod, "spec": spec})
            receipt = lab.start().do(Change.from_json(restart), ordinal=1, group="Fault/f")
            assert receipt.state == "Done"
        assert lab.get("Deployment/web")["spec"]["replicas"] == 2, f"died after {survive} writes"


def test_undo_keeps_writes_of_others(lab):
    lab.engine.do(Change.from_json(CHANGES["json patch"]), ordinal=1, group="Fault/f")
    lab.cluster.patch(Reference("Service", "web", NS), {"spec": {"selector": {"tier": "edge"}}})
    lab.engine.undo_all()
    service = lab.get("Service/web")
    assert service["spec"]["ports"][0]["targetPort"] == 8080
    assert service["spec"]["selector"] == {"app": "web", "tier": "edge"}


def test_undo_runs_in_reverse_order(lab):
    lab.engine.do(Change.from_json({"scale": {"target": "Deployment/web", "replicas": 0}}), ordinal=1, group="Fault/f")
    lab.engine.do(Change.from_json({"scale": {"target": "Deployment/web", "replicas": 7}}), ordinal=2, group="Decoy/d")
    lab.engine.undo_group("Decoy/d")
    assert lab.get("Deployment/web")["spec"]["replicas"] == 0
    lab.engine.undo_all()
    assert lab.get("Deployment/web")["spec"]["replicas"] == 2


def test_earlier_change_is_undone_after_later_one_of_same_object(lab):
    for ordinal, replicas in ((1, 0), (2, 7)):
        change = Change.from_json({"scale": {"target": "Deployment/web", "replicas": replicas}})
        lab.engine.do(change, ordinal=ordinal, group=f"Fault/{ordinal}")
    lab.engine.do(Change.from_json(CHANGES["secret"]), ordinal=0, group="Fault/0")
    refused = []

    def refuse_once(verb, target):
        if verb == "patch" and target.endswith("Deployment/web") and not refused:
            refused.append(target)
            raise Unreachable("no response")

    lab.cluster.before = refuse_once
    blocked = lab.engine.undo_all()
    assert [(b.group, b.reason) for b in blocked] == [
        ("Fault/2", "no response"), ("Fault/1", "a later change of it is not undone yet"),
    ]  # fmt: skip
    assert lab.state()["Secret", "password"] == lab.before["Secret", "password"], "other objects do not wait"
    assert lab.engine.undo_all() == []
    assert lab.state() == lab.before


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"scale": {"target": "Deployment/web", "replicas": 2}}, NoEffect, "leaves"),
        ({"scale": {"target": "Deployment/absent", "replicas": 2}}, AuthoringError, "does not exist"),
        ({"scale": {"target": "Service/web", "replicas": 2}}, AuthoringError, "cannot be scaled"),
        ({"setFlag": {"flag": "slow", "variant": "maybe"}}, AuthoringError, "no flag"),
        (
            {"create": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}},
            AuthoringError,
            "already exists",
        ),
        (
            {"create": {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "nowhere"}}},
            AuthoringError,
            "namespace 'nowhere' of",
        ),
    ],
)
def test_do_refuses_impossible_changes(lab, change, error, text):
    with pytest.raises(error, match=text):
        lab.engine.do(Change.from_json(change), ordinal=1, group="Fault/f")
    assert lab.state() == lab.before


def test_oversized_receipt_is_refused_before_write(lab):
    big = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "big", "namespace": NS},
        "data": {"x": "a" * 950_000},
    }
    lab.cluster.create(big)
    with pytest.raises(AuthoringError, match="KiB"):
        lab.engine.do(Change.from_json({"delete": {"target": "ConfigMap/big"}}), ordinal=1, group="Fault/f")
    assert lab.get("ConfigMap/big") is not None


def restarted_at(lab):
    template = lab.get("Deployment/web")["spec"]["template"]["metadata"]
    return (template.get("annotations") or {}).get("kubectl.kubernetes.io/restartedAt")


def test_restart_in_frozen_time_changes_the_template(lab):
    restart = Change.from_json({"restart": {"target": "Deployment/web"}})
    seen = set()
    for ordinal in (1, 2, 3):
        lab.engine.do(restart, ordinal=ordinal, group="Decoy/d")
        seen.add(restarted_at(lab))
    assert len(seen) == 3


PATCHED = {"patch": {"target": "ConfigMap/flags", "type": "Merge", "patch": {"data": {"other": "new"}}}}
RESTART = {"restart": {"target": "Deployment/web"}}


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ([PATCHED, RESTART], True),
        ([RESTART, PATCHED], False),  # what was changed after the restart, nobody has read
        ([RESTART], False),
        ([PATCHED], False),
    ],
)
def test_undo_group_restarts_readers(lab, changes, again):
    for ordinal, change in enumerate(changes, start=1):
        lab.engine.do(Change.from_json(change), ordinal=ordinal, group="Solution/s")
    before = restarted_at(lab)

    assert lab.engine.undo_group("Solution/s") == []

    assert lab.get("ConfigMap/flags")["data"]["other"] == "kept"
    assert (restarted_at(lab) != before) is again
    assert {r.state for r in lab.engine.list_receipts("Solution/s")} == {"Undone"}
    after = restarted_at(lab)
    assert lab.engine.undo_group("Solution/s") == []
    assert restarted_at(lab) == after


def test_undo_all_restarts_nothing(lab):
    for ordinal, change in enumerate([PATCHED, RESTART], start=1):
        lab.engine.do(Change.from_json(change), ordinal=ordinal, group="Solution/s")
    before = restarted_at(lab)
    assert lab.engine.undo_all() == []
    assert restarted_at(lab) == before


@pytest.mark.parametrize(
    ("target", "cordoned"),
    [
        ("Node/node:host:Deployment:web", {"n1": None, "n2": None}),
        ("Node/node:all", {"n1": None, "n2": None}),
        ("Node/n1", {"n1": None, "n2": True}),
    ],
)
def test_undo_object_finds_nodes_of_placeholders(target, cordoned):
    lab = Lab()
    labels = lab.get("Deployment/web")["spec"]["selector"]["matchLabels"]
    for name in ("n1", "n2"):
        lab.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {}})
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
    about = {"name": "web-1", "namespace": NS, "labels": labels}
    lab.cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec})
    made = ["Node/n1", "Node/n2"] if target == "Node/n1" else [target]
    for ordinal, node in enumerate(made, start=1):
        lab.engine.do(Change.from_json({"cordon": {"target": node}}), ordinal=ordinal, group="Fault/a")
    assert any(n["spec"].get("unschedulable") for n in lab.cluster.list("Node"))
    assert lab.engine.undo_object("Fault/a", Reference.parse(target)) == []
    found = {n["metadata"]["name"]: n["spec"].get("unschedulable") for n in lab.cluster.list("Node")}
    assert found == cordoned


def test_undo_object_restores_one_object():
    lab = Lab()
    made = [
        {"patch": {"target": "Service/web", "type": "Merge", "patch": {"spec": {"selector": {"app": "none"}}}}},
        {"patch": {"target": "Secret/password", "type": "Merge", "patch": {"data": {"key": "d3Jvbmc="}}}},
        {"restart": {"target": "Deployment/web"}},
        {"patch": {"target": "Service/web", "type": "Merge", "patch": {"spec": {"type": "NodePort"}}}},
    ]
    for ordinal, change in enumerate(made):
        lab.engine.do(Change.from_json(change), ordinal=ordinal, group="Fault/a", causal="restart" not in change)
    restarted = lab.get("Deployment/web")["spec"]["template"]["metadata"]["annotations"]
    lab.clock.wait(lab.clock.now() + 60)
    assert lab.engine.undo_object("Fault/a", Reference("Service", "web")) == []
    assert lab.state()["Service", "web"] == lab.before["Service", "web"]
    assert lab.state()["Secret", "password"] != lab.before["Secret", "password"]
    assert lab.get("Deployment/web")["spec"]["template"]["metadata"]["annotations"] == restarted
    assert lab.engine.undo_object("Fault/a", Reference("Secret", "password")) == []
    assert lab.state()["Secret", "password"] == lab.before["Secret", "password"]
    assert lab.get("Deployment/web")["spec"]["template"]["metadata"]["annotations"] != restarted


def test_cluster_settles_between_two_undos_of_an_object(lab):
    """Whether controllers act on the state in between must not depend on their pace."""
    for ordinal, replicas in enumerate((0, 1)):
        change = {"scale": {"target": "Deployment/web", "replicas": replicas}}
        lab.engine.do(Change.from_json(change), ordinal=ordinal, group="Fault/f")
    seen = []
    lab.clock = FakeClock(on_advance=lambda _: seen.append(lab.get("Deployment/web")["spec"]["replicas"]))
    assert lab.start().undo_all() == []
    assert seen == [0, 2]

"""Node changes: the node is chosen once, and undo reverts only the change."""

import msgspec
import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.changes.node_placeholders import resolve_checks
from scenario_kit.changes.operation import NoEffect
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, Check, Component, Reference
from scenario_kit.testing import FakeClock, FakeCluster

NS = "demo-bcdf"
APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web"), service="web"),),
)
REQUESTS = {"requests": {"memory": "512Mi", "cpu": "250m"}}
HOST = "Node/node:host:Deployment:web"


def node(name, labels=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": {"cpu": "4", "memory": "4Gi"}},
    }


def pod(name, on, labels, namespace=NS, resources=None):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i", "resources": resources or {}}]},
    }


class Place:
    def __init__(self):
        self.cluster = FakeCluster()
        self.clock = FakeClock()
        for name in (NS, "scenario-kit"):
            self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for each in (
            node("n0", {"node-role.kubernetes.io/control-plane": ""}),
            node("n1"),
            node("n2", taints=[{"key": "gpu", "effect": "PreferNoSchedule"}]),
            node("n3", unschedulable=True),
        ):
            self.cluster.create(each)
            ref = Reference("Node", each["metadata"]["name"])
            self.cluster.patch(ref, {"status": each["status"]}, subresource="status")
        template = {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1", "resources": REQUESTS}]},
        }
        self.cluster.create(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "web", "namespace": NS},
                "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
            }
        )
        self.cluster.create(pod("web-a", "n0", {"app": "web"}, resources=REQUESTS))
        self.cluster.create(pod("web-b", "n2", {"app": "web"}, resources=REQUESTS))
        self.cluster.create(pod("other", "n2", {"app": "x"}, "kube-system", {"requests": {"memory": "1Gi"}}))
        self.engine = self.start()

    def start(self):
        context = ChangeContext(cluster=self.cluster, namespace=NS, app=APP, now=self.clock.now)
        return Engine(context, self.clock, ClusterStore(self.cluster, "scenario-kit", "t"), "t")

    def do(self, ordinal=1, group="Fault/f", **change):
        return self.engine.do(Change.from_json(change), ordinal=ordinal, group=group)

    def spec(self, name):
        return self.cluster.get(Reference("Node", name))["spec"]

    def delete(self, text):
        self.cluster.delete(Reference.parse(text).within(NS))


def test_drain_covers_further_namespaces():
    place = Place()
    place.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{NS}-stores"}})
    metadata = {"name": "db", "namespace": f"{NS}-stores"}
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "db", "image": "db:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    place.cluster.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
    place.cluster.create(pod("db-a", "n2", {"app": "db"}, f"{NS}-stores"))
    context = ChangeContext(
        cluster=place.cluster, namespace=NS, app=APP, now=place.clock.now, others={"stores": f"{NS}-stores"}
    )
    place.engine = Engine(context, place.clock, ClusterStore(place.cluster, "scenario-kit", "t"), "t")

    receipt = place.do(drain={"target": "Node/node:host:Deployment:db"})

    assert receipt.places == {"node:host:Deployment:db": "n2"}

    def going(name, namespace):
        found = place.cluster.get(Reference("Pod", name, namespace))
        return found is None or "deletionTimestamp" in found["metadata"]

    assert going("db-a", f"{NS}-stores")
    assert going("web-b", NS)
    assert not going("other", "kube-system")


@pytest.fixture
def place():
    return Place()


def test_placeholder_is_resolved_once_per_trial(place):
    receipt = place.do(cordon={"target": HOST})
    assert receipt.places == {"node:host:Deployment:web": "n2"}
    assert place.spec("n2")["unschedulable"] is True
    place.delete("Pod/web-b")
    place.cluster.create(pod("web-c", "n1", {"app": "web"}))
    place.engine = place.start()  # another process, which knows what the cluster knows
    fixed = place.do(2, "Solution/s", uncordon={"target": HOST})
    assert fixed.change.target == "Node/n2"
    assert "unschedulable" not in place.spec("n2")
    assert place.engine.undo_group("Solution/s") == []
    assert place.spec("n2")["unschedulable"] is True
    assert place.engine.undo_all() == []
    assert "unschedulable" not in place.spec("n2")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("node:host:Deployment:web", "n2"),
        ("node:away:Deployment:web", "n1"),
        # 4 Gi, less 512 Mi for the pod that is wanted, and half of what that one asks for: another pod may go elsewhere
        ("room:memory:Deployment:web", f"{4096 - 512 + 256}Mi"),
        ("room:cpu:Deployment:web", f"{4000 - 250 + 125}m"),
    ],
)
def test_placeholders_resolve_to_nodes(place, name, expected):
    created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"it": f"<{name}>"}}
    place.do(create=created)
    assert place.cluster.get(Reference("ConfigMap", "c", NS))["data"]["it"] == f"<{expected}>"


@pytest.mark.parametrize(
    "stays",
    [
        {"metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": "agent"}]}},
        {"spec": {"nodeSelector": {"kubernetes.io/hostname": "n2"}}},
        {"spec": {"priority": 2_000_001_000}},
    ],
)
def test_room_that_does_not_fit_is_refused(place, stays):
    """What cannot leave the node keeps its room."""
    fixed = pod("fixed", "n2", {}, resources={"requests": {"memory": "1Gi"}})
    place.cluster.create({k: {**v, **stays.get(k, {})} if isinstance(v, dict) else v for k, v in fixed.items()})
    created = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    place.do(create={**created, "data": {"it": "room:memory:Deployment:web"}})
    found = place.cluster.get(Reference("ConfigMap", "c", NS))["data"]["it"]
    assert found == f"{4096 - 1024 - 512 + 256}Mi"


@pytest.mark.parametrize(
    "name", ["node:host:Deployment:absent", "node:host:StatefulSet:web", "room:cpu:Deployment:absent"]
)
def test_placeholder_without_match_is_refused(place, name):
    with pytest.raises(AuthoringError, match="cannot resolve"):
        place.do(cordon={"target": f"Node/{name}"})


def test_unknown_node_is_refused(place):
    with pytest.raises(AuthoringError, match="does not exist"):
        place.do(cordon={"target": "Node/n9"})
    with pytest.raises(msgspec.ValidationError, match="is no node"):
        place.do(cordon={"target": "Deployment/web"})


TAINT = {"target": "Node/node:all", "key": "pool", "value": "x"}
WRITTEN = {"key": "pool", "value": "x", "effect": "NoSchedule"}
GPU = {"key": "gpu", "effect": "PreferNoSchedule"}


def test_taint_of_all_nodes_changes_only_that_taint(place):
    receipt = place.do(taint=TAINT)
    assert [e.ref.name for e in receipt.entries] == ["n1", "n2"]
    assert place.spec("n1")["taints"] == [WRITTEN]
    assert place.spec("n2")["taints"] == [GPU, WRITTEN]
    foreign = {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}
    place.cluster.patch(Reference("Node", "n2"), {"spec": {"taints": [GPU, WRITTEN, foreign]}})
    place.do(2, "Solution/s", untaint=TAINT)
    assert "taints" not in place.spec("n1")
    assert place.spec("n2")["taints"] == [GPU, foreign]
    assert place.engine.undo_group("Solution/s") == []
    assert WRITTEN in place.spec("n1")["taints"]
    assert place.engine.undo_all() == []
    assert "taints" not in place.spec("n1")
    assert place.spec("n2")["taints"] == [GPU, foreign]


def test_crash_between_nodes_resumes(place):
    place.do(taint=TAINT)
    store = ClusterStore(place.cluster, "scenario-kit", "t")
    recorded = store.all()[0]
    place.cluster.patch(Reference("Node", "n2"), {"spec": {"taints": [GPU]}})
    store.save(msgspec.structs.replace(recorded, state="Recorded"))
    place.engine = place.start()
    assert place.do(taint=TAINT).state == "Done"
    assert place.spec("n2")["taints"] == [GPU, WRITTEN]


def test_drain_evicts_pods_of_the_app(place):
    place.do(drain={"target": HOST})
    list_terminating = [
        p["metadata"]["name"] for p in place.cluster.list("Pod") if "deletionTimestamp" in p["metadata"]
    ]
    there = {p["metadata"]["name"] for p in place.cluster.list("Pod")} - {*list_terminating}
    assert there == {"other", "web-a"}
    assert place.engine.undo_all() == []
    assert "unschedulable" not in place.spec("n2")


def protect(place, allowed=0):
    metadata = {"name": "web", "namespace": NS, "generation": 1}
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    counts = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "observedGeneration": 1}
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}
    place.cluster.put({**budget, "status": counts})
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    place.cluster.patch(Reference("Pod", "web-b", NS), {"status": running}, subresource="status")


def list_terminating(place):
    return [p["metadata"]["name"] for p in place.cluster.list("Pod") if "deletionTimestamp" in p["metadata"]]


def test_drain_of_cordoned_node_evicts(place):
    place.do(cordon={"target": HOST})
    place.do(2, drain={"target": HOST})
    assert list_terminating(place) == ["web-b"]
    assert place.engine.undo_all() == []
    assert "unschedulable" not in place.spec("n2")


def test_drain_resumes_after_crash(place):
    place.do(cordon={"target": HOST})
    place.do(2, drain={"target": HOST})
    store = ClusterStore(place.cluster, "scenario-kit", "t")
    store.save(msgspec.structs.replace(store.all()[1], state="Recorded"))
    place.engine = place.start()
    assert place.do(2, drain={"target": HOST}).state == "Done"


def test_drain_of_cordoned_node_without_pods_has_no_effect(place):
    with pytest.raises(NoEffect, match="drain"):
        place.do(drain={"target": "Node/n3"})


def test_budget_blocks_drain_until_it_permits_eviction(place):
    protect(place)
    receipt = place.do(drain={"target": HOST})
    assert receipt.state == "Done"
    assert "Pod/web-b: Cannot evict pod as it would violate" in receipt.blocked
    assert list_terminating(place) == []
    assert place.spec("n2")["unschedulable"] is True
    place.engine = place.start()
    assert place.engine.needs_maintenance([])
    place.engine.maintain([])
    assert list_terminating(place) == []
    protect(place, allowed=1)
    place.engine.maintain([])
    assert list_terminating(place) == ["web-b"]
    assert not place.engine.needs_maintenance([])


@pytest.mark.parametrize("ends", ["uncordoned", "undone"])
def test_uncordoned_drain_evicts_nothing(place, ends):
    protect(place)
    place.do(drain={"target": HOST})
    if ends == "undone":
        assert place.engine.undo_all() == []
        assert "unschedulable" not in place.spec("n2")
    else:
        place.do(2, "Solution/s", uncordon={"target": HOST})
    protect(place, allowed=1)
    place.engine.maintain([])
    assert list_terminating(place) == []
    assert not place.engine.needs_maintenance([])


def test_drain_keeps_mirror_pods(place):
    static = pod("static", "n2", {"app": "web"})
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "abc"}
    place.cluster.create(static)
    place.do(drain={"target": HOST})
    assert list_terminating(place) == ["web-b"]


def test_checks_use_recorded_nodes(place):
    check = Check.from_json({"object": {"ref": HOST, "path": "spec.unschedulable", "equals": True}})
    every = Check.from_json({"object": {"ref": "Node/node:all", "exists": True}})
    assert place.engine.resolve_checks([check, every]) == [check, every], "nothing is recorded yet"
    place.do(cordon={"target": HOST})
    assert [c.object.ref for c in place.engine.resolve_checks([check, every])] == ["Node/n2", "Node/node:all"]
    known = {"node:all": "n1,n2"}
    assert [c.object.ref for c in resolve_checks([every, check], known)] == ["Node/n1", "Node/n2", HOST]


@pytest.mark.parametrize("at_once", [True, False])
def test_undo_removes_object_recreated_by_undo_of_fix(place, at_once):
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "p"},
        "value": 5,
    }
    ref = Reference("PriorityClass", "p", "", "scheduling.k8s.io")
    place.do(create=priority)
    place.do(2, "Fix/f:0", delete={"target": "PriorityClass.scheduling.k8s.io/p"})
    assert place.cluster.get(ref) is None
    if not at_once:
        assert place.engine.undo_group("Fix/f:0") == []
        assert place.cluster.get(ref) is not None
    assert place.engine.undo_all() == []
    assert place.cluster.get(ref) is None

"""Node placeholders: resolution case by case, and where they are allowed."""

import pytest

from scenario_kit.changes.node_placeholders import resolve, resolve_checks
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Check
from scenario_kit.testing import FakeCluster

NS, STORES = "shop", "shop-stores"
CONTROL = {"node-role.kubernetes.io/control-plane": ""}


def node(name, labels=None, taints=None, cordoned=False):
    spec = ({"taints": taints} if taints else {}) | ({"unschedulable": True} if cordoned else {})
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": spec,
            "status": {"allocatable": {"cpu": "4", "memory": "4Gi"}}}  # fmt: skip


def build_requests(cpu=None, memory=None):
    return {"requests": {k: v for k, v in (("cpu", cpu), ("memory", memory)) if v}}


def pod(name, on, app="web", namespace=NS, resources=None, phase="Running", owner=None, **spec):
    meta = {"name": name, "namespace": namespace, "labels": {"app": app}, "uid": f"u-{name}"}
    if owner:
        meta["ownerReferences"] = [{"kind": owner, "name": "x", "uid": "o"}]
    spec = {"nodeName": on, "containers": [{"name": "c", "resources": resources or {}}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def workload(name="web", kind="Deployment", namespace=NS, replicas=1, resources=None):
    template = {"spec": {"containers": [{"name": "c", "resources": resources or build_requests("250m", "512Mi")}]}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    spec |= {} if replicas is None else {"replicas": replicas}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def answer(name, *objects, known=None, namespaces=(NS, STORES)):
    """Resolve a placeholder in a cluster of these objects."""
    change = Change.from_json({"create": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
                                          "data": {"it": name}}})  # fmt: skip
    resolved, chosen = resolve(change, known or {}, FakeCluster(objects), *namespaces)
    assert chosen == {name: resolved.operation.manifest["data"]["it"]}
    return chosen[name]


HOST, AWAY, ALL = "node:host:Deployment:web", "node:away:Deployment:web", "node:all"


@pytest.mark.parametrize(
    ("name", "objects", "expected"),
    [
        (HOST, [node("n1"), node("n2"), pod("b", "n1"), pod("a", "n2")], "n2"),  # the first pod by name
        (HOST, [node("n1", CONTROL), node("n2"), pod("a", "n1"), pod("b", "n2")], "n2"),
        (HOST, [node("n1", {"node-role.kubernetes.io/master": "x"}), node("n2"), pod("a", "n1"), pod("b", "n2")], "n2"),
        (HOST, [node("n2"), pod("a", "gone"), pod("b", "n2")], "n2"),
        (HOST, [node("n1"), node("n2"), pod("a", None), pod("b", "n2")], "n2"),
        (HOST, [node("n1", cordoned=True), pod("a", "n1")], "n1"),
        (AWAY, [node("n1"), node("n2"), node("n3"), pod("a", "n1")], "n2"),
        (AWAY, [node("n3"), node("n2"), node("n1"), pod("a", "n2")], "n1"),
        (AWAY, [node("n1"), node("n2", CONTROL), node("n3"), pod("a", "n1")], "n3"),
        (AWAY, [node("n1"), node("n2", cordoned=True), node("n3"), pod("a", "n1")], "n3"),
        (AWAY, [node("n1"), node("n2", taints=[{"effect": "NoSchedule"}]), node("n3"), pod("a", "n1")], "n3"),
        (AWAY, [node("n1"), node("n2", taints=[{"effect": "PreferNoSchedule"}]), node("n3"), pod("a", "n1")], "n2"),
        (ALL, [node("n3"), node("n1"), node("n2", cordoned=True), node("n0", CONTROL)], "n1,n3"),
    ],
)
def test_resolve_node_placeholder(name, objects, expected):
    assert answer(name, workload(), *objects) == expected


def test_workload_is_found_in_any_namespace():
    nodes, own = (node("n1"), node("n2")), pod("a", "n1")
    there = pod("b", "n2", namespace=STORES)
    assert answer(HOST, *nodes, workload(namespace=STORES), own, there) == "n2"
    assert answer(HOST, *nodes, workload(namespace=STORES), workload(), own, there) == "n1"
    assert answer("node:host:StatefulSet:web", *nodes, workload(kind="StatefulSet"), own) == "n1"


@pytest.mark.parametrize(
    ("name", "objects", "text"),
    [
        (
            HOST,
            [node("n1", CONTROL), pod("a", "n1")],
            "the cluster has no pod of Deployment/web on a worker node",
        ),
        (HOST, [node("n1"), pod("a", None)], "the cluster has no pod of Deployment/web"),
        (AWAY, [node("n1"), pod("a", "n1")], "the cluster has no second schedulable worker node besides n1"),
        (ALL, [node("n1", CONTROL)], "the cluster has no schedulable worker node"),
    ],
)
def test_unresolvable_placeholder_is_refused(name, objects, text):
    with pytest.raises(AuthoringError, match=text) as refused:
        answer(name, workload(), *objects)
    assert f"cannot resolve '{name}'" in refused.value.message


# --- room: 4 cores and 4 Gi, of which one pod of the workload asks for 250m and 512Mi

CPU, MEMORY = "room:cpu:Deployment:web", "room:memory:Deployment:web"
GIB = build_requests("1", "1Gi")


@pytest.mark.parametrize(
    ("beside", "replicas", "millis", "mebis"),
    [
        ([], 1, 4000 - 125, 4096 - 256),
        ([], None, 4000 - 125, 4096 - 256),  # one, where it does not say
        ([], 3, 4000 - 750 + 125, 4096 - 1536 + 256),
        ([pod("o", "n1", "other", resources=GIB)], 1, 4000 - 125, 4096 - 256),  # it may go elsewhere
        ([pod("o", "n1", "other", resources=GIB, owner="ReplicaSet")], 1, 4000 - 125, 4096 - 256),
        ([pod("o", "n1", "other", resources=GIB, owner="DaemonSet")], 1, 3000 - 125, 3072 - 256),
        ([pod("o", "n1", "other", resources=GIB, owner="Node")], 1, 3000 - 125, 3072 - 256),
        ([pod("o", "n1", "other", "kube-system", GIB, owner="Node")], 1, 3000 - 125, 3072 - 256),
        ([pod("o", "n2", "other", resources=GIB, owner="Node")], 1, 4000 - 125, 4096 - 256),
        ([pod("o", "n1", "other", resources=GIB, owner="Node", phase="Succeeded")], 1, 4000 - 125, 4096 - 256),
        ([pod("o", "n1", "other", resources=GIB, owner="Node", phase="Failed")], 1, 4000 - 125, 4096 - 256),
        ([pod("o", "n1", "other", resources=GIB, priority=2_000_000_000)], 1, 3000 - 125, 3072 - 256),
        ([pod("o", "n1", "other", resources=GIB, priority=1_999_999_999)], 1, 4000 - 125, 4096 - 256),
        ([pod("o", "n1", "other", resources=GIB, nodeSelector={"kubernetes.io/hostname": "n1"})], 1, 2875, 2816),
        ([pod("o", "n1", "other", resources=GIB, nodeSelector={"disk": "n1"})], 1, 3875, 3840),
        ([pod("o", "n1", "other", owner="Node")], 1, 3875, 3840),  # asks for nothing
        ([pod("b", "n1", resources=GIB, owner="Node")], 1, 3875, 3840),  # its own
    ],
)
def test_resolve_room_placeholder(beside, replicas, millis, mebis):
    objects = (node("n1"), node("n2"), workload(replicas=replicas), pod("a", "n1"), *beside)
    assert (answer(CPU, *objects), answer(MEMORY, *objects)) == (f"{millis}m", f"{mebis}Mi")


@pytest.mark.parametrize(
    ("name", "requests", "replicas"),
    [
        (CPU, build_requests(memory="1Gi"), 1),
        (MEMORY, build_requests(cpu="1"), 1),
        (CPU, build_requests("1"), 5),  # does not fit on its node itself
        (CPU, build_requests("8"), 1),
        (MEMORY, build_requests(memory="2Gi"), 3),
    ],
)
def test_room_without_request_is_refused(name, requests, replicas):
    with pytest.raises(AuthoringError, match="no request fits in place of Deployment/web on node n1") as refused:
        answer(name, node("n1"), workload(replicas=replicas, resources=requests), pod("a", "n1"))
    assert f"requests {name.split(':')[1]} and" in refused.value.fix


# --- placeholders in texts


def test_change_without_placeholders_sends_no_requests():
    change = Change.from_json({"scale": {"target": "Deployment/node-all", "replicas": 1}})
    cluster = FakeCluster()
    assert resolve(change, {HOST: "n9"}, cluster, NS) == (change, {})
    assert cluster.requests == []


@pytest.mark.parametrize(
    "text", ["node:all-x", "node:allx", "node:all:x", "node:host:Pod:x", "room:disk:Deployment:web"]
)
def test_similar_text_is_not_a_placeholder(text):
    change = Change.from_json({"create": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": text}}})
    assert resolve(change, {}, FakeCluster(), NS) == (change, {})


def test_resolve_replaces_all_texts_and_keeps_known_values():
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"},
            "data": {HOST: "x", "in": f"<{HOST}> and <{AWAY}>", "list": [HOST, 1, {"deep": AWAY}]}}  # fmt: skip
    cluster = FakeCluster([node("n1"), node("n2"), workload(), pod("a", "n1")])
    resolved, chosen = resolve(Change.from_json({"create": body}), {HOST: "n7"}, cluster, NS)
    assert chosen == {HOST: "n7", AWAY: "n2"}
    assert resolved.operation.manifest["data"] == {"n7": "x", "in": "<n7> and <n2>", "list": ["n7", 1, {"deep": "n2"}]}


def test_resolve_checks_uses_recorded_values():
    about = lambda ref: Check.from_json({"object": {"ref": ref, "exists": True}})  # noqa: E731
    known = {HOST: "n2", ALL: "n1,n3"}
    checks = [about("Node/n9"), about(f"Node/{HOST}"), about(f"Node/{ALL}"), about(f"Node/{AWAY}")]
    assert [c.object.ref for c in resolve_checks(checks, known)] == [
        "Node/n9", "Node/n2", "Node/n1", "Node/n3", f"Node/{AWAY}",
    ]  # fmt: skip
    assert resolve_checks(checks, {}) == checks
    assert [c.object.ref for c in resolve_checks(checks[1:2], {HOST: "n2"})] == ["Node/n2"]

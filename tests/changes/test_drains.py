"""Operations on nodes: each write changes one field or taint and is undone."""

import pytest

from scenario_kit.changes import nodes
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import send
from scenario_kit.changes.receipts import Receipt, ReceiptEntry
from scenario_kit.errors import AuthoringError, Conflict, EvictionRefused
from scenario_kit.model import App, Change, Reference
from scenario_kit.testing import FakeClock, FakeCluster

APP = App(name="shop", version="1", namespace="shop", entry="web", components=())
N1 = Reference("Node", "n1")


def node(name="n1", taints=None, **spec):
    spec |= {"taints": taints} if taints is not None else {}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec}


def context(*objects):
    cluster = FakeCluster(objects)
    return ChangeContext(cluster=cluster, namespace="shop", app=APP, now=lambda: 0.0, others={"s": "shop-s"})


def taint(key="k", effect="NoSchedule", **more):
    return {"key": key, "effect": effect, **more}


def change(operation, target="Node/n1", **more):
    return Change.from_json({operation: {"target": target, **more}})


def restore_node(where, operation, prior):
    receipt = Receipt(trial="t", ordinal=0, group="Fault/f", change=operation)
    entry = ReceiptEntry(ref=N1, prior=prior)
    operation.operation.undo(where, receipt, entry, FakeClock())


def writes(where):
    return [target for verb, target in where.cluster.requests if verb in ("patch", "evict")]


EVICTING = taint(effect="NoExecute")


@pytest.mark.parametrize(
    ("text", "names"), [("Node/a", ["a"]), ("Node/a,b,c", ["a", "b", "c"]), ("Node/a.b-c", ["a.b-c"])]
)
def test_parse_references_lists_nodes(text, names):
    assert nodes.NodeReferences.from_json(text).nodes == tuple(Reference("Node", name) for name in names)


@pytest.mark.parametrize("text", ["Pod/a", "Nodes/a", "", "a"])
def test_parse_references_of_other_kind_is_refused(text):
    with pytest.raises(ValueError, match="is no node"):
        nodes.NodeReferences.from_json(text)


@pytest.mark.parametrize(
    ("operation", "before", "after"),
    [
        (change("cordon"), {}, {"unschedulable": True}),
        (change("drain"), {}, {"unschedulable": True}),
        (change("uncordon"), {"unschedulable": True}, {}),
        (change("taint", **taint(value="v")), {}, {"taints": [taint(value="v")]}),
        (change("taint", **taint()), {"taints": [taint("o")]}, {"taints": [taint("o"), taint()]}),
        (change("taint", **taint(value="v")), {"taints": [taint(value="w"), taint("o")]},
         {"taints": [taint("o"), taint(value="v")]}),
        (change("taint", **taint()), {"taints": [taint(effect="NoExecute")]},
         {"taints": [taint(effect="NoExecute"), taint()]}),
        (change("untaint", **taint()), {"taints": [taint("o"), taint(value="v")]}, {"taints": [taint("o")]}),
        (change("untaint", **taint()), {"taints": [taint()]}, {}),
        (change("untaint", **taint()), {"taints": [EVICTING]}, {"taints": [EVICTING]}),
    ],
)  # fmt: skip
def test_node_operation_writes_and_restores_one_field(operation, before, after):
    where = context(node(**before), node("n2"))
    send(where, operation)
    assert where.cluster.get(N1)["spec"] == after
    assert where.cluster.get(Reference("Node", "n2"))["spec"] == {}
    once = len(writes(where))
    send(where, operation)
    assert where.cluster.get(N1)["spec"] == after
    if operation.operation.keyword in ("taint", "untaint"):
        assert len(writes(where)) == once, "the same again is no write"
    restore_node(where, operation, node(**before))
    left = where.cluster.get(N1)["spec"]
    assert sorted(left.pop("taints", []), key=str) == sorted(before.get("taints", []), key=str)
    assert left == {k: v for k, v in before.items() if k != "taints"}


def test_restore_node_keeps_writes_of_others():
    where = context(node(taints=[taint("o")]))
    send(where, change("taint", **taint()))
    send(where, change("cordon"))
    where.cluster.patch(N1, {"spec": {"taints": [taint("o"), taint(), taint("new")]}})
    restore_node(where, change("taint", **taint()), node(taints=[taint("o")]))
    assert where.cluster.get(N1)["spec"] == {"taints": [taint("o"), taint("new")], "unschedulable": True}


def test_undo_skips_missing_node_and_send_refuses_it():
    where = context(node("n2"))
    for each in (change("cordon"), change("taint", **taint())):
        restore_node(where, each, node())
        with pytest.raises(AuthoringError, match="node n1 does not exist"):
            send(where, each)
    assert writes(where) == []


@pytest.mark.parametrize(("others", "refused"), [(0, False), (1, False), (4, False), (5, True)])
def test_taint_write_has_resource_version(others, refused):
    """Another client adds a taint before each of five writes: the conflict is reported and nothing is lost."""
    where, left = context(node()), [others]
    patch = where.cluster.patch

    def interfering(ref, body, *rest):
        if left[0]:
            left[0] -= 1
            taints = where.cluster.get(N1)["spec"].get("taints") or []
            patch(N1, {"spec": {"taints": [*taints, taint(f"other-{left[0]}")]}})
        return patch(ref, body, *rest)

    where.cluster.patch = interfering
    try:
        send(where, change("taint", **taint()))
        reported = False
    except Conflict:
        reported = True
    assert reported is refused
    keys = [t["key"] for t in where.cluster.get(N1)["spec"]["taints"]]
    assert keys == [f"other-{n}" for n in reversed(range(others))] + ([] if refused else ["k"])


def test_taint_of_node_deleted_between_attempts_is_skipped():
    where = context(node())

    def going(ref, body, *rest):
        where.cluster.delete(N1)
        raise Conflict("no", status=409)

    where.cluster.patch = going
    send(where, change("taint", **taint()))
    assert where.cluster.get(N1) is None


# --- drains


def pod(name, on="n1", namespace="shop", **meta):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, **meta},
            "spec": {"nodeName": on} if on else {}}  # fmt: skip


def own_by(*kinds):
    return {"ownerReferences": [{"kind": kind, "name": "x", "uid": "u"} for kind in kinds]}


PODS = (
    pod("a"), pod("b", "n2"), pod("c", "n3"), pod("d", None), pod("e", namespace="shop-s"), pod("f", namespace="kube"),
    pod("g", **own_by("DaemonSet")), pod("h", **own_by("Node")), pod("i", **own_by("ReplicaSet")),
    pod("j", **own_by("X", "Node")),
    pod("k", annotations={"kubernetes.io/config.mirror": "x"}), pod("l", annotations={"other": "x"}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("target", "names"),
    [("Node/n1", ["a", "i", "l", "e"]), ("Node/n1,n2", ["a", "b", "i", "l", "e"]), ("Node/n9", [])],
)
def test_drain_lists_pods_to_evict(target, names):
    found = change("drain", target).operation.list_pods(context(*PODS))
    assert [p["metadata"]["name"] for p in found] == names


def test_evict_tries_all_pods_and_returns_refusals():
    where = context(*PODS, pod("z", deletionTimestamp="2026-01-01T00:00:00Z"))
    evicted = []

    def evict(ref):
        evicted.append(ref)
        if ref.name in ("i", "e"):
            raise EvictionRefused(f"a budget holds {ref.name}", status=429)

    where.cluster.evict = evict
    reported = change("drain").operation.evict(where)
    assert reported == "Pod/i: a budget holds i; Pod/e: a budget holds e"
    assert evicted == [Reference("Pod", n, "shop") for n in "ail"] + [Reference("Pod", "e", "shop-s")]
    where.cluster.evict = lambda ref: None
    assert change("drain").operation.evict(where) == ""


@pytest.mark.parametrize(
    ("objects", "draining"),
    [
        ([node(unschedulable=True)], True),
        ([node()], False),
        ([node(), node("n2", unschedulable=True)], True),
        ([node(), node("n3", unschedulable=True)], False),
        ([], False),
        ([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}], False),
    ],
)
def test_is_draining_while_a_node_is_cordoned(objects, draining):
    assert change("drain", "Node/n1,n2").operation.is_draining(context(*objects).cluster) is draining

"""Undo: restores own fields only, in reverse, with retries on conflicts."""

import copy
import json

import pytest

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.receipts import Receipt, ReceiptEntry
from scenario_kit.changes.undo import Blocked, undo
from scenario_kit.errors import Conflict, NotFound, Rejected, Unreachable
from scenario_kit.model import App, Change, Component, FlagStore, Reference
from scenario_kit.testing import FakeClock, FakeCluster

NS = "shop"
APP = App(
    name="shop", version="1", namespace=NS, entry="web",
    components=(Component(name="web", workload=Reference("Deployment", "web"), service="Service/web"),),
    flags=FlagStore(config_map="flags", key="flags.json"),
)  # fmt: skip
PATCH = {"patch": {"target": "Service/web", "type": "Merge", "patch": {"spec": {"sessionAffinity": "ClientIP"}}}}


class World:
    """A cluster of some objects and a clock; ``undo`` takes one receipt back."""

    def __init__(self, *objects):
        self.cluster, self.clock = FakeCluster(copy.deepcopy(objects)), FakeClock(1000.0)
        self.cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NS}})

    def undo(self, *entries, change=PATCH, state="Done"):
        context = ChangeContext(cluster=self.cluster, namespace=NS, app=APP, now=self.clock.now)
        receipt = Receipt(
            trial="t", ordinal=1, group="Fault/f", change=Change.from_json(change), state=state, entries=entries
        )
        return undo(context, receipt, self.clock)

    def get(self, text):
        return self.cluster.get(Reference.parse(text).within(NS))

    def writes(self):
        return [(verb, target) for verb, target in self.cluster.requests if verb not in ("get", "list")]


def thing(kind, name="web", api="v1", **fields):
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": NS, **fields.pop("meta", {})},
    } | fields


def service(**spec):
    return thing("Service", spec={"selector": {"app": "web"}, **spec})


def entry(prior, after, uid=""):
    of = prior or after
    group = of["apiVersion"].rpartition("/")[0]
    return ReceiptEntry(ref=Reference(of["kind"], of["metadata"]["name"], NS, group), prior=prior, after=after, uid=uid)


AFFINITY = entry(service(), service(sessionAffinity="ClientIP"))


def write_concurrently(world, times, error=Conflict):
    """Write concurrently before each of the first ``times`` patches, so that these conflict."""
    left = [times]

    def before(verb, target):
        if verb == "patch" and left[0]:
            left[0] -= 1
            world.cluster.before = lambda *_: None
            other = {"metadata": {"labels": {"writes": str(times - left[0])}}}
            world.cluster.patch(Reference("Service", "web", NS), other)
            world.cluster.before = before
            if error is not Rejected:
                raise error("the object has been modified", status=409)

    world.cluster.before = before


@pytest.mark.parametrize("error", [Conflict, Rejected], ids=["answered as a conflict", "the test of the patch failed"])
@pytest.mark.parametrize(("writes", "blocked"), [(0, False), (1, False), (4, False), (5, True)])
def test_concurrent_writes_are_kept_and_block_after_five_attempts(error, writes, blocked):
    world = World(service(sessionAffinity="ClientIP"))
    write_concurrently(world, writes, error)
    problem = world.undo(AFFINITY)
    assert (problem is not None) is blocked
    if blocked:
        assert problem[:2] == ("Fault/f", "shop/Service/web")
        assert problem.reason
    assert ("sessionAffinity" in world.get("Service/web")["spec"]) is blocked
    labels = world.get("Service/web")["metadata"].get("labels") or {}
    assert labels == ({"writes": str(writes)} if writes else {})
    ours = [t for t in world.writes() if t == ("patch", "shop/Service/web")]
    assert len(ours) >= min(writes + 1, 5)


def test_undo_patch_tests_resource_version():
    world = World(service(sessionAffinity="ClientIP"))
    sent = []
    patch = world.cluster.patch
    world.cluster.patch = lambda ref, body, *rest: sent.append((body, rest)) or patch(ref, body, *rest)
    version = world.get("Service/web")["metadata"]["resourceVersion"]
    assert world.undo(AFFINITY) is None
    assert sent == [
        (
            [
                {"op": "test", "path": "/metadata/resourceVersion", "value": version},
                {"op": "remove", "path": "/spec/sessionAffinity"},
            ],
            ("Json",),
        )
    ]


@pytest.mark.parametrize(("error", "blocked"), [(NotFound, False), (Unreachable, True)])
def test_undo_skips_deleted_object_and_blocks_without_response(error, blocked):
    world = World(service(sessionAffinity="ClientIP"))

    def before(verb, target):
        if verb == "patch":
            raise error("no")

    world.cluster.before = before
    assert world.undo(AFFINITY) == (Blocked("Fault/f", "shop/Service/web", "no") if blocked else None)
    assert len(world.writes()) == 0


def test_undo_without_difference_writes_nothing():
    world = World(service())
    assert world.undo(AFFINITY) is None
    assert world.undo() is None, "a receipt without objects"
    assert world.writes() == []


PRIOR = thing(
    "ConfigMap",
    data={"a": "1", "b": "2", "x/y~z": "3"},
    meta={"labels": {"app": "web", "tier": "1"}, "annotations": {"note": "old"}},
)


def config(**changes):
    return {**PRIOR, **changes}


def meta(**changes):
    return {**PRIOR, "metadata": {**PRIOR["metadata"], **changes}}


@pytest.mark.parametrize(
    ("after", "live", "left"),
    [
        (config(data={"a": "9", "b": "2", "x/y~z": "3"}), None, PRIOR),
        (config(data={"a": "1", "x/y~z": "3"}), None, PRIOR),
        (config(data={"a": "1", "b": "2", "x/y~z": "9"}), None, PRIOR),
        (config(data={"a": "1", "b": "2"}), None, PRIOR),
        (config(data={**PRIOR["data"], "new/~": "9"}), None, PRIOR),
        (config(binaryData={"k": "AAAA"}), None, PRIOR),
        (config(immutable=False), None, PRIOR),
        ({k: v for k, v in PRIOR.items() if k != "data"}, None, PRIOR),
        (meta(labels={"app": "other", "tier": "1"}), None, PRIOR),
        (meta(labels={"app": "web"}), None, PRIOR),
        (meta(labels={**PRIOR["metadata"]["labels"], "new": "x"}), None, PRIOR),
        (meta(annotations={"note": "new", "more": "x"}), None, PRIOR),
        (
            config(data={"a": "9", "b": "2", "x/y~z": "3"}),
            config(data={"a": "9", "b": "8", "c": "7", "x/y~z": "3"}),
            config(data={"a": "1", "b": "8", "c": "7", "x/y~z": "3"}),
        ),
        (
            meta(annotations={"note": "new"}),
            meta(annotations={"note": "new", "theirs": "x", "deployment.kubernetes.io/revision": "7"}),
            meta(annotations={"note": "old", "theirs": "x", "deployment.kubernetes.io/revision": "7"}),
        ),
        (
            meta(labels={"app": "web", "tier": "2"}),
            meta(labels={"app": "theirs", "tier": "2", "own": "1"}),
            meta(labels={"app": "theirs", "tier": "1", "own": "1"}),
        ),
    ],
    ids=[
        "value", "key removed", "key with slash and tilde", "such a key removed", "such a key added", "map added",
        "field added", "map removed", "label", "label removed", "label added", "annotations",
        "keys of others", "annotations of others and of controllers", "labels of others",
    ],
)  # fmt: skip
def test_undo_restores_own_fields_only(after, live, left):
    world = World(live or after)
    assert world.undo(entry(PRIOR, after)) is None
    now = world.get("ConfigMap/web")
    assert {k: v for k, v in now.items() if k != "metadata"} == {k: v for k, v in left.items() if k != "metadata"}
    for field in ("labels", "annotations"):
        assert now["metadata"].get(field) == left["metadata"][field]


def test_undo_keeps_controller_annotations():
    revision = {"deployment.kubernetes.io/revision": "2"}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {"spec": {"containers": []}}}
    before = thing("Deployment", api="apps/v1", spec=spec)
    after = thing("Deployment", api="apps/v1", spec={**spec, "replicas": 3})
    live = thing("Deployment", api="apps/v1", spec={**spec, "replicas": 3}, meta={"annotations": revision},
                 status={"replicas": 3})  # fmt: skip
    world = World(live)
    assert world.undo(entry(before, after), change={"scale": {"target": "Deployment/web", "replicas": 3}}) is None
    now = world.get("Deployment/web")
    assert (now["spec"]["replicas"], now["metadata"]["annotations"], now["status"]) == (1, revision, {"replicas": 3})


@pytest.mark.parametrize("state", ["Done", "Recorded"])
def test_undo_of_incomplete_change_restores_live_state(state):
    """An incomplete receipt does not contain the written object; the current one is used instead."""
    world = World(config(data={"a": "9", "b": "8"}))
    after = config(data={"a": "9", "b": "2", "x/y~z": "3"}) if state == "Done" else None
    assert world.undo(entry(PRIOR, after), state=state) is None
    b = "8" if state == "Done" else "2"
    assert (world.get("ConfigMap/web")["data"]["a"], world.get("ConfigMap/web")["data"]["b"]) == ("1", b)


def test_undo_recreates_deleted_object_once():
    world = World()
    assert world.undo(entry(PRIOR, config(data={}))) is None
    assert world.get("ConfigMap/web")["data"] == PRIOR["data"]
    assert world.get("ConfigMap/web")["metadata"]["labels"] == PRIOR["metadata"]["labels"]


@pytest.mark.parametrize(
    ("kind", "api", "owned", "back"),
    [
        ("Pod", "v1", True, False),
        ("Pod", "v1", False, True),
        ("ReplicaSet", "apps/v1", True, False),
        ("EndpointSlice", "discovery.k8s.io/v1", True, False),
        ("ControllerRevision", "apps/v1", True, False),
        ("ConfigMap", "v1", True, True),
    ],
)
def test_undo_does_not_recreate_controlled_objects(kind, api, owned, back):
    owners = {"ownerReferences": [{"kind": "X", "name": "x", "uid": "u"}]} if owned else {}
    prior = (
        thing(kind, api=api, meta=owners, spec={})
        if kind in ("Pod", "ReplicaSet")
        else thing(kind, api=api, meta=owners)
    )
    world = World()
    assert world.undo(entry(prior, None), change={"delete": {"target": f"{kind}/web"}}) is None
    ref = Reference(kind, "web", NS, api.rpartition("/")[0])
    assert (world.cluster.get(ref) is not None) is back


@pytest.mark.parametrize("taken", [False, True])
def test_undo_recreates_service_without_taken_address(taken):
    world = World()
    prior = service(clusterIP="10.0.0.1", clusterIPs=["10.0.0.1"], type="ClusterIP")
    create, made = world.cluster.create, []

    def refuse(obj):
        made.append(obj)
        if taken and "clusterIP" in obj["spec"]:
            raise Rejected("provided IP is already allocated", status=422)
        return create(obj)

    world.cluster.create = refuse
    assert world.undo(entry(prior, None), change={"delete": {"target": "Service/web"}}) is None
    spec = {"selector": {"app": "web"}, "type": "ClusterIP"}
    assert world.get("Service/web")["spec"] == (spec if taken else {**prior["spec"]})
    assert len(made) == (2 if taken else 1)
    assert world.get("Service/web")["metadata"]["name"] == "web"


# --- objects that the change made


@pytest.mark.parametrize(
    ("theirs", "gone"),
    [(None, True), ({"k": "ours"}, True), ({"k": "theirs"}, False)],
    ids=["the very object", "made anew, as ours was", "another by the same name"],
)
def test_undo_removes_only_created_object(theirs, gone):
    world = World()
    made = world.cluster.create(thing("ConfigMap", data={"k": "ours"}))
    after = thing("ConfigMap", data={"k": "ours"})
    if theirs:
        world.cluster.delete(Reference("ConfigMap", "web", NS))
        world.cluster.create(thing("ConfigMap", data=theirs))
    change = {"create": thing("ConfigMap", data={"k": "ours"})}
    assert world.undo(entry(None, after, made["metadata"]["uid"]), change=change) is None
    assert (world.get("ConfigMap/web") is None) is gone


def test_undo_removes_object_of_incomplete_creation():
    world = World(thing("ConfigMap", data={"k": "x"}))
    change = {"create": thing("ConfigMap", data={"k": "ours"})}
    made = entry(None, thing("ConfigMap"))
    assert world.undo(ReceiptEntry(ref=made.ref), change=change, state="Recorded") is None
    assert world.get("ConfigMap/web") is None


CHAOS = thing("NetworkChaos", api="chaos-mesh.org/v1alpha1", spec={"action": "loss"})


def test_undo_removes_recreated_chaos_object():
    """It may have been bound again since, so neither its UID nor its content is that of the receipt."""
    world = World()
    world.cluster.create({**CHAOS, "spec": {"action": "delay"}})
    assert world.undo(entry(None, CHAOS, "another"), change={"chaos": CHAOS}) is None
    assert world.cluster.get(Reference("NetworkChaos", "web", NS, "chaos-mesh.org")) is None


@pytest.mark.parametrize(("released", "blocked"), [(0, False), (29, False), (31, True)])
def test_undo_waits_thirty_seconds_for_finalizer(released, blocked):
    world = World(thing("ConfigMap", meta={"finalizers": ["held"]}))
    ref = Reference("ConfigMap", "web", NS)

    def on_advance(now):
        if now >= 1000.0 + released and world.cluster.get(ref):
            world.cluster.patch(ref, {"metadata": {"finalizers": None}})

    world.clock = FakeClock(1000.0, on_advance=on_advance)
    uid = world.get("ConfigMap/web")["metadata"]["uid"]
    problem = world.undo(entry(None, thing("ConfigMap"), uid), change={"create": thing("ConfigMap")})
    assert (problem is not None) is blocked
    if problem:
        assert problem == Blocked(
            "Fault/f", "shop/ConfigMap/web",
            "shop/ConfigMap/web is still there 30 s after its deletion: a finalizer holds it",
        )  # fmt: skip
        assert world.clock.now() == 1030.0
    else:
        assert world.clock.now() == 1000.0 + released


SCHEDULE = thing(
    "Schedule", api="chaos-mesh.org/v1alpha1",
    spec={"type": "PodChaos", "schedule": "@every 1m", "podChaos": {"action": "pod-kill"}},
)  # fmt: skip


@pytest.mark.parametrize("there", [True, False], ids=["deleted now", "deleted before"])
@pytest.mark.parametrize(
    ("owner", "after", "blocked"), [("web", 10, False), ("web", 40, True), ("other", 40, False), (None, 40, False)]
)
def test_undo_of_schedule_waits_for_its_experiments(there, owner, after, blocked):
    run = thing("PodChaos", "web-x1", api="chaos-mesh.org/v1alpha1", spec={},
                meta={"labels": {"managed-by": owner}} if owner else {})  # fmt: skip
    world = World(run, *([SCHEDULE] if there else []))
    ref = Reference("PodChaos", "web-x1", NS, "chaos-mesh.org")

    def on_advance(now):
        if now >= 1000.0 + after:
            world.cluster.delete(ref)

    world.clock = FakeClock(1000.0, on_advance=on_advance)
    problem = world.undo(entry(None, SCHEDULE), change={"chaos": SCHEDULE})
    assert (problem is not None) is blocked
    assert world.cluster.get(Reference("Schedule", "web", NS, "chaos-mesh.org")) is None
    if blocked:
        assert "PodChaos" in problem.reason


def test_undo_of_missing_object_does_not_wait():
    world = World()
    assert world.undo(entry(None, thing("ConfigMap"), "u"), change={"create": thing("ConfigMap")}) is None
    assert world.clock.now() == 1000.0
    assert world.writes() == []


# --- restarts and flags


def workload(replicas):
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {}} | (
        {} if replicas is None else {"replicas": replicas}
    )
    return thing("Deployment", api="apps/v1", spec=spec)


@pytest.mark.parametrize(
    ("state", "prior", "now", "left"),
    [
        ("Down", 3, 0, 3),
        ("Down", 3, 5, 5),  # somebody has scaled it since
        ("Down", None, 0, 0),
        ("Done", 3, 0, 0),  # scaled down after the restart, which was not us
        ("Recorded", 3, 0, 0),
    ],
)
def test_undo_of_interrupted_restart_restores_replicas(state, prior, now, left):
    world = World(workload(now))
    change = {"restart": {"target": "Deployment/web", "dropOld": True}}
    assert world.undo(entry(workload(prior), None), change=change, state=state) is None
    assert world.get("Deployment/web")["spec"]["replicas"] == left


def test_undo_of_restart_does_not_recreate_workload():
    world = World()
    change = {"restart": {"target": "Deployment/web", "dropOld": True}}
    assert world.undo(entry(workload(3), None), change=change, state="Down") is None
    assert world.writes() == []


def flags(**flags):
    document = {"flags": {name: {"variants": {"on": 1, "off": 0}, "defaultVariant": v} for name, v in flags.items()}}
    return thing("ConfigMap", "flags", data={"flags.json": json.dumps(document), "other": "x"})


SET = {"setFlag": {"flag": "slow", "variant": "on"}}


@pytest.mark.parametrize(
    ("live", "left", "writes"),
    [
        (flags(slow="on", odd="off"), flags(slow="off", odd="off"), 1),
        (flags(slow="on", odd="on"), flags(slow="off", odd="on"), 1),  # another flag, by somebody else
        (flags(slow="off", odd="on"), flags(slow="off", odd="on"), 0),  # repaired already
        (flags(odd="on"), flags(odd="on", slow="off"), 1),
    ],
)
def test_undo_of_set_flag_restores_one_flag(live, left, writes):
    world = World(live)
    assert world.undo(entry(flags(slow="off", odd="off"), flags(slow="on", odd="off")), change=SET) is None
    now = world.get("ConfigMap/flags")["data"]
    assert json.loads(now["flags.json"]) == json.loads(left["data"]["flags.json"])
    assert now["other"] == "x"
    assert len(world.writes()) == writes


def test_undo_of_set_flag_without_document_is_skipped():
    world = World()
    assert world.undo(entry(flags(slow="off"), flags(slow="on")), change=SET) is None
    assert world.writes() == []


# --- order


def test_undo_restores_objects_in_reverse_and_stops_when_blocked():
    names = ("a", "b", "c")
    world = World(*(thing("ConfigMap", n, data={"k": "bad"}) for n in names))
    entries = [
        entry(thing("ConfigMap", n, data={"k": "good"}), thing("ConfigMap", n, data={"k": "bad"})) for n in names
    ]

    def before(verb, target):
        if (verb, target) == ("patch", "shop/ConfigMap/a"):
            raise Unreachable("no")

    world.cluster.before = before
    assert world.undo(*entries) == Blocked("Fault/f", "shop/ConfigMap/a", "no")
    assert world.writes() == [("patch", "shop/ConfigMap/c"), ("patch", "shop/ConfigMap/b")]

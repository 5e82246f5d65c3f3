"""Each change operation: its writes and refusals."""

import json
from datetime import UTC, datetime

import pytest

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import send
from scenario_kit.changes.operations.set_flag import read_flag_document
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Change, FlagStore, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.schema.writable import OWNED
from scenario_kit.testing import FakeCluster

NS, STORES, NOW = "demo", "demo-stores", 1_700_000_000.0
RESTARTED = "kubectl.kubernetes.io/restartedAt"
FLAGS = FlagStore(config_map="flags", key="f.json", restart=(Reference("Deployment", "web"),))


def app(flags=FLAGS):
    return App(name="shop", version="1", namespace="shop", entry="web", components=(), flags=flags)


def thing(kind, name, namespace=NS, api="v1", meta=None, **fields):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {}) | (meta or {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def workload(kind="Deployment", name="web", namespace=NS, annotations=None, **more):
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": []}}
    if annotations:
        template["metadata"]["annotations"] = annotations
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": template}
    return thing(kind, name, namespace, "apps/v1", spec=spec, **more)


def context(*objects, flags=FLAGS, now=NOW):
    cluster = FakeCluster([thing("Namespace", NS, ""), thing("Namespace", STORES, ""), *objects])
    return ChangeContext(cluster=cluster, namespace=NS, app=app(flags), now=lambda: now, others={"stores": STORES})


def do(where, change):
    where.cluster.requests.clear()
    send(where, Change.from_json(change))
    return [(verb, target) for verb, target in where.cluster.requests if verb not in ("get", "list", "kinds")]


def get(where, text):
    return where.cluster.get(where.resolve(Reference.parse(text)))


def test_scene_lists_namespaces():
    found = ChangeContext(
        cluster=None, namespace="a", app=app(), now=None, others={"s": "a-s"}, declared=frozenset({"b"})
    )
    assert found.everywhere == ("a", "a-s")
    assert found.reach == {"a", "a-s", "b"}
    assert found.resolve(Reference.parse("s/Deployment/web")) == Reference("Deployment", "web", "a-s")
    assert found.resolve(Reference("Deployment", "web")).namespace == "a"


@pytest.mark.parametrize(
    ("manifest", "ref"),
    [
        (thing("Service", "a", "x"), Reference("Service", "a", "x", "")),
        (thing("Service", "a", ""), Reference("Service", "a", "home", "")),
        (thing("Deployment", "a", "", "apps/v1"), Reference("Deployment", "a", "home", "apps")),
        ({"kind": "Service", "metadata": {"name": "a"}}, Reference("Service", "a", "home", "")),
    ],
)
def test_reference_of_manifest(manifest, ref):
    assert make_object_reference(manifest, "home") == ref


@pytest.mark.parametrize(
    ("change", "refs"),
    [
        ({"create": thing("Service", "a", "")}, [Reference("Service", "a", NS)]),
        ({"apply": thing("Service", "a", STORES)}, [Reference("Service", "a", STORES)]),
        ({"scale": {"target": "stores/Deployment/db", "replicas": 1}}, [Reference("Deployment", "db", STORES)]),
        ({"setFlag": {"flag": "x", "variant": "y"}}, [Reference("ConfigMap", "flags", NS)]),
        ({"cordon": {"target": "Node/a,b"}}, [Reference("Node", "a"), Reference("Node", "b")]),
    ],
)
def test_list_targets_of_operations(change, refs):
    assert Change.from_json(change).operation.list_targets(context()) == refs


@pytest.mark.parametrize(
    ("change", "flags", "text"),
    [
        ({"setFlag": {"flag": "x", "variant": "y"}}, None, "shop has no feature flags"),
        ({"removeFault": {"fault": "x"}}, FLAGS, "'removeFault' is not executed"),
    ],
)
def test_missing_target_is_refused(change, flags, text):
    made = Change.from_json(change)
    for act in (made.operation.list_targets, lambda where: send(where, made)):
        with pytest.raises(AuthoringError, match=text):
            act(context(flags=flags))


@pytest.mark.parametrize("operation", ["create", "apply"])
def test_manifest_has_own_namespace_or_the_apps(operation):
    where = context()
    assert do(where, {operation: thing("ConfigMap", "a", "", data={"k": "v"})}) == [(operation, f"{NS}/ConfigMap/a")]
    assert do(where, {operation: thing("ConfigMap", "a", STORES)}) == [(operation, f"{STORES}/ConfigMap/a")]
    assert get(where, "ConfigMap/a")["data"] == {"k": "v"}
    do(where, {operation: thing("Namespace", "extra", "", meta={"labels": {"a": "b"}})})
    assert where.cluster.get(Reference("Namespace", "extra"))["metadata"]["labels"] == {"a": "b", **dict([OWNED])}
    do(where, {operation: thing("Namespace", "more", "")})
    assert where.cluster.get(Reference("Namespace", "more"))["metadata"]["labels"] == dict([OWNED])
    assert "labels" not in get(where, "ConfigMap/a")["metadata"]


@pytest.mark.parametrize(
    ("type_", "patch", "data"),
    [
        ("Merge", {"data": {"k": None, "n": "1"}}, {"n": "1"}),
        ("Json", [{"op": "add", "path": "/data/n", "value": "1"}], {"k": "v", "n": "1"}),
        ("Strategic", {"data": {"n": "1"}}, {"k": "v", "n": "1"}),
    ],
)
def test_patch_is_sent_with_its_type(type_, patch, data):
    where = context(thing("ConfigMap", "a", data={"k": "v"}))
    change = {"patch": {"target": "ConfigMap/a", "type": type_, "patch": patch}}
    assert do(where, change) == [("patch", f"{NS}/ConfigMap/a")]
    assert get(where, "ConfigMap/a")["data"] == data


def test_delete_and_scale_affect_only_the_target():
    where = context(thing("ConfigMap", "a"), thing("ConfigMap", "a", STORES), workload(), workload(namespace=STORES))
    assert do(where, {"delete": {"target": "stores/ConfigMap/a"}}) == [("delete", f"{STORES}/ConfigMap/a")]
    assert (get(where, "ConfigMap/a") is None, get(where, "stores/ConfigMap/a")) == (False, None)
    assert do(where, {"scale": {"target": "Deployment/web", "replicas": 5}}) == [("patch", f"{NS}/Deployment/web")]
    assert [get(where, t)["spec"]["replicas"] for t in ("Deployment/web", "stores/Deployment/web")] == [5, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"patch": {"target": "ConfigMap/no", "type": "Merge", "patch": {}}},
        {"delete": {"target": "ConfigMap/no"}},
        {"scale": {"target": "Deployment/no", "replicas": 1}},
        {"restart": {"target": "Deployment/no"}},
        {"undoRollout": {"target": "Deployment/no"}},
    ],
)
def test_change_of_missing_object_is_refused(change):
    where = context()
    with pytest.raises(AuthoringError, match=f"/no does not exist in namespace {NS}"):
        do(where, change)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"scale": {"target": "DaemonSet/web", "replicas": 1}}, "DaemonSet/web cannot be scaled"),
        ({"restart": {"target": "ConfigMap/a"}}, "ConfigMap/a cannot be restarted"),
        ({"undoRollout": {"target": "Deployment/web"}}, "no earlier revision"),
    ],
)
def test_operation_on_unsupported_kind_is_refused(change, text):
    where = context(workload(), workload("DaemonSet"), thing("ConfigMap", "a"))
    with pytest.raises(AuthoringError, match=text):
        do(where, change)


# --- restarts


def stamp(at):
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
@pytest.mark.parametrize(
    ("last", "now"),
    [
        (None, stamp(NOW)),
        (stamp(NOW - 1), stamp(NOW)),
        (stamp(NOW), stamp(NOW + 1e-6)),
        (stamp(NOW + 0.25), stamp(NOW + 0.250001)),
        (stamp(NOW + 1), stamp(NOW)),  # of another clock
        (stamp(NOW + 3600), stamp(NOW)),
        ("yesterday", stamp(NOW)),
        ("2023-11-14T22:13:20", stamp(NOW)),  # without a zone it cannot be compared
    ],
)
def test_restart_time_is_the_trials_and_unique(kind, last, now):
    where = context(workload(kind, annotations={RESTARTED: last, "own": "x"} if last else None))
    do(where, {"restart": {"target": f"{kind}/web"}})
    annotations = get(where, f"{kind}/web")["spec"]["template"]["metadata"]["annotations"]
    assert annotations == ({RESTARTED: now, "own": "x"} if last else {RESTARTED: now})


def test_restart_of_template_without_metadata():
    bare = workload()
    del bare["spec"]["template"]["metadata"]
    where = context(bare)
    do(where, {"restart": {"target": "Deployment/web"}})
    assert get(where, "Deployment/web")["spec"]["template"]["metadata"]["annotations"] == {RESTARTED: stamp(NOW)}


def test_restart_of_pod_deletes_it():
    where = context(thing("Pod", "a", spec={}))
    assert do(where, {"restart": {"target": "Pod/a"}}) == [("delete", f"{NS}/Pod/a")]


# --- rollouts


def revision(name, number, owner="u-web", image="", namespace=NS):
    annotations = {} if number is None else {"deployment.kubernetes.io/revision": str(number)}
    meta = {"annotations": annotations} | ({"ownerReferences": [{"uid": owner}]} if owner else {})
    template = {"metadata": {"labels": {"app": "web", "pod-template-hash": name}},
                "spec": {"containers": [{"name": "web", "image": image or name}]}}  # fmt: skip
    return thing("ReplicaSet", name, namespace, "apps/v1", meta, spec={"template": template})


@pytest.mark.parametrize(
    ("sets", "image"),
    [
        ([revision("r1", 1), revision("r2", 2)], "r1"),
        ([revision("r9", 9), revision("r10", 10), revision("r2", 2)], "r9"),  # as numbers
        ([revision("r3", 3), revision("r1", 1), revision("x", 2, "u-other"), revision("y", 2, None)], "r1"),
        ([revision("r0", None), revision("r1", 1)], "r0"),
        ([revision("r1", 1), revision("r2", 2), revision("z", 1, namespace=STORES)], "r1"),
    ],
)
def test_undo_rollout_restores_previous_revision(sets, image):
    where = context(workload(meta={"uid": "u-web"}), *sets)
    do(where, {"undoRollout": {"target": "Deployment/web"}})
    template = get(where, "Deployment/web")["spec"]["template"]
    assert template == {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": image}]},
    }


def test_undo_rollout_accepts_template_without_labels():
    old = revision("r1", 1)
    del old["spec"]["template"]["metadata"]["labels"]
    where = context(workload(meta={"uid": "u-web"}), old, revision("r2", 2))
    do(where, {"undoRollout": {"target": "Deployment/web"}})
    assert get(where, "Deployment/web")["spec"]["template"]["metadata"] == {}


@pytest.mark.parametrize("sets", [[], [revision("r1", 1)], [revision("r1", 1), revision("r2", 2, "u-other")]])
def test_undo_rollout_without_earlier_revision_is_refused(sets):
    with pytest.raises(AuthoringError, match="no earlier revision"):
        do(context(workload(meta={"uid": "u-web"}), *sets), {"undoRollout": {"target": "Deployment/web"}})


# --- flags


def document(**flags):
    return {"flags": {n: {"variants": {"on": 1, "off": 0}, "defaultVariant": v} for n, v in flags.items()}}


def store(doc, **more):
    return thing("ConfigMap", "flags", data={"f.json": json.dumps(doc), **more})


def test_set_flag_changes_one_flag_and_restarts_readers():
    where = context(store(document(slow="off", odd="off"), other="x"), workload())
    writes = do(where, {"setFlag": {"flag": "slow", "variant": "on"}})
    assert [target.rpartition("/")[2] for _, target in writes] == ["flags", "web"]
    data = get(where, "ConfigMap/flags")["data"]
    assert json.loads(data["f.json"]) == document(slow="on", odd="off")
    assert data["other"] == "x"
    assert RESTARTED in get(where, "Deployment/web")["spec"]["template"]["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("flag", "variant", "value", "choices"),
    [
        ("no", "on", None, "slow"),
        ("no", "x", 7, "slow"),
        ("slow", "no", None, "on, off"),
    ],
)
def test_unknown_flag_or_variant_is_refused_with_choices(flag, variant, value, choices):
    where = context(store(document(slow="off")), workload())
    change = {"flag": flag, "variant": variant} | ({} if value is None else {"value": value})
    with pytest.raises(AuthoringError, match=f"no flag '{flag}' with a variant '{variant}'") as refused:
        do(where, {"setFlag": change})
    assert refused.value.fix == f"one of: {choices}"


@pytest.mark.parametrize("data", [{}, None])
def test_missing_flag_document_is_empty(data):
    where = context(thing("ConfigMap", "flags", **({} if data is None else {"data": data})))
    assert read_flag_document(where) == (Reference("ConfigMap", "flags", NS), "f.json", {})
    with pytest.raises(AuthoringError, match="no flag"):
        do(where, {"setFlag": {"flag": "slow", "variant": "on"}})


def test_app_without_flags_is_refused():
    with pytest.raises(AuthoringError, match="has no feature flags"):
        read_flag_document(context(flags=None))


# --- chaos


def pod(name, namespace=NS):
    status = {"phase": "Running", "containerStatuses": [{"containerID": "c"}]}
    return thing("Pod", name, namespace, meta={"labels": {"app": "web"}}, spec={}, status=status)


def experiment(selector, **meta):
    return {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "x", **meta},
            "spec": {"action": "pod-failure", "mode": "all", "selector": selector}}  # fmt: skip


def test_chaos_is_bound_to_current_pods():
    where = context(pod("a"), pod("b", STORES))
    assert do(where, {"chaos": experiment({"labelSelectors": {"app": "web"}})}) == [("create", f"{NS}/PodChaos/x")]
    made = where.cluster.get(Reference("PodChaos", "x", NS, "chaos-mesh.org"))
    assert made["spec"]["selector"] == {"namespaces": [NS], "pods": {NS: ["a"]}}
    there = experiment({"namespaces": [STORES]}, namespace=STORES)
    assert do(where, {"chaos": there}) == [("create", f"{STORES}/PodChaos/x")]


@pytest.mark.parametrize(
    ("selector", "code"),
    [({"labelSelectors": {"app": "none"}}, "SK111"), ({"namespaces": ["kube-system"]}, "SK150")],
)
def test_chaos_without_pods_or_outside_the_app_is_refused(selector, code):
    where = context(pod("a"))
    with pytest.raises(AuthoringError) as refused:
        do(where, {"chaos": experiment(selector)})
    assert [f.code for f in refused.value.findings] == [code]


@pytest.mark.parametrize(
    ("patch", "name"),
    [
        ({"kind": "Secret"}, "kind"),
        ({"apiVersion": "v2"}, "apiVersion"),
        ({"metadata": {"name": "other"}}, "name"),
        ({"metadata": {"namespace": "kube-system"}}, "namespace"),
    ],
)
def test_patch_keeps_object_identity(patch, name):
    obj = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}, "spec": {"ports": []}}
    change = Change.from_json({"patch": {"target": "Service/cart", "type": "Merge", "patch": patch}})

    with pytest.raises(AuthoringError, match=f"changes its {name}"):
        change.operation.transform(obj)


def test_patch_does_not_write_the_status():
    obj = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "cart"}, "spec": {"ports": []}}
    change = Change.from_json({"patch": {"target": "Service/cart", "type": "Merge", "patch": {"status": {"a": 1}}}})

    assert change.operation.transform(obj) == obj

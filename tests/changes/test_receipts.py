"""Storage of receipts: Secret data stays in Secrets, and a new process reads every receipt."""

import base64
import json

import msgspec
import pytest

from scenario_kit.changes.receipts import LIMIT_BYTES, TRIAL_LABEL, ClusterStore, Receipt, ReceiptEntry
from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Reference
from scenario_kit.model.authored.change import list_operations
from scenario_kit.schema import load_definitions
from scenario_kit.testing import FakeCluster
from scenario_kit.trial.clean_room import find_residue

KIT = "kit"
CHANGE = Change.from_json({"delete": {"target": "ConfigMap/a"}})


def obj(kind, name="a"):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}}


def receipt(ordinal=1, *entries, trial="t", change=CHANGE, **more):
    return Receipt(trial=trial, ordinal=ordinal, group="Fault/f", change=change, entries=entries, **more)


def entry(prior=None, after=None, kind="ConfigMap"):
    return ReceiptEntry(
        ref=Reference((prior or after or {"kind": kind})["kind"], "a", "shop"), prior=prior, after=after
    )


SECRET, CONFIG = obj("Secret"), obj("ConfigMap")
CREATES, APPLIES = (Change.from_json({verb: SECRET}) for verb in ("create", "apply"))
PATCHES = Change.from_json({"patch": {"target": "stores/Secret/a", "type": "Merge", "patch": {"data": {"k": "eA=="}}}})


@pytest.fixture
def cluster():
    return FakeCluster([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": KIT}}])


def list_receipt_objects(cluster):
    """List the stored receipts as kind and name."""
    return {(k, o["metadata"]["name"]) for k in ("ConfigMap", "Secret") for o in cluster.list(k, KIT)}


@pytest.mark.parametrize(
    ("change", "entries", "kind"),
    [
        (CHANGE, (entry(CONFIG, CONFIG),), "ConfigMap"),
        (CHANGE, (entry(SECRET, SECRET),), "Secret"),
        (CHANGE, (entry(SECRET),), "Secret"),  # to be changed, or deleted
        (CHANGE, (entry(None, SECRET),), "Secret"),  # was created
        (CREATES, (entry(kind="Secret"),), "Secret"),  # is about to be created: the change itself holds the data
        (APPLIES, (entry(kind="Secret"),), "Secret"),
        (CREATES, (), "Secret"),
        (PATCHES, (), "Secret"),
        (CHANGE, (entry(CONFIG), entry(SECRET)), "Secret"),
        (CHANGE, (), "ConfigMap"),
        (Change.from_json({"cordon": {"target": "Node/a,b"}}), (), "ConfigMap"),
        (Change.from_json({"delete": {"target": "Secret/a"}}), (), "Secret"),
    ],
)
def test_receipt_with_secret_data_is_a_secret(cluster, change, entries, kind):
    given = receipt(7, *entries, change=change)
    assert given.secret is (kind == "Secret")
    assert ClusterStore(cluster, KIT, "t").save(given) is given
    assert list_receipt_objects(cluster) == {(kind, "t-r007")}
    stored = cluster.get(Reference(kind, "t-r007", KIT))
    assert stored["metadata"]["labels"] == {TRIAL_LABEL: "t"}
    (text,) = stored["data"].values()
    document = json.loads(base64.b64decode(text) if kind == "Secret" else text)
    assert Receipt.from_json(document) == given
    assert ClusterStore(cluster, KIT, "t").all() == [given], "read by another process"


def test_receipt_with_secret_compensation_is_a_secret(cluster):
    store = ClusterStore(cluster, KIT, "t")
    store.save(receipt(1, entry(CONFIG), inverse=(CHANGE, PATCHES)))
    store.save(receipt(2, entry(CONFIG), inverse=(CHANGE,)))
    assert list_receipt_objects(cluster) == {("Secret", "t-r001"), ("ConfigMap", "t-r002")}


def test_receipt_of_created_secret_keeps_its_kind(cluster):
    """Were the announced one a ConfigMap, it would stay behind beside the Secret, with the data in it."""
    store = ClusterStore(cluster, KIT, "t")
    for state, after in (("Recorded", None), ("Done", SECRET), ("Undone", SECRET)):
        store.save(receipt(1, entry(None, after, "Secret"), change=CREATES, state=state))
        assert list_receipt_objects(cluster) == {("Secret", "t-r001")}
    store.clear()
    assert list_receipt_objects(cluster) == set()


def test_new_store_reads_receipts_of_its_trial_in_order(cluster):
    given = [receipt(12, entry(CONFIG)), receipt(3, entry(SECRET)), receipt(1000, entry(None, CONFIG), state="Done")]
    for each in given:
        ClusterStore(cluster, KIT, "t").save(each)
    ClusterStore(cluster, KIT, "other").save(receipt(1, trial="other"))
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "data": {"document": "{}"},
                    "metadata": {"name": "t-progress", "namespace": KIT, "labels": {TRIAL_LABEL: "t"}}})  # fmt: skip
    cluster.create({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": "t-nothing", "namespace": KIT, "labels": {TRIAL_LABEL: "t"}}})  # fmt: skip
    assert ClusterStore(cluster, KIT, "t").all() == [given[1], given[0], given[2]]


def test_store_caches_receipts(cluster):
    store = ClusterStore(cluster, KIT, "t")
    assert store.all() == []
    cluster.requests.clear()
    first, again = receipt(1), receipt(1, state="Done")
    store.save(first)
    store.save(receipt(2))
    store.save(again)
    assert store.all() == [again, receipt(2)]
    assert {verb for verb, _ in cluster.requests} == {"apply"}


def test_clear_removes_only_receipts_of_the_trial(cluster):
    store = ClusterStore(cluster, KIT, "t")
    store.save(receipt(1, entry(CONFIG)))
    store.save(receipt(2, entry(SECRET)))
    store.save(receipt(3, entry(), change=CREATES))
    ClusterStore(cluster, KIT, "other").save(receipt(1, trial="other"))
    assert len(store.all()) == 3
    store.clear()
    assert list_receipt_objects(cluster) == {("ConfigMap", "other-r001")}
    assert store.all() == []
    ClusterStore(cluster, KIT, "t").save(receipt(9))
    assert ClusterStore(cluster, KIT, "t").all() == [receipt(9)]


def test_receipts_are_deleted_from_the_last_change_to_the_first(cluster):
    store = ClusterStore(cluster, KIT, "t")
    for each in (receipt(1, at=15.0), receipt(2, at=5.0), receipt(3, at=15.0), receipt(4, entry(SECRET), at=10.0)):
        store.save(each)
    cluster.requests.clear()
    store.clear()
    deleted = [str(what) for verb, what in cluster.requests if verb == "delete"]
    assert [text.rpartition("-")[2] for text in deleted] == ["r003", "r001", "r004", "r002"]


@pytest.mark.parametrize("number", [1, 2])
def test_first_receipts_of_undone_object_find_no_residue(number):
    """As after a crash while they were deleted: a taint that was set, taken off, and undone."""
    taint = {"key": "k", "effect": "NoSchedule"}
    bare = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "spec": {}}
    tainted = {**bare, "spec": {"taints": [taint]}}
    ref = Reference("Node", "a")
    set_and_taken_off = [
        receipt(1, ReceiptEntry(ref=ref, prior=bare, after=tainted)),
        receipt(2, ReceiptEntry(ref=ref, prior=tainted, after=bare)),
    ]
    assert find_residue(ref, set_and_taken_off[:number], bare) == ""
    assert find_residue(ref, set_and_taken_off[:number], tainted) == "changed: Node/a"


def build_receipt_of_size(size):
    """Build a receipt whose JSON has ``size`` bytes."""
    empty = receipt(1, entry({**CONFIG, "data": {"x": ""}}))
    length = len(json.dumps(empty.to_json(), separators=(",", ":")).encode())
    return receipt(1, entry({**CONFIG, "data": {"x": "a" * (size - length)}}))


def test_receipt_above_byte_limit_is_not_written(cluster):
    store = ClusterStore(cluster, KIT, "t")
    with pytest.raises(AuthoringError, match="'delete' of Fault/f needs a receipt of 900 KiB; the limit is 900 KiB"):
        store.save(build_receipt_of_size(LIMIT_BYTES + 1))
    assert list_receipt_objects(cluster) == set()
    store.save(build_receipt_of_size(LIMIT_BYTES))
    assert list_receipt_objects(cluster) == {("ConfigMap", "t-r001")}


@pytest.mark.parametrize(
    "change",
    [
        {
            "create": {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "a"},
                "spec": {"ports": [{"port": 1}]},
            }
        },
        {"apply": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}},
        {"chaos": {"kind": "PodChaos", "metadata": {"name": "a"}, "spec": {"action": "pod-kill"}}},
        {"patch": {"target": "Service/a", "type": "Json", "patch": [{"op": "remove", "path": "/spec/ports"}]}},
        {"delete": {"target": "stores/Service/a"}},
        {"scale": {"target": "Deployment/a", "replicas": 0}},
        {"restart": {"target": "Deployment/a", "dropOld": True}},
        {"undoRollout": {"target": "Deployment/a"}},
        {"cordon": {"target": "Node/a,b"}},
        {"uncordon": {"target": "Node/a"}},
        {"drain": {"target": "Node/node:host:Deployment:a"}},
        {"taint": {"target": "Node/a", "key": "k", "value": "v", "effect": "NoExecute"}},
        {"untaint": {"target": "Node/a", "key": "k"}},
        {"setFlag": {"flag": "f", "variant": "on", "value": 2.5}},
        {"run": {"client": "psql", "command": ["select", "1"]}},
        {"removeFault": {"fault": "a"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_stored_receipts_round_trip(change):
    until = {"check": {"endpoints": {"service": "Service/a", "atLeast": 1}}, "withinSeconds": 30}
    stored = {
        "trial": "t", "ordinal": 3, "group": "Fault/f", "change": {**change, "until": until}, "state": "Done",
        "at": 1.5, "entries": [{"ref": "shop/Service/a", "prior": {"kind": "Service"}, "uid": "u"}],
        "inverse": [{"run": {"client": "psql", "command": ["undo"]}}], "inverseLeft": 1,
    }  # fmt: skip
    receipt = Receipt.from_json(stored)
    assert json.loads(receipt.to_bytes()) == stored
    assert list(json.loads(receipt.to_bytes())["change"]) == [*change, "until"]


def test_operations_match_the_schema():
    assert set(list_operations()) == set(load_definitions()["Change"]["properties"]) - {"until"}


@pytest.mark.parametrize("keywords", [(), ("until",), ("stop",), ("cordon", "drain")])
def test_change_has_exactly_one_operation(keywords):
    with pytest.raises(msgspec.ValidationError, match="one of the operations"):
        Change.from_json({keyword: {"target": "Node/a"} for keyword in keywords})

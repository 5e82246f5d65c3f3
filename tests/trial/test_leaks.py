"""The step that reads with a solver's permissions: reachable texts, and leaks."""

import re

import msgspec
import pytest

from scenario_kit.changes import Receipt, ReceiptEntry
from scenario_kit.errors import Forbidden
from scenario_kit.model import App, Change, Fault, Reference, Runbook, Windows
from scenario_kit.model.authored.scenario import Expect, GroundTruth
from scenario_kit.testing import FakeCluster, FakeMetrics
from scenario_kit.trial.investigation.leaks import expect_no_leaks

FAULT = Fault(
    name="cart-delay",
    type="network-slow-link",
    version=1,
    target=Reference("Deployment", "cart"),
    changes=(),
    effect=(),
    entities=(),
)
RUNBOOK = Runbook(
    scenario="cart-is-late", digest="d", namespace="shop", users=1, objects=(), rules=(),
    app=App(name="shop", version="1", namespace="shop", entry="web", components=()),
    windows=Windows(quiet=60, hold=60, still_firing=60, clear=60, resolve=600),
    faults=(FAULT,), expect=Expect(), ground_truth=GroundTruth(),
)  # fmt: skip
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart-1", "namespace": "shop"}}


class TrialHarness:
    """The step's part of a trial, with a solver who may read the app's namespace only."""

    management = "kit"
    namespace = "shop"
    everywhere = ("shop",)
    runbook = RUNBOOK

    def __init__(self, *objects, series=(), may_read_ours=False, receipts=(), app=()):
        self.receipts = receipts
        self.runbook = msgspec.structs.replace(RUNBOOK, objects=tuple(app))
        self.engine = self
        spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in ("shop", "kit")]
        self.cluster = self.solver = FakeCluster([*spaces, POD, *objects])
        self.metrics = FakeMetrics(lambda expr, at: list(series))
        self.clock = self
        if not may_read_ours:
            self.cluster.before = self._refuse

    def list_receipts(self, prefix):
        assert prefix == "Fault/"
        return list(self.receipts)

    def contents(self, kind):
        return self.cluster.list(kind, "shop")

    def now(self):
        return 0.0

    def _refuse(self, verb, what):
        if re.match(r"kit/|scenario-kit/", what):
            raise Forbidden('User "oncall" cannot list resource')


def config(name, namespace="shop", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def test_innocent_namespace_holds():
    assert expect_no_leaks(TrialHarness(config("settings", key="value"))) == []


@pytest.mark.parametrize(
    "reported",
    [
        config("cart-delay"),
        config("settings", note="see cart-is-late"),
        {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "shop"},
         "reason": "NetworkSlowLink"},
    ],
    ids=["name", "data", "event"],
)  # fmt: skip
def test_leaking_object_or_event_is_reported(reported):
    assert [f.code for f in expect_no_leaks(TrialHarness(reported))] == ["SK441"]


def test_leaking_log_line_is_reported():
    stage = TrialHarness()
    stage.cluster.log("shop", "cart-1", "cart", 1.0, "applying cart-delay")
    (finding,) = expect_no_leaks(stage)
    assert finding.observed == "log of Pod/cart-1, container cart"


def test_leaking_metric_label_is_reported():
    (finding,) = expect_no_leaks(TrialHarness(series=[({"__name__": "up", "job": "cart-delay"}, 1.0)]))
    assert finding.observed == "metrics, label job"


def test_solver_role_reading_kit_namespace_is_a_leak():
    stage = TrialHarness(config("receipt", "kit"), may_read_ours=True)
    assert [f.message for f in expect_no_leaks(stage)] == ["the solver's role can list ConfigMap in kit"]


def receipt(prior, after, change):
    """Build the receipt of a fault's change to an object."""
    kind, metadata = after["kind"], after["metadata"]
    entry = ReceiptEntry(ref=Reference(kind, metadata["name"], metadata["namespace"]), prior=prior, after=after)
    done = Change.from_json(change)
    return Receipt(trial="t", ordinal=1, group="Fault/cart-delay", change=done, state="Done", entries=(entry,))


def test_annotations_on_reconciled_objects_are_leaks():
    before, noted = config("settings", level="info"), config("settings", level="info")
    noted["metadata"] = {**noted["metadata"], "annotations": {"ops/culprit": "yes"}}
    patch = {"patch": {"target": "ConfigMap/settings", "type": "Json", "patch": []}}
    stage = TrialHarness(noted, app=[before], receipts=[receipt(before, noted, patch)])
    (finding,) = expect_no_leaks(stage)
    assert (finding.code, finding.observed) == ("SK443", "yes")


def test_runtime_writes_of_fault_processes_are_checked():
    before, noted = config("settings", level="info"), config("settings", level="info", solution="restart it")
    found = expect_no_leaks(TrialHarness(noted, app=[before]))
    assert {f.code for f in found} == {"SK443"}
    assert all("solution" in f.message for f in found)


def test_api_server_defaults_are_not_changes_of_the_fault():
    keys = ("deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision")
    made = config("settings", level="info")
    made["metadata"] = {**made["metadata"], "annotations": dict.fromkeys(keys, "1")}
    change = {"create": config("settings", level="info")}
    read_by = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reader", "namespace": made["metadata"]["namespace"]},
        "spec": {"containers": [{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "settings"}}]}]},
    }  # fmt: skip
    found = expect_no_leaks(TrialHarness(made, read_by, receipts=[receipt(None, made, change)]))
    assert not [f.message for f in found if any(key in f.message for key in keys)]


def test_changed_text_without_answer_is_no_leak():
    before, changed = config("settings", level="info"), config("settings", level="debug")
    patch = {"patch": {"target": "ConfigMap/settings", "type": "Merge", "patch": {"data": {"level": "debug"}}}}
    assert expect_no_leaks(TrialHarness(changed, app=[before], receipts=[receipt(before, changed, patch)])) == []


def test_last_write_of_fault_is_found_by_version():
    own = [config(f"c{number}", level="info") for number in range(5)]
    stage = TrialHarness(*own, app=own)
    ref = "shop/ConfigMap/c2"
    for number in range(20):
        stage.cluster.patch(Reference.parse(ref), {"data": {"level": str(number)}})
    after = stage.cluster.get(Reference.parse(ref))
    patch = {"patch": {"target": "ConfigMap/c2", "type": "Merge", "patch": {"data": {"level": "19"}}}}
    stage.receipts = [receipt(own[2], after, patch)]
    (finding,) = expect_no_leaks(stage)
    assert finding.code == "SK444"
    assert "resourceVersion" in finding.message


CHAOS = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "NetworkChaos",
         "metadata": {"name": "cart-delay", "namespace": "shop"}, "spec": {}}  # fmt: skip


def build_fault_with_visibility(visibility):
    return msgspec.structs.replace(
        FAULT,
        visibility=visibility,
        changes=(Change.from_json({"chaos": {**CHAOS, "metadata": {"name": "cart-delay"}}}),),
    )


def build_event(kind, api):
    involved = {"kind": kind, "apiVersion": api, "name": "x", "namespace": "shop"}
    metadata = {"name": "e", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "reason": "cart-is-late"} | {
        "involvedObject": involved
    }


@pytest.mark.parametrize(
    ("visibility", "objects", "reported"),
    [
        ("Visible", [CHAOS], False),
        ("Hidden", [CHAOS], True),
        ("Visible", [build_event("NetworkChaos", "chaos-mesh.org/v1alpha1")], False),
        ("Hidden", [build_event("NetworkChaos", "chaos-mesh.org/v1alpha1")], True),
        ("Visible", [build_event("Pod", "v1")], True),
        ("Visible", [build_event("Pod", "chaos-mesh.organic/v1")], True),
    ],
)
def test_visible_experiments_are_no_leaks(visibility, objects, reported):
    stage = TrialHarness(*objects)
    stage.runbook = msgspec.structs.replace(stage.runbook, faults=(build_fault_with_visibility(visibility),))
    assert bool(expect_no_leaks(stage)) is reported


def test_only_app_namespaces_and_cluster_scope_are_read():
    stage = TrialHarness(config("cart-delay", "elsewhere"))
    assert expect_no_leaks(stage) == []
    stage.everywhere = ("shop", "elsewhere")
    assert [f.code for f in expect_no_leaks(stage)] == ["SK441"]
    outside = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "cart-delay"}}
    assert [f.code for f in expect_no_leaks(TrialHarness(outside))] == ["SK441"]


@pytest.mark.parametrize(("namespace", "reported"), [("shop", True), ("elsewhere", False)])
def test_writes_outside_app_are_checked_where_solvers_read(namespace, reported):
    before, noted = config("extra", namespace, note="x"), config("extra", namespace, note="x")
    noted["metadata"]["annotations"] = {"ops/culprit": "yes"}
    patch = {"patch": {"target": "ConfigMap/extra", "type": "Json", "patch": []}}
    stage = TrialHarness(noted, receipts=[receipt(before, noted, patch)])
    assert any(f.observed == "yes" for f in expect_no_leaks(stage)) is reported

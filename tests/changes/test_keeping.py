"""Changes that the engine maintains: active, expired, rebound, recreated; and refusals."""

import copy

import msgspec
import pytest

from scenario_kit.changes import ChangeContext, ClusterStore, Engine
from scenario_kit.changes.operation import NoEffect
from scenario_kit.changes.operations.chaos import Chaos
from scenario_kit.changes.operations.create import Create
from scenario_kit.changes.operations.restart import restart_through_zero
from scenario_kit.errors import AuthoringError, LabError
from scenario_kit.model import App, Change, Check, Reference
from scenario_kit.testing import FakeClock, FakeCluster

NS = "shop"
APP = App(name="shop", version="1", namespace="shop", entry="web", components=())


def thing(kind, name, api="v1", namespace=NS, meta=None, **fields):
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **(meta or {})},
        **fields,
    }


def config(name="a", **data):
    return thing("ConfigMap", name, data=data or {"k": "good"})


def build_patch(value, name="a", kind="ConfigMap"):
    return Change.from_json({"patch": {"target": f"{kind}/{name}", "type": "Merge", "patch": {"data": {"k": value}}}})


class Lab:
    def __init__(self, *objects, on_advance=None, others=None):
        spaces = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in (NS, "shop-stores", "kit")
        ]
        self.cluster = FakeCluster([*spaces, *copy.deepcopy(objects)])
        self.clock = FakeClock(1000.0, on_advance=on_advance and (lambda now: on_advance(self.cluster, now)))
        self.others = others or {}
        self.engine = self.start()

    def start(self):
        context = ChangeContext(cluster=self.cluster, namespace=NS, app=APP, now=self.clock.now, others=self.others)
        self.store = ClusterStore(self.cluster, "kit", "t")
        return Engine(context, self.clock, self.store, "t")

    def value(self, name="a", kind="ConfigMap"):
        found = self.cluster.get(Reference(kind, name, NS))
        return found and found["data"]["k"]

    def writes(self):
        return [t for v, t in self.cluster.requests if v not in ("get", "list", "kinds") and not t.startswith("kit/")]


# --- once


def test_completed_change_is_not_repeated():
    lab = Lab(config())
    receipt = lab.engine.do(build_patch("bad"), ordinal=7, group="Fault/f", causal=False)
    assert (receipt.ordinal, receipt.group, receipt.state, receipt.causal, receipt.at) == (
        7,
        "Fault/f",
        "Done",
        False,
        1000,
    )
    (entry,) = receipt.entries
    assert (str(entry.ref), entry.prior["data"], entry.after["data"]) == (
        "shop/ConfigMap/a",
        {"k": "good"},
        {"k": "bad"},
    )
    assert entry.uid == lab.cluster.get(Reference("ConfigMap", "a", NS))["metadata"]["uid"]
    lab.cluster.patch(Reference("ConfigMap", "a", NS), {"data": {"k": "repaired"}})
    assert lab.start().do(build_patch("bad"), ordinal=7, group="Fault/f") == receipt
    assert lab.value() == "repaired"
    assert lab.engine.undo_all() == []
    assert lab.start().do(build_patch("bad"), ordinal=7, group="Fault/f").state == "Undone"
    assert lab.value() == "good"


def test_ineffective_change_is_recorded():
    lab = Lab(config())
    with pytest.raises(NoEffect, match="the change 'patch' of Fault/f leaves shop/ConfigMap/a as it was"):
        lab.engine.do(build_patch("good"), ordinal=1, group="Fault/f")
    (receipt,) = lab.start().list_receipts()
    assert (receipt.state, receipt.note) == ("Undone", "changed nothing")
    assert lab.engine.list_active() == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"create": config()}, "shop/ConfigMap/a already exists in namespace shop"),
        ({"delete": {"target": "ConfigMap/no"}}, "shop/ConfigMap/no does not exist in namespace shop"),
        (
            {"create": config("b") | {"metadata": {"name": "b", "namespace": "nowhere"}}},
            "namespace 'nowhere' of",
        ),
        (
            {"apply": config("b") | {"metadata": {"name": "b", "namespace": "nowhere"}}},
            "namespace 'nowhere' of",
        ),
    ],
)
def test_invalid_change_is_refused_before_write(change, text):
    lab = Lab(config())
    with pytest.raises(AuthoringError, match=text):
        lab.engine.do(Change.from_json(change), ordinal=1, group="Fault/f")
    assert (lab.writes(), lab.engine.list_receipts()) == ([], [])


@pytest.mark.parametrize("namespace", ["kit", "shop-stores", NS])
def test_existing_namespace_is_accepted(namespace):
    lab = Lab(others={"stores": "shop-stores"})
    new = config("b") | {"metadata": {"name": "b", "namespace": namespace}}
    lab.engine.do(Change.from_json({"create": new}), ordinal=1, group="Fault/f")
    assert lab.cluster.get(Reference("ConfigMap", "b", namespace)) is not None
    assert lab.engine.undo_all() == []
    assert lab.cluster.get(Reference("ConfigMap", "b", namespace)) is None


def test_undo_of_apply_restores_prior_object():
    lab = Lab(config())
    lab.engine.do(Change.from_json({"apply": config(k="bad", n="1")}), ordinal=1, group="Fault/f")
    assert lab.value() == "bad"
    assert lab.engine.undo_all() == []
    assert lab.cluster.get(Reference("ConfigMap", "a", NS))["data"] == {"k": "good"}


def test_recorded_change_has_time_of_its_write():
    lab = Lab(config(), config("b"))
    receipt = lab.engine.do(build_patch("bad"), ordinal=1, group="Fault/f")
    announced = msgspec.structs.replace(
        receipt, state="Recorded", entries=tuple(msgspec.structs.replace(e, after=None) for e in receipt.entries)
    )
    lab.store.save(announced)
    lab.clock.wait(1600.0)
    assert lab.start().do(build_patch("bad"), ordinal=1, group="Fault/f").at == 1000.0, "it had arrived"
    lab.cluster.patch(Reference("ConfigMap", "a", NS), {"data": {"k": "good"}})
    lab.store.save(announced)
    assert lab.start().do(build_patch("bad"), ordinal=1, group="Fault/f").at == 1600.0
    assert lab.value() == "bad"


# --- which are undone


def test_list_receipts_selects_by_group_prefix():
    lab = Lab(config(), config("b"), config("c"))
    for ordinal, (name, group) in enumerate((("a", "Fault/a"), ("b", "Fault/ab"), ("c", "Decoy/d")), start=1):
        lab.engine.do(build_patch("bad", name), ordinal=ordinal, group=group)
    groups = lambda found: [r.group for r in found]  # noqa: E731
    assert (
        groups(lab.engine.list_receipts("Fault/"))
        == groups(lab.engine.list_active("Fault/"))
        == ["Fault/a", "Fault/ab"]
    )
    assert groups(lab.engine.list_receipts("Fault/a")) == groups(lab.engine.list_active("Fault/a")) == ["Fault/a"]
    assert groups(lab.engine.list_receipts()) == ["Fault/a", "Fault/ab", "Decoy/d"]
    assert lab.engine.undo_group("Fault/a") == []
    assert (lab.value("a"), lab.value("b")) == ("good", "bad")
    assert groups(lab.engine.list_active("Fault/")) == ["Fault/ab"]
    assert groups(lab.engine.list_receipts("Fault/")) == ["Fault/a", "Fault/ab"]
    lab.engine.forget()
    assert lab.engine.list_receipts() == []


def test_undo_order_is_by_time_before_ordinal():
    lab = Lab(config())
    lab.engine.do(build_patch("first"), ordinal=9, group="Fault/f")
    lab.clock.wait(1060.0)
    lab.engine.do(build_patch("second"), ordinal=2, group="Decoy/d")
    lab.cluster.requests.clear()
    assert lab.engine.undo_all() == []
    assert lab.value() == "good"


def test_undo_returns_blocked_and_undoes_others():
    lab = Lab(config(), config("b"))
    for ordinal, name in enumerate("ab"):
        lab.engine.do(build_patch("bad", name), ordinal=ordinal, group="Fault/f")
    refused = [True]

    def before(verb, target):
        if refused[0] and (verb, target) == ("patch", "shop/ConfigMap/b"):
            raise LabError("no")

    lab.cluster.before = before
    with pytest.raises(LabError):
        lab.engine.undo_all()
    refused[0] = False
    assert lab.engine.undo_all() == []
    assert [lab.value(n) for n in "ab"] == ["good", "good"]


def test_undo_object_restores_object_of_group():
    lab = Lab(config(), config("b"))
    lab.engine.do(build_patch("bad"), ordinal=1, group="Fault/f")
    lab.engine.do(build_patch("bad", "b"), ordinal=2, group="Fault/f")
    lab.engine.do(build_patch("worse"), ordinal=3, group="Decoy/d")
    assert lab.engine.undo_object("Decoy/d", Reference("ConfigMap", "b")) == []
    assert (lab.value(), lab.value("b")) == ("worse", "bad")
    assert lab.engine.undo_object("Fault/f", Reference("ConfigMap", "b")) == []
    assert (lab.value(), lab.value("b")) == ("worse", "good")


def test_recreated_object_belongs_to_its_creator():
    lab = Lab()
    made = lab.engine.do(Change.from_json({"create": config("n")}), ordinal=1, group="Fault/f")
    other = lab.engine.do(Change.from_json({"create": config("o")}), ordinal=2, group="Fault/g")
    lab.engine.do(Change.from_json({"delete": {"target": "ConfigMap/n"}}), ordinal=3, group="Fix/x")
    assert lab.engine.undo_group("Fix/x") == []
    again = {r.ordinal: r for r in lab.engine.list_receipts()}
    uid = lab.cluster.get(Reference("ConfigMap", "n", NS))["metadata"]["uid"]
    assert again[1].entries[0].uid == uid != made.entries[0].uid
    assert again[2] == other
    lab.cluster.patch(Reference("ConfigMap", "n", NS), {"data": {"k": "changed"}})
    assert lab.engine.undo_all() == []
    assert lab.cluster.get(Reference("ConfigMap", "n", NS)) is None


# --- experiments


def pod(name, **meta):
    return thing("Pod", name, meta={"labels": {"app": "web"}, **meta}, spec={},
                 status={"phase": "Running", "containerStatuses": [{"containerID": f"c-{name}"}]})  # fmt: skip


def experiment(name="x", kind="PodChaos", **spec):
    spec = {"action": "pod-failure", "mode": "all", "selector": {"labelSelectors": {"app": "web"}}, **spec}
    return Change(Chaos(manifest=thing(kind, name, "chaos-mesh.org/v1alpha1", spec=spec)))


def live(lab, name="x"):
    return lab.cluster.get(Reference("PodChaos", name, NS, "chaos-mesh.org"))


def test_each_experiment_expires_in_trial_time():
    lab = Lab(pod("p"), config())
    lab.engine.do(build_patch("bad"), ordinal=1, group="Fault/a")
    lab.engine.do(experiment("x", duration="60s"), ordinal=2, group="Fault/x")
    lab.clock.wait(1010.0)
    lab.engine.do(experiment("y", duration="120s"), ordinal=3, group="Fault/y")
    lab.engine.do(experiment("z"), ordinal=4, group="Fault/z")
    made = experiment("w", duration="600s").operation.experiment
    lab.engine.do(Change(Create(manifest=made)), ordinal=5, group="Fault/w")
    assert lab.engine.record_expired(1059.0) == 1060.0
    assert not any(lab.engine.has_expired(f"Fault/{n}") for n in "axyzw")
    assert lab.engine.record_expired(1060.0) == 1130.0
    assert [n for n in "axyzw" if lab.engine.has_expired(f"Fault/{n}")] == ["x"]
    assert lab.engine.record_expired(1060.0) == 1130.0
    assert lab.engine.record_expired(1200.0) == 1610.0
    assert lab.engine.record_expired(5000.0) is None
    assert [n for n in "axyzw" if lab.engine.has_expired(f"Fault/{n}")] == ["x", "y", "w"]


def test_deleted_experiment_has_not_expired():
    lab = Lab(pod("p"))
    lab.engine.do(experiment(duration="60s"), ordinal=1, group="Fault/x")
    lab.cluster.delete(Reference("PodChaos", "x", NS, "chaos-mesh.org"))
    assert lab.engine.record_expired(2000.0) is None
    assert not lab.engine.has_expired("Fault/x")


@pytest.mark.parametrize(
    ("groups", "action", "over", "binds"),
    [
        (["Fault/x"], "pod-failure", False, True),
        (["Fault/y"], "pod-failure", False, False),
        ([], "pod-failure", False, False),
        (["Fault/x"], "pod-kill", False, False),
        (["Fault/x"], "pod-failure", True, False),
    ],
)
def test_needs_maintenance_by_group_and_kind(groups, action, over, binds):
    lab = Lab(pod("p"))
    lab.engine.do(experiment(action=action, duration="60s"), ordinal=1, group="Fault/x")
    if over:
        lab.engine.record_expired(2000.0)
    lab.cluster.put(pod("q"))
    uid = live(lab)["metadata"]["uid"]
    assert lab.engine.needs_maintenance(groups) is binds
    assert lab.engine.maintain(groups) == int(binds)
    assert (live(lab)["metadata"]["uid"] != uid) is binds
    if binds:
        (receipt,) = lab.engine.list_receipts()
        assert (receipt.note, receipt.state, len(receipt.covered)) == ("", "Done", 2)
        assert live(lab)["spec"]["selector"]["pods"] == {NS: ["p", "q"]}


def test_maintain_keeps_deleted_experiment_deleted():
    lab = Lab(pod("p"))
    lab.engine.do(experiment(), ordinal=1, group="Fault/x")
    lab.cluster.delete(Reference("PodChaos", "x", NS, "chaos-mesh.org"))
    lab.cluster.put(pod("q"))
    assert lab.engine.maintain(["Fault/x"]) == 0
    assert live(lab) is None


def test_maintain_does_not_replace_what_others_are_deleting():
    ref = Reference("PodChaos", "x", NS, "chaos-mesh.org")
    lab = Lab(pod("p"))
    lab.engine.do(experiment(), ordinal=1, group="Fault/x")
    lab.cluster.patch(ref, {"metadata": {"finalizers": ["chaos-mesh/records"]}})
    lab.cluster.delete(ref)
    lab.cluster.put(pod("q"))
    assert lab.engine.maintain(["Fault/x"]) == 0
    lab.cluster.patch(ref, {"metadata": {"finalizers": None}})
    assert lab.engine.maintain(["Fault/x"]) == 0
    assert live(lab) is None


def test_maintain_reports_unreleased_experiment():
    lab = Lab(pod("p"))
    lab.engine.do(experiment(), ordinal=1, group="Fault/x")
    lab.cluster.patch(Reference("PodChaos", "x", NS, "chaos-mesh.org"), {"metadata": {"finalizers": ["held"]}})
    lab.cluster.put(pod("q"))
    with pytest.raises(LabError, match=r"cannot be bound to the new pods: .* is still there 30 s after its deletion"):
        lab.engine.maintain(["Fault/x"])
    lab.cluster.patch(Reference("PodChaos", "x", NS, "chaos-mesh.org"), {"metadata": {"finalizers": None}})
    assert lab.start().maintain(["Fault/x"]) == 1, "another process goes on"
    assert live(lab)["spec"]["selector"]["pods"] == {NS: ["p", "q"]}


def test_maintain_waits_for_finalizer_of_chaos_mesh():
    """A real manager releases an experiment some seconds after its deletion."""

    def release(cluster, now):
        if now >= 1020.0 and live(lab) and live(lab)["metadata"].get("finalizers"):
            cluster.patch(Reference("PodChaos", "x", NS, "chaos-mesh.org"), {"metadata": {"finalizers": None}})

    lab = Lab(pod("p"), on_advance=release)
    lab.engine.do(experiment(), ordinal=1, group="Fault/x")
    lab.cluster.patch(Reference("PodChaos", "x", NS, "chaos-mesh.org"), {"metadata": {"finalizers": ["held"]}})
    lab.cluster.put(pod("q"))
    assert lab.engine.maintain(["Fault/x"]) == 1
    assert lab.clock.now() == 1020.0
    assert live(lab)["spec"]["selector"]["pods"] == {NS: ["p", "q"]}


def test_read_chaos_state_of_missing_object():
    assert Engine.read_chaos_state(None) == (None, "")
    assert Engine.read_chaos_state(experiment().operation.experiment) == (None, "")


def test_resolve_checks_without_placeholders_is_identity():
    check = Check.from_json({"object": {"ref": "ConfigMap/a", "exists": True}})
    assert Lab().engine.resolve_checks([check]) == [check]


# --- restarts through zero


def web(replicas=2):
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": {}} | (
        {} if replicas is None else {"replicas": replicas}
    )
    return thing("Deployment", "web", "apps/v1", spec=spec)


DROP = Change.from_json({"restart": {"target": "Deployment/web", "dropOld": True}})


@pytest.mark.parametrize(
    ("replicas", "gone", "back", "end"), [(2, 0, 2, 1000), (3, 20, 3, 1030), (None, 0, 1, 1000), (2, 180, 2, 1180)]
)
def test_restart_through_zero_waits_for_old_pods(replicas, gone, back, end):
    scales = []

    def on_advance(cluster, now):
        scales.append(cluster.get(Reference("Deployment", "web", NS))["spec"]["replicas"])
        if now >= 1000 + gone:
            cluster.delete(Reference("Pod", "web-1", NS), grace_seconds=0)

    lab = Lab(web(replicas), pod("web-1"), on_advance=on_advance)
    receipt = lab.engine.do(DROP, ordinal=1, group="Fault/f")
    assert (receipt.state, receipt.note) == ("Done", "restarted through zero")
    assert lab.cluster.get(Reference("Deployment", "web", NS))["spec"]["replicas"] == back
    assert scales[-1] == back
    assert set(scales[:-1]) == {0}
    assert lab.clock.now() == end


def test_restart_through_zero_reports_remaining_pods():
    lab = Lab(web(), pod("web-1"), pod("web-2"))
    with pytest.raises(
        LabError, match="2 pods of shop/Deployment/web are still there 180 s after it was scaled to zero"
    ):
        lab.engine.do(DROP, ordinal=1, group="Fault/f")
    assert lab.clock.now() == 1180.0
    (receipt,) = lab.engine.list_receipts()
    assert receipt.state == "Down"
    lab.cluster.delete(Reference("Pod", "web-1", NS), grace_seconds=0)
    lab.cluster.delete(Reference("Pod", "web-2", NS), grace_seconds=0)
    assert restart_through_zero(lab.cluster, lab.clock, lab.store, receipt).state == "Done"
    assert lab.cluster.get(Reference("Deployment", "web", NS))["spec"]["replicas"] == 2


def test_restart_through_zero_already_scaled_back_is_done():
    lab = Lab(web(), pod("web-1"))
    with pytest.raises(LabError):
        lab.engine.do(DROP, ordinal=1, group="Fault/f")
    lab.cluster.patch(Reference("Deployment", "web", NS), {"spec": {"replicas": 5}})
    receipt = lab.start().do(DROP, ordinal=1, group="Fault/f")
    assert (receipt.state, receipt.note) == ("Done", "restarted through zero")
    assert lab.cluster.get(Reference("Deployment", "web", NS))["spec"]["replicas"] == 5

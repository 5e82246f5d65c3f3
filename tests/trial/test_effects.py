"""Failed effect checks: no effect, an unchecked effect, or one masked by another fault."""

import msgspec
import pytest

from scenario_kit.model import App, Check, Reference
from scenario_kit.model.authored.app import CallEdge, Component
from scenario_kit.model.authored.scenario import FaultStart
from scenario_kit.testing import FakeCluster, FakeMetrics
from tests.trial.test_inject import TrialHarness, config, fault

APP = App(
    name="shop",
    version="1",
    namespace="shop",
    entry="front",
    components=tuple(
        Component(name=name, workload=Reference("Deployment", name), role="Queue" if name == "orders" else "App")
        for name in ("front", "checkout", "orders", "billing")
    ),
    calls=(
        CallEdge(caller="front", callee="checkout"),
        CallEdge(caller="checkout", callee="orders"),
        CallEdge(caller="billing", callee="orders", mode="Async"),
    ),
)
ASKED = {"query": {"expr": "errors_seen", "is": "AtLeast", "value": 1}, "withinSeconds": 300, "describe": "errors"}
WRITTEN = {"object": {"ref": "ConfigMap/b", "path": "data.k", "equals": "bad"}, "withinSeconds": 300}
NEVER = {"object": {"ref": "ConfigMap/b", "path": "data.k", "equals": "worse"}, "withinSeconds": 300}
STATUS = {"object": {"ref": "Deployment/checkout", "path": "status.readyReplicas", "equals": 0}, "withinSeconds": 300}


def build_fault_with_effects(*checks, name="b", target="Deployment/checkout", start=None):
    """Build a fault of a workload that writes a ConfigMap, with its effect checks."""
    made = msgspec.structs.replace(
        fault(name), effect=tuple(map(Check.from_json, checks)), target=Reference.parse(target)
    )
    return msgspec.structs.replace(made, start=start or made.start)


def respond(broken):
    """Build Prometheus responses: 1 request/s per component, except ``broken`` ones from second 1000."""

    def answer(expr, at):
        if "errors_seen" in expr:
            return [({}, 0.0)]
        if "calls_total" not in expr:
            return []
        seconds = float(expr.split("[")[1].split("s]")[0])
        found = []
        for component in ("front", "checkout", "billing"):
            how = broken.get(component, "") if at > 1000 else ""
            counts = {"": (seconds, 0), "silent": (0, 0), "failing": (seconds / 2, seconds / 2)}[how]
            for status, count in zip(("STATUS_CODE_UNSET", "STATUS_CODE_ERROR"), counts, strict=True):
                found.append(({"service_name": component, "status_code": status}, count))
        return found

    return FakeMetrics(respond=answer)


def build_crashed_pod(workload, since="1970-01-01T00:17:30Z"):
    ended = {"terminated": {"exitCode": 139, "reason": "Error", "finishedAt": since}}
    state = {"name": "app", "state": {"running": {}}, "lastState": ended}
    metadata = {"name": f"{workload}-5d4f8c7b9-x2x4z", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"containerStatuses": [state]}}


class Play(TrialHarness):
    """A trial on an app with scripted behaviour after the injection."""

    def __init__(self, *faults, broken=None, pods=()):
        super().__init__(*faults)
        self.metrics = respond(broken or {})
        self.runbook = msgspec.structs.replace(self.runbook, app=APP)
        self.cluster = FakeCluster([*(config(f.name) for f in faults), *pods])
        self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
        self.evaluator.cluster = self.cluster

    def context(self):
        context = super().context()
        context.metrics = self.metrics
        return context


@pytest.mark.parametrize(
    ("checks", "broken", "pods", "codes"),
    [
        ((ASKED,), {}, (), ["SK304"]),
        ((ASKED,), {}, (build_crashed_pod("checkout"),), ["SK332"]),
        ((ASKED,), {}, (build_crashed_pod("checkout", "1970-01-01T00:16:30Z"),), ["SK304"]),
        ((ASKED,), {}, (build_crashed_pod("billing"),), ["SK332"]),
        ((ASKED,), {"billing": "silent"}, (), ["SK332"]),
        ((ASKED,), {"front": "failing"}, (), ["SK332"]),
        ((WRITTEN, ASKED), {"front": "failing"}, (), ["SK332"]),
        ((NEVER, ASKED), {"front": "failing"}, (), ["SK304", "SK304"]),
        ((STATUS,), {}, (build_crashed_pod("checkout"),), ["SK332"]),
    ],
    ids=[
        "nothing happens", "a program that dies on each request", "it died before the fault",
        "the consumer of what it sends dies", "a queue hides the partition, and its consumer starves", "a caller fails",
        "what it writes is there", "what it writes is not there", "a workload that is ready between two crashes",
    ],
)  # fmt: skip
def test_failed_check_is_compared_with_injector_state(checks, broken, pods, codes):
    stage = Play(build_fault_with_effects(*checks), broken=broken, pods=pods)
    findings, _ = stage.run()
    assert [f.code for f in findings] == codes
    assert all("; but " in f.observed for f in findings if f.code == "SK332")


def test_failure_of_unreachable_component_is_no_effect():
    stage = Play(build_fault_with_effects(ASKED, target="Deployment/billing"), broken={"front": "failing"})
    assert [f.code for f in stage.run()[0]] == ["SK304"]


@pytest.mark.parametrize(
    ("broken", "codes"),
    [({}, ["SK304"]), ({"checkout": "silent"}, ["SK333"]), ({"front": "failing"}, ["SK333"])],
    ids=["the other leaves it alone", "no request reaches it any more", "its callers fail already"],
)
def test_masked_fault_is_reported_with_its_masking_fault(broken, codes):
    stage = Play(fault("a"), build_fault_with_effects(ASKED, start=FaultStart(after_fault="a")), broken=broken)
    findings, _ = stage.run()
    assert [f.code for f in findings] == codes
    assert all("is hidden by 'a'" in f.message for f in findings if f.code == "SK333")


def test_two_ineffective_faults_are_both_reported():
    """Unrelated symptoms prove neither of two faults with failed checks."""
    pair = build_fault_with_effects(ASKED, name="a"), build_fault_with_effects({**ASKED, "withinSeconds": 600})
    stage = Play(*pair, broken={"front": "failing"})
    assert [f.code for f in stage.run()[0]] == ["SK304"]
    assert stage.clock.now() == 1600


def test_fault_starts_after_effect_of_masking_fault_is_proven():
    slow = {"object": {"ref": "ConfigMap/late", "exists": True}, "withinSeconds": 600}
    first = build_fault_with_effects(slow, name="a")
    stage = Play(first, build_fault_with_effects(ASKED), broken={"front": "failing"})
    late = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "late", "namespace": "shop", "labels": {"late": "yes"}},
    }
    wait = stage.clock.wait

    def create_late(until):
        now = wait(until)
        if now == 1450 and stage.cluster.get(Reference("ConfigMap", "late", "shop")) is None:
            stage.cluster.create(late)
        return now

    stage.clock.wait = create_late
    assert [f.code for f in stage.run()[0]] == ["SK333"]
    assert stage.clock.now() == 1450


def test_remark_is_restored_after_crash():
    stage = Play(build_fault_with_effects(ASKED), broken={"front": "failing"})
    first, _ = stage.run()
    assert stage.run()[0] == first

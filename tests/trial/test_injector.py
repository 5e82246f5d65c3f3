"""Responses of Chaos Mesh to an injection: authoring error or retry."""

from __future__ import annotations

import msgspec
import pytest

from scenario_kit.errors import CapabilityMissing, InfrastructureError
from scenario_kit.model import Change, Fault, Object, Reference, Severity, TrialStep
from scenario_kit.testing import FakeCluster
from scenario_kit.trial.run import execute, run
from scenario_kit.trial.status import TrialStatus
from tests.trial.test_inject import TrialHarness

EXPERIMENT = {
    "apiVersion": "chaos-mesh.org/v1alpha1",
    "kind": "JVMChaos",
    "metadata": {"name": "vm"},
    "spec": {"action": "ruleData", "mode": "all", "selector": {"labelSelectors": {"app": "web"}}},
}
FAULT = Fault(
    name="rule", type="jvm-rule", version=1, target=Reference("Deployment", "web"), effect=(), entities=(),
    changes=(Change.from_json({"chaos": EXPERIMENT}),),
)  # fmt: skip
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web-1", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web"}]},
    "status": {"phase": "Running", "containerStatuses": [{"name": "web", "containerID": "containerd://a"}]},
}


class Answering(FakeCluster):
    """A cluster whose daemon gives the same answer for every experiment."""

    answer = ""

    def get(self, ref, **more) -> Object | None:
        found = super().get(ref, **more)
        if found is None or ref.kind != "JVMChaos":
            return found
        event = {"type": "Failed", "operation": "Apply", "message": self.answer}
        record = {"id": "shop/web-1/web", "phase": "Not Injected", "events": [event] if self.answer else []}
        return {**found, "status": {"experiment": {"containerRecords": [record]}}}


def inject_with_answer(answer: str) -> TrialHarness:
    stage = TrialHarness(FAULT)
    stage.cluster = Answering([POD])
    stage.cluster.answer = answer
    stage.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kit"}})
    return stage


def test_invalid_daemon_request_is_an_authoring_error() -> None:
    stage = inject_with_answer("rpc error: code = InvalidArgument desc = rule 'r' has no METHOD")
    findings, _ = stage.run()
    assert [(f.code, f.observed) for f in findings] == [("SK121", "rule 'r' has no METHOD")]
    assert findings[0].message == "injecting 'rule' (jvm-rule on Deployment/web) is refused by Chaos Mesh"
    assert stage.clock.now() < 1060, "the next answer would be the same"


def test_unsupported_scenario_is_not_evaluated_or_retried() -> None:
    stage = inject_with_answer("rpc error: code = Unimplemented desc = rule 'r': '$1 == 7' is not simulated")
    context, paused = stage.context(), []
    context.spec = msgspec.structs.replace(context.spec, steps=(TrialStep(kind="inject"),))
    status = run(context, TrialStatus(), lambda _: None, paused.append)
    assert [(s.outcome, [(f.code, f.severity) for f in s.findings]) for s in status.steps] == [
        ("Infra", [("SK911", Severity.WARNING)])
    ]
    reported = (
        "fault 'rule' (jvm-rule) needs what this environment does not support: rule 'r': '$1 == 7' is not simulated"
    )
    assert status.steps[0].message == status.steps[0].findings[0].message == reported
    assert not paused
    assert stage.clock.now() < 1060


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "rpc error: code = Unknown desc = exit status 1",
        "rpc error: code = Unavailable desc = connection refused",
        "rpc error: code = DeadlineExceeded desc = context deadline exceeded",
        "pod web-1 not found, InvalidArgument",
    ],
)
def test_unknown_injector_answers_are_infrastructure(answer: str) -> None:
    stage = inject_with_answer(answer)
    with pytest.raises(InfrastructureError, match=r"did not inject .*JVMChaos.* within 120 s") as reported:
        execute(stage.context(), TrialStep(kind="inject"), 0, 1000.0)
    assert not isinstance(reported.value, CapabilityMissing)
    assert stage.clock.now() >= 1120

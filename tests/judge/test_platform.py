"""Which parts of a platform a trial rests on."""

import msgspec
import pytest

from scenario_kit.judge.platform import PlatformNeeds, find_platform_needs, judge_metrics
from scenario_kit.model import Change, Check, Procedure, Solution, TrialStep
from scenario_kit.model.authored.noise import NoiseSource
from scenario_kit.model.runtime.cluster_facts import MetricsFacts
from tests.trial.test_alert_steps import Trial, fault

CHAOS = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": "PodChaos", "metadata": {"name": "x"},
         "spec": {"mode": "all", "selector": {}}}  # fmt: skip
PATCH = {"patch": {"target": "Service/web", "type": "Merge", "patch": {"spec": {"ports": []}}}}
QUERY = {"query": {"expr": "up", "is": "AtLeast", "value": 1}}


def runbook(*, undo=(), procedure=(), noise=(), objects=(), effect=(), change=PATCH):
    base = Trial(fault("a")).runbook
    broken = msgspec.structs.replace(
        base.faults[0],
        changes=(Change.from_json(change),),
        undo=tuple(Change.from_json(c) for c in undo),
        effect=tuple(Check.from_json(c) for c in effect),
    )
    solution = Solution(name="s", changes=tuple(Change.from_json(c) for c in procedure))
    source = NoiseSource(
        name="n", changes=tuple(Change.from_json(c) for c in noise), every_seconds=60, jitter_percent=0
    )
    return msgspec.structs.replace(
        base, faults=(broken,), objects=objects, noise=(source,),
        procedures=(Procedure(use="Solution", name="s", solution=solution),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "needed"),
    [
        ({}, False),
        ({"change": {"chaos": CHAOS}}, True),
        ({"change": {"create": CHAOS}}, True),
        ({"undo": [{"chaos": CHAOS}]}, True),
        ({"procedure": [{"delete": {"target": "PodChaos.chaos-mesh.org/x"}}]}, True),
        ({"noise": [{"chaos": CHAOS}]}, True),
        ({"objects": (CHAOS,)}, True),
        ({"objects": ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}},)}, False),
    ],
)
def test_chaos_mesh_is_needed_for_chaos_objects(parts, needed):
    assert find_platform_needs(runbook(**parts), ()).chaos is needed


@pytest.mark.parametrize(
    ("steps", "effect", "needed"),
    [
        (("deploy", "teardown", "expectClean"), (), False),
        (("deploy", "inject", "teardown"), (), False),
        (("deploy", "inject", "teardown"), (QUERY,), True),
        (("deploy", "expectQuiet", "teardown"), (), True),
        (("expectCleared",), (), True),
    ],
)
def test_prometheus_is_needed_for_measuring_steps(steps, effect, needed):
    program = [TrialStep(kind=kind) for kind in steps]
    assert find_platform_needs(runbook(effect=effect), program) == PlatformNeeds(chaos=False, metrics=needed)


@pytest.mark.parametrize(
    ("interval", "advice"),
    [
        (None, "if Prometheus was installed just now, try again in a minute; otherwise see docs/install.md"),
        (15.0, "see docs/install.md"),
    ],
)
def test_a_prometheus_without_history_may_only_be_young(interval, advice):
    facts = MetricsFacts(interval=interval, kube_state=False, spans=False, namespaced=False)
    checks = {each.name: each for each in judge_metrics(facts)}
    assert checks["kube-state series"].fix.startswith(advice)

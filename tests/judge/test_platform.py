"""Which parts of a platform a trial rests on."""

import msgspec
import pytest

from scenario_kit.judge.platform import (
    PlatformCheck,
    PlatformNeeds,
    find_platform_needs,
    judge_chaos,
    judge_metrics,
    report_platform_lacks,
)
from scenario_kit.model import AlertExpectation, AlertRule, Change, Check, Procedure, Solution, TrialStep
from scenario_kit.model.authored.noise import NoiseSource
from scenario_kit.model.authored.scenario import Expect
from scenario_kit.model.runtime.cluster_facts import ChaosFacts, MetricsFacts
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


@pytest.mark.parametrize(
    ("facts", "fine", "observed", "fix", "need"),
    [
        (ChaosFacts(), True, "not installed; faults of it are refused (SK911)", "", ""),
        (
            ChaosFacts(image="chaos:2", daemon_runtime="containerd", runtimes=frozenset({"containerd"})),
            True, "chaos:2", "", "chaos",
        ),
        (ChaosFacts(image="chaos:2", runtimes=frozenset({"docker"})), True, "chaos:2", "", "chaos"),
        (
            ChaosFacts(image="chaos:2", daemon_runtime="docker", runtimes=frozenset({"crio", "containerd", "docker"})),
            False, "its daemon expects docker, nodes run containerd, crio",
            "helm upgrade chaos-mesh --set chaosDaemon.runtime=containerd --reuse-values ...", "chaos",
        ),
    ],
    ids=["absent", "the runtime of the nodes", "a daemon of unknown runtime", "another runtime"],
)  # fmt: skip
def test_the_daemon_expects_the_runtime_of_the_nodes(facts, fine, observed, fix, need):
    expected = PlatformCheck(name="chaos mesh", fine=fine, observed=observed, fix=fix, need=need)
    assert judge_chaos(facts) == expected


@pytest.mark.parametrize(
    ("interval", "fine", "need"), [(None, False, ""), (15.0, True, "metrics"), (30.0, False, "metrics")]
)
def test_alerts_expect_a_scrape_interval(interval, fine, need):
    first = judge_metrics(MetricsFacts(interval=interval))[0]
    assert (first.name, first.fine, first.need, bool(first.observed)) == ("prometheus", fine, need, True)
    assert bool(first.fix) is not fine


def test_present_series_are_named():
    facts = MetricsFacts(interval=15.0, kube_state=True, spans=True, namespaced=True)
    assert judge_metrics(facts)[1:] == [
        PlatformCheck(name="kube-state series", fine=True, observed="kube_pod_info", need="kube_state"),
        PlatformCheck(name="span metrics", fine=True, observed="traces_span_metrics_calls_total"),
        PlatformCheck(name="label namespace", fine=True, observed='up{namespace!=""}'),
    ]


def test_absent_series_are_named():
    checks = judge_metrics(MetricsFacts(interval=15.0))[1:]
    assert [(each.name, each.fine, each.observed, each.need) for each in checks] == [
        ("kube-state series", False, "no series kube_pod_info", "kube_state"),
        ("span metrics", False, "no series traces_span_metrics_calls_total", ""),
        ("label namespace", False, 'no series up{namespace!=""}', ""),
    ]


@pytest.mark.parametrize(
    ("need", "fine", "reported"), [("chaos", False, True), ("chaos", True, False), ("", False, False),
                                   ("kube_state", False, False)]
)  # fmt: skip
def test_only_needed_parts_that_are_not_fine_are_reported(need, fine, reported):
    check = PlatformCheck(name="a part", fine=fine, observed="o", fix="f", need=need)
    found = report_platform_lacks([check], PlatformNeeds(kube_state=False), "this cluster")
    assert [(f.code, f.observed, f.fix) for f in found] == ([("SK911", "o", "f")] if reported else [])


@pytest.mark.parametrize(
    ("expr", "alert_class", "kind", "needed"),
    [
        ("kube_pod_status_ready == 0", "MustFire", "expectAlerts", True),
        ("kube_pod_status_ready == 0", "MayFire", "expectAlerts", False),
        ("kube_pod_status_ready == 0", "MustFire", "deploy", False),
        ("rate(errors[1m]) > 0", "MustFire", "expectAlerts", False),
    ],
)
def test_kube_state_series_are_needed_for_alerts_that_read_them(expr, alert_class, kind, needed):
    alert = AlertExpectation(name="Bad", alert_class=alert_class)
    rules = tuple(
        AlertRule(name=name, expr=read, for_seconds=0.0, range_seconds=0.0)
        for name, read in (("Bad", expr), ("Other", "kube_pod_info"))
    )
    given = msgspec.structs.replace(runbook(), expect=Expect(alerts=(alert,)), rules=rules)
    assert find_platform_needs(given, [TrialStep(kind=kind)]).kube_state is needed

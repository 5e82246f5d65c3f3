"""Clusters where the operator may run, and health checks of a real cluster."""

import pytest

from operators.scenario.environment import Environment, Settings
from operators.scenario.lab_platform import _find_lasting_problem
from operators.scenario.platforms import RealCluster
from scenario_kit.errors import GuardRailError, LabError
from scenario_kit.judge.platform import PlatformNeeds
from scenario_kit.model import TrialSpec
from scenario_kit.testing import FakeCluster, FakeMetrics


@pytest.mark.parametrize(
    ("context", "allowed", "text"),
    [
        ("production", "", "not allowed"),
        ("production", "staging", "not allowed"),
        ("kind-demo", "", "not the current one"),
    ],
)
def test_unlisted_cluster_is_refused(monkeypatch, tmp_path, context, allowed, text):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(GuardRailError, match=text):
        Environment.of_cluster(context, allowed, "http://127.0.0.1:1", Settings())


def platform(available, *, down=False):
    cluster = FakeCluster()
    for name in ("chaos-mesh",):
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    if available is not None:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        cluster.put(
            {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "chaos-controller-manager", "namespace": "chaos-mesh"},
                "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
                "status": {"availableReplicas": available},
            }
        )
    metrics = FakeMetrics(lambda expr, at: [({}, 1.0)])
    metrics.down = down
    return RealCluster(cluster, metrics)


@pytest.mark.parametrize(
    ("available", "down", "problems"), [(1, False, 0), (0, False, 1), (None, False, 1), (1, True, 1), (0, True, 2)]
)
def test_health_names_unavailable_parts(available, down, problems):
    assert len(platform(available, down=down).health(PlatformNeeds())) == problems


@pytest.mark.parametrize(
    ("chaos", "metrics", "problems"),
    [
        (True, True, ["connection refused", "chaos-controller-manager"]),
        (True, False, ["chaos-controller-manager"]),
        (False, True, ["connection refused"]),
        (False, False, []),
    ],
)
def test_unneeded_platform_parts_may_be_missing(chaos, metrics, problems):
    there = platform(None, down=True)
    needs = PlatformNeeds(chaos=chaos, metrics=metrics)
    for found in (there.health(needs), there.diagnose(needs)):
        assert len(found) == len(problems)
        assert all(part in problem.lower() for part, problem in zip(problems, found, strict=True)), found


def test_component_health_is_cached_for_five_seconds():
    now = [0.0]
    cluster = FakeCluster()
    there = RealCluster(cluster, FakeMetrics(lambda expr, at: []), clock=lambda: now[0])
    for seconds, requests in ((0.0, 1), (5.0, 1), (5.1, 2)):
        now[0] = seconds
        there.health(PlatformNeeds())
        assert len([r for r in cluster.requests if r[0] == "get"]) == requests
    there.diagnose(PlatformNeeds())
    assert len([r for r in cluster.requests if r[0] == "get"]) == 3, "whoever judges asks anew"


def test_virtual_time_belongs_to_the_lab():
    spec = TrialSpec(scenario="s", digest="d", clock="Virtual", namespace="n", steps=(), resolved="")
    with pytest.raises(LabError, match="virtual time"):
        platform(1).open_clock("t", spec)
    assert platform(1).has_clock("t")


@pytest.mark.parametrize(
    ("answers", "problem"),
    [(["", "late"], ""), (["late", "", "late"], ""), (["late", "late", ""], ""), (["late", "late", "dead"], "dead")],
)
def test_lasting_problem_needs_repeated_failures(answers, problem):
    results = iter(answers)
    assert _find_lasting_problem(lambda: next(results)) == problem

"""Where the operator may run, and what it says about the health of a real cluster."""

import pytest

from operators.scenario.environment import Environment, Settings
from operators.scenario.lab_grounds import _find_lasting_problem
from operators.scenario.platforms import RealCluster
from scenario_kit.errors import GuardRailError, LabError
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
def test_clusters_that_are_not_meant_are_refused(monkeypatch, tmp_path, context, allowed, text):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(GuardRailError, match=text):
        Environment.of_cluster(context, allowed, "http://127.0.0.1:1", Settings())


def grounds(available, *, down=False):
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
def test_what_is_not_well_is_named(available, down, problems):
    assert len(grounds(available, down=down).health()) == problems


def test_virtual_time_belongs_to_the_lab():
    spec = TrialSpec(scenario="s", digest="d", clock="Virtual", namespace="n", steps=(), resolved="")
    with pytest.raises(LabError, match="virtual time"):
        grounds(1).open_clock("t", spec)
    assert grounds(1).has_clock("t")


@pytest.mark.parametrize(
    ("answers", "problem"),
    [(["", "late"], ""), (["late", "", "late"], ""), (["late", "late", ""], ""), (["late", "late", "dead"], "dead")],
)
def test_a_part_hangs_only_if_it_never_answers(answers, problem):
    said = iter(answers)
    assert _find_lasting_problem(lambda: next(said)) == problem

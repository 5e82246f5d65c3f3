"""``doctor --context``: facts of a cluster, and the checks on them."""

import pytest
from msgspec.structs import replace as change

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.cli import run
from scenario_kit.cli.doctor.cluster import ClusterFacts, judge_facts, read_facts
from scenario_kit.errors import MetricsError
from scenario_kit.model.runtime.cluster_facts import ChaosFacts, MetricsFacts
from scenario_kit.testing import FakeCluster, FakeMetrics

GOOD_METRICS = MetricsFacts(interval=15.0, kube_state=True, spans=True, namespaced=True)
SLOW = change(GOOD_METRICS, interval=30.0)
CHAOS = ChaosFacts(image="chaos-mesh:v2.8.0", daemon_runtime="containerd", runtimes=frozenset({"containerd"}))
GOOD = ClusterFacts(
    kubelets=("v1.31.2", "v1.34.2"),
    kinds=frozenset({"Scenario", "Trial", "Validation"}), operator_ready=True, chaos=CHAOS,
    offers={"netem": True, "calico": False}, metrics=GOOD_METRICS,
)  # fmt: skip


def list_problems(**changes):
    return {check.name: check.observed for check in judge_facts(GOOD._replace(**changes)) if not check.fine}


def test_suitable_cluster_has_no_fixes():
    checks = judge_facts(GOOD)
    assert all(check.fine and not check.fix for check in checks)
    assert checks[-1].observed == "netem; it lacks calico"


@pytest.mark.parametrize(
    ("changes", "name", "observed"),
    [
        ({"kubelets": ("v1.30.9", "v1.34.2")}, "kubernetes", "v1.30.9, v1.34.2; at least 1.31 is required"),
        ({"kubelets": ()}, "kubernetes", "the cluster has no nodes"),
        ({"kinds": frozenset({"Scenario"})}, "kinds", "Trial, Validation not served"),
        ({"operator_ready": False}, "operator", "not available"),
        (
            {"chaos": change(CHAOS, daemon_runtime="docker")},
            "chaos mesh",
            "its daemon expects docker, nodes run containerd",
        ),
        ({"metrics": None}, "prometheus", "no address given"),
        ({"metrics": "no answer"}, "prometheus", "no answer"),
        ({"metrics": SLOW}, "prometheus", "most targets are scraped every 30 s; alerts expect 15"),
        (
            {"metrics": change(GOOD_METRICS, interval=None)},
            "prometheus",
            "it has no target that it has scraped for five minutes",
        ),
        ({"metrics": change(GOOD_METRICS, kube_state=False)}, "kube-state series", "no series kube_pod_info"),
        ({"metrics": change(GOOD_METRICS, spans=False)}, "span metrics", "no series traces_span_metrics_calls_total"),
        ({"metrics": change(GOOD_METRICS, namespaced=False)}, "label namespace", 'no series up{namespace!=""}'),
    ],
)  # fmt: skip
def test_unsuitable_cluster_facts_are_reported(changes, name, observed):
    assert list_problems(**changes) == {name: observed}
    assert all(check.fix for check in judge_facts(GOOD._replace(**changes)) if not check.fine)


def test_missing_chaos_mesh_is_no_fault():
    assert not list_problems(chaos=ChaosFacts())


def workload(kind, name, namespace, **container):
    spec = {"template": {"metadata": {}, "spec": {"containers": [{"name": "c", **container}]}}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def build_cluster():
    info = {"kubeletVersion": "v1.33.1", "containerRuntimeVersion": "containerd://2.1"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"nodeInfo": info}}
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": n}} for n in ("chaos", "scenario-kit")]
    command = ["/usr/local/bin/chaos-daemon", "--runtime", "containerd", "--grpc-port", "1"]
    return FakeCluster([
        node, *spaces, workload("Deployment", "chaos-controller-manager", "chaos", image="chaos-mesh:v2.8.0"),
        workload("DaemonSet", "chaos-daemon", "chaos", command=command),
        workload("Deployment", "scenario-kit-operator", "scenario-kit"),
    ])  # fmt: skip


def test_facts_are_read_through_the_api():
    answers = {"up": 20.0, "kube_pod_info": 3.0}
    metrics = FakeMetrics(lambda expr, at: [({}, value) for name, value in answers.items() if name in expr])
    facts = read_facts(build_cluster(), metrics, list_capabilities(Catalog()), 0.0)
    assert facts.kubelets == ("v1.33.1",)
    assert facts.kinds == {"Scenario", "Trial", "Validation"}
    assert not facts.operator_ready
    assert facts.chaos == CHAOS
    assert facts.offers["real-nodes"]
    assert not facts.offers["calico"]
    assert facts.metrics == MetricsFacts(interval=15.0, kube_state=True, spans=False, namespaced=True)


def test_silent_prometheus_is_a_fact():
    def fail(expr, at):
        raise MetricsError("no answer")

    assert read_facts(build_cluster(), FakeMetrics(fail), (), 0.0).metrics == "no answer"


def test_unknown_context_error_has_a_fix(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert run(["doctor", "--context", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().out
    assert run(["doctor", "--prometheus-url", "http://p:1"]) == 3

"""``doctor --context``: what a cluster offers to scenarios, and what keeps them from running there. Reads only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.cli.doctor.check import DoctorCheck
from scenario_kit.errors import ClusterError, MetricsError
from scenario_kit.model import Object, Reference
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.observe.capability_probe import has_capability
from scenario_kit.ports import Cluster, Metrics

#: The oldest Kubernetes whose API server judges by ValidatingAdmissionPolicies as ours are written.
OLDEST: Final = (1, 31)
_INSTALL: Final = "scenario-kit operator manifests --image IMAGE --prometheus-url URL | kubectl apply -f -"
_PLATFORM: Final = "see docs/install.md, What a cluster needs"
_KINDS: Final = frozenset({"Scenario", "Trial", "Validation"})
_OPERATOR: Final = Reference("Deployment", "scenario-kit-operator", MANAGEMENT_NAMESPACE, "apps")
#: Window in which scrapes are counted, in seconds.
_WINDOW: Final = 300


class MetricsFacts(NamedTuple):
    """What a Prometheus answered. ``interval`` is that of most targets in seconds, None where nothing is scraped."""

    interval: float | None
    kube_state: bool
    spans: bool
    namespaced: bool


class ClusterFacts(NamedTuple):
    """What was seen of a cluster. ``runtimes`` are those of the nodes, ``daemon_runtime`` what Chaos Mesh was told.

    ``metrics`` is an error where Prometheus did not answer, and None where no address was given.
    """

    kubelets: tuple[str, ...]
    runtimes: frozenset[str]
    kinds: frozenset[str]
    operator_ready: bool
    chaos_image: str
    daemon_runtime: str
    offers: Mapping[str, bool]
    metrics: MetricsFacts | str | None


def read_facts(
    cluster: Cluster, metrics: Metrics | None, capabilities: Iterable[Capability], now: float
) -> ClusterFacts:
    """Read the facts of a cluster, and of its Prometheus where one is given.

    Raises:
        ClusterError: the API server does not answer.
    """
    nodes = [(node.get("status") or {}).get("nodeInfo") or {} for node in cluster.list("Node")]
    manager = _find_by_name(cluster, "Deployment", "chaos-controller-manager")
    daemon = _find_by_name(cluster, "DaemonSet", "chaos-daemon")
    operator = cluster.get(_OPERATOR)
    return ClusterFacts(
        kubelets=tuple(sorted({info["kubeletVersion"] for info in nodes if info.get("kubeletVersion")})),
        runtimes=frozenset(info.get("containerRuntimeVersion", "").partition(":")[0] for info in nodes) - {""},
        kinds=frozenset(kind.kind for kind in cluster.kinds() if kind.group == GROUP),
        operator_ready=bool(operator and (operator.get("status") or {}).get("availableReplicas")),
        chaos_image=_read_image(manager) if manager else "",
        daemon_runtime=_read_option(daemon, "--runtime") if daemon else "",
        offers={
            c.name: has_capability(c.canary, "", cluster)
            for c in capabilities
            if not c.parametric and c.canary.clock is None
        },
        metrics=_read_metrics(metrics, now) if metrics else None,
    )


def _find_by_name(cluster: Cluster, kind: str, name: str) -> Object | None:
    objects = cluster.list(kind, group="apps")
    return next((obj for obj in objects if obj["metadata"]["name"] == name), None)


def _list_containers(workload: Object) -> list[Object]:
    containers: list[Object] = workload["spec"]["template"]["spec"].get("containers") or []
    return containers


def _read_image(workload: Object) -> str:
    return next((str(c.get("image", "")) for c in _list_containers(workload)), "")


def _read_option(workload: Object, option: str) -> str:
    """Read the value of a command-line option of a workload's first container, ``--a b`` or ``--a=b``."""
    for container in _list_containers(workload):
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word == option:
                return str(following)
            if word.startswith(f"{option}="):
                return str(word).partition("=")[2]
    return ""


def _read_metrics(metrics: Metrics, now: float) -> MetricsFacts | str:
    def read(expr: str) -> float:
        series = metrics.instant(expr, now)
        return float(series[0].points[0][1]) if series else 0.0

    try:
        scrapes = read(f"quantile(0.5, count_over_time(up[{_WINDOW}s]))")
        return MetricsFacts(
            interval=_WINDOW / scrapes if scrapes else None,
            kube_state=read("count(kube_pod_info)") > 0,
            spans=read("count(traces_span_metrics_calls_total)") > 0,
            namespaced=read('count(up{namespace!=""})') > 0,
        )
    except MetricsError as problem:
        return str(problem)


def judge_facts(facts: ClusterFacts) -> list[DoctorCheck]:
    """Judge whether scenarios can run in a cluster, and say what it offers to them."""
    have = sorted(name for name, there in facts.offers.items() if there)
    lack = sorted(name for name, there in facts.offers.items() if not there)
    return [
        _judge_version(facts.kubelets),
        *_judge_installation(facts),
        _judge_chaos(facts),
        *_judge_metrics(facts.metrics),
        DoctorCheck("the cluster offers", True, f"{', '.join(have) or 'nothing'}; not {', '.join(lack) or 'nothing'}"),
    ]


def _judge_version(kubelets: Sequence[str]) -> DoctorCheck:
    numbers = [tuple(map(int, found.groups())) for v in kubelets if (found := re.match(r"v(\d+)\.(\d+)", v))]
    oldest = ".".join(map(str, OLDEST))
    if not numbers:
        return DoctorCheck("kubernetes", False, "it has no nodes", "join a node")
    observed = ", ".join(kubelets)
    if min(numbers) < OLDEST:
        return DoctorCheck("kubernetes", False, f"{observed}; needed is {oldest}", "upgrade the cluster")
    return DoctorCheck("kubernetes", True, observed)


def _judge_installation(facts: ClusterFacts) -> list[DoctorCheck]:
    missing = sorted(_KINDS - facts.kinds)
    kinds = DoctorCheck("kinds", not missing, f"{', '.join(missing)} not served" if missing else "served")
    ready = DoctorCheck("operator", facts.operator_ready, "available" if facts.operator_ready else "not available")
    return [check if check.fine else check._replace(fix=_INSTALL) for check in (kinds, ready)]


def _judge_chaos(facts: ClusterFacts) -> DoctorCheck:
    """A cluster without Chaos Mesh is fine: only faults that need it are refused there."""
    if not facts.chaos_image:
        return DoctorCheck("chaos mesh", True, "not installed; faults of Chaos Mesh are refused (SK911)")
    others = facts.runtimes - {facts.daemon_runtime}
    if facts.daemon_runtime and others:
        observed = f"its daemon expects {facts.daemon_runtime}, nodes run {', '.join(sorted(others))}"
        fix = f"helm upgrade chaos-mesh --set chaosDaemon.runtime={min(others)} --reuse-values ..."
        return DoctorCheck("chaos mesh", False, observed, fix)
    return DoctorCheck("chaos mesh", True, facts.chaos_image)


def _judge_metrics(facts: MetricsFacts | str | None) -> list[DoctorCheck]:
    if facts is None:
        return [DoctorCheck("prometheus", False, "no address was given", "--prometheus-url URL")]
    if isinstance(facts, str):
        return [DoctorCheck("prometheus", False, facts, "--prometheus-url URL, as this machine reaches it")]
    return [
        _judge_interval(facts.interval),
        _judge_series("kube-state series", facts.kube_state, "kube_pod_info"),
        _judge_series("span metrics", facts.spans, "traces_span_metrics_calls_total"),
        _judge_series("label namespace", facts.namespaced, 'up{namespace!=""}'),
    ]


def _judge_interval(interval: float | None) -> DoctorCheck:
    if interval is None:
        return DoctorCheck("prometheus", False, f"it has scraped nothing for {_WINDOW} s", _PLATFORM)
    observed = f"most targets are scraped every {interval:.0f} s"
    # A scrape more or less falls into the window.
    if interval > GRID_SECONDS * 1.1:
        return DoctorCheck("prometheus", False, f"{observed}; alerts expect {GRID_SECONDS}", "scrape_interval: 15s")
    return DoctorCheck("prometheus", True, observed)


def _judge_series(name: str, there: bool, series: str) -> DoctorCheck:
    if there:
        return DoctorCheck(name, True, series)
    return DoctorCheck(name, False, f"no series {series}", _PLATFORM)


def examine_cluster(context: str, prometheus_url: str, now: float) -> list[DoctorCheck]:
    """Examine the cluster of a kubeconfig context."""
    from scenario_kit.catalog import Catalog
    from scenario_kit.catalog.capabilities import list_capabilities
    from scenario_kit.clients.kube import KubeCluster
    from scenario_kit.clients.prometheus import PrometheusMetrics

    metrics = PrometheusMetrics(prometheus_url) if prometheus_url else None
    try:
        cluster = KubeCluster(context=context)
        return judge_facts(read_facts(cluster, metrics, list_capabilities(Catalog()), now))
    except ClusterError as problem:
        return [DoctorCheck("cluster", False, str(problem), problem.fix or "kubectl config get-contexts")]

"""``doctor --context``: check what a cluster offers and what prevents scenarios from running. Read-only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from scenario_kit.catalog import Catalog
from scenario_kit.catalog.capabilities import list_capabilities
from scenario_kit.cli.doctor.check import DoctorCheck
from scenario_kit.clients.kube import KubeCluster
from scenario_kit.clients.prometheus import PrometheusMetrics
from scenario_kit.errors import ClusterError, MetricsError
from scenario_kit.judge.platform import PlatformCheck, judge_chaos, judge_metrics
from scenario_kit.model import Reference
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.kubernetes.reference import GROUP, MANAGEMENT_NAMESPACE
from scenario_kit.model.runtime.cluster_facts import ChaosFacts, MetricsFacts
from scenario_kit.observe.capability_probe import has_capability
from scenario_kit.observe.cluster_facts import list_kubelets, parse_minor, read_chaos_facts, read_metrics_facts
from scenario_kit.ports import Cluster, Metrics

#: Minimum Kubernetes version; older API servers do not support our ValidatingAdmissionPolicies.
OLDEST: Final = (1, 31)
_INSTALL: Final = "scenario-kit operator manifests --image IMAGE --prometheus-url URL | kubectl apply -f -"
_KINDS: Final = frozenset({"Scenario", "Trial", "Validation"})
_OPERATOR: Final = Reference("Deployment", "scenario-kit-operator", MANAGEMENT_NAMESPACE, "apps")


class ClusterFacts(NamedTuple):
    """State of a cluster.

    ``metrics`` is an error message if Prometheus did not answer, and None without an address.
    """

    kubelets: tuple[str, ...]
    kinds: frozenset[str]
    operator_ready: bool
    chaos: ChaosFacts
    offers: Mapping[str, bool]
    metrics: MetricsFacts | str | None


def read_facts(
    cluster: Cluster, metrics: Metrics | None, capabilities: Iterable[Capability], now: float
) -> ClusterFacts:
    """Read the state of a cluster, and of its Prometheus if one is given.

    Raises:
        ClusterError: the API server does not answer.
    """
    operator = cluster.get(_OPERATOR)
    return ClusterFacts(
        kubelets=list_kubelets(cluster),
        kinds=frozenset(kind.kind for kind in cluster.kinds() if kind.group == GROUP),
        operator_ready=bool(operator and (operator.get("status") or {}).get("availableReplicas")),
        chaos=read_chaos_facts(cluster),
        offers={
            c.name: has_capability(c.canary, "", cluster)
            for c in capabilities
            if not c.parametric and c.canary.clock is None
        },
        metrics=_read_metrics(metrics, now) if metrics else None,
    )


def _read_metrics(metrics: Metrics, now: float) -> MetricsFacts | str:
    try:
        return read_metrics_facts(metrics, now)
    except MetricsError as error:
        return str(error)


def judge_facts(facts: ClusterFacts) -> list[DoctorCheck]:
    """Judge whether scenarios can run in a cluster, and list its capabilities."""
    have = sorted(name for name, offered in facts.offers.items() if offered)
    lack = sorted(name for name, offered in facts.offers.items() if not offered)
    return [
        _judge_version(facts.kubelets),
        *_judge_installation(facts),
        _convert_check(judge_chaos(facts.chaos)),
        *_judge_metrics(facts.metrics),
        DoctorCheck(
            "the cluster offers", True, f"{', '.join(have) or 'nothing'}; it lacks {', '.join(lack) or 'nothing'}"
        ),
    ]


def _judge_version(kubelets: Sequence[str]) -> DoctorCheck:
    numbers = [found for v in kubelets if (found := parse_minor(v)) != (0, 0)]
    oldest = ".".join(map(str, OLDEST))
    if not numbers:
        return DoctorCheck("kubernetes", False, "the cluster has no nodes", "join a node")
    observed = ", ".join(kubelets)
    if min(numbers) < OLDEST:
        return DoctorCheck("kubernetes", False, f"{observed}; at least {oldest} is required", "upgrade the cluster")
    return DoctorCheck("kubernetes", True, observed)


def _judge_installation(facts: ClusterFacts) -> list[DoctorCheck]:
    missing = sorted(_KINDS - facts.kinds)
    kinds = DoctorCheck("kinds", not missing, f"{', '.join(missing)} not served" if missing else "served")
    ready = DoctorCheck("operator", facts.operator_ready, "available" if facts.operator_ready else "not available")
    return [check if check.fine else check._replace(fix=_INSTALL) for check in (kinds, ready)]


def _judge_metrics(facts: MetricsFacts | str | None) -> list[DoctorCheck]:
    if facts is None:
        return [DoctorCheck("prometheus", False, "no address given", "--prometheus-url URL")]
    if isinstance(facts, str):
        return [DoctorCheck("prometheus", False, facts, "--prometheus-url URL, reachable from this machine")]
    return [_convert_check(check) for check in judge_metrics(facts)]


def _convert_check(check: PlatformCheck) -> DoctorCheck:
    return DoctorCheck(check.name, check.fine, check.observed, check.fix)


def examine_cluster(context: str, prometheus_url: str, now: float) -> list[DoctorCheck]:
    """Examine the cluster of a kubeconfig context."""
    metrics = PrometheusMetrics(prometheus_url) if prometheus_url else None
    try:
        cluster = KubeCluster(context=context)
        return judge_facts(read_facts(cluster, metrics, list_capabilities(Catalog()), now))
    except ClusterError as error:
        return [DoctorCheck("cluster", False, str(error), error.fix or "kubectl config get-contexts")]

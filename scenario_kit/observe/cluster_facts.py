"""Read the facts of a cluster, and of its Prometheus, on which it depends whether scenarios can run there."""

from __future__ import annotations

import re
from typing import Final

from scenario_kit.model import Object
from scenario_kit.model.kubernetes.pod_template import list_containers
from scenario_kit.model.runtime.cluster_facts import ChaosFacts, MetricsFacts
from scenario_kit.ports import Cluster, Metrics

#: Window in which scrapes are counted, in seconds.
WINDOW: Final = 300
_VERSION: Final = re.compile(r"v(\d+)\.(\d+)")


def list_kubelets(cluster: Cluster) -> tuple[str, ...]:
    """List the versions of the nodes' kubelets, each once.

    Raises:
        ClusterError: the API server does not answer.
    """
    found = {str(info.get("kubeletVersion", "")) for info in _list_node_info(cluster)}
    return tuple(sorted(found - {""}))


def read_kubernetes_version(cluster: Cluster) -> str:
    """Read the version of the oldest kubelet; empty where there is no node.

    Raises:
        ClusterError: the API server does not answer.
    """
    return min(list_kubelets(cluster), key=parse_minor, default="")


def parse_minor(version: str) -> tuple[int, int]:
    """Parse major and minor version of ``v1.34.2``; zeros where it is none."""
    found = _VERSION.match(version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def read_engine(cluster: Cluster) -> str:
    """Read the chaos engine with its version, as ``chaos-mesh v2.8.3``; empty where there is none.

    Raises:
        ClusterError: the API server does not answer.
    """
    image = read_chaos_facts(cluster).image
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return f"chaos-mesh {tag}".strip() if image else ""


def read_chaos_facts(cluster: Cluster) -> ChaosFacts:
    """Read what is known of Chaos Mesh, in whichever namespace it is installed.

    Raises:
        ClusterError: the API server does not answer.
    """
    manager = _find_by_name(cluster, "Deployment", "chaos-controller-manager")
    daemon = _find_by_name(cluster, "DaemonSet", "chaos-daemon")
    runtimes = {str(info.get("containerRuntimeVersion", "")).partition(":")[0] for info in _list_node_info(cluster)}
    return ChaosFacts(
        image=_read_image(manager) if manager else "",
        daemon_runtime=_read_option(daemon, "--runtime") if daemon else "",
        runtimes=frozenset(runtimes - {""}),
    )


def read_metrics_facts(metrics: Metrics, now: float) -> MetricsFacts:
    """Read what a Prometheus has. Only targets that it has known for a while tell the interval of scrapes.

    Raises:
        MetricsError: it does not answer.
    """

    def read(expr: str) -> float:
        series = metrics.instant(expr, now)
        return float(series[0].points[0][1]) if series else 0.0

    scrapes = read(f"quantile(0.5, count_over_time(up[{WINDOW}s]) and (up offset {WINDOW}s))")
    return MetricsFacts(
        interval=WINDOW / scrapes if scrapes else None,
        kube_state=read("count(kube_pod_info)") > 0,
        spans=read("count(traces_span_metrics_calls_total)") > 0,
        namespaced=read('count(up{namespace!=""})') > 0,
    )


def _list_node_info(cluster: Cluster) -> list[Object]:
    return [(node.get("status") or {}).get("nodeInfo") or {} for node in cluster.list("Node")]


def _find_by_name(cluster: Cluster, kind: str, name: str) -> Object | None:
    objects = cluster.list(kind, group="apps")
    return next((obj for obj in objects if obj["metadata"]["name"] == name), None)


def _read_image(workload: Object) -> str:
    return next((str(c.get("image", "")) for c in list_containers(workload)), "")


def _read_option(workload: Object, option: str) -> str:
    """Read the value of a command-line option of a workload's containers, ``--a b`` or ``--a=b``."""
    for container in list_containers(workload):
        words = [*(container.get("command") or ()), *(container.get("args") or ())]
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if word == option:
                return str(following)
            if word.startswith(f"{option}="):
                return str(word).partition("=")[2]
    return ""

"""Resource metrics of pods and nodes as served by metrics-server: usage over a window, ``metrics.k8s.io/v1beta1``.

As in metrics-server, a pod has metrics only if each of its running containers was measured over a whole window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from scenario_kit.lab.telemetry.series import block
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.model.kubernetes.timestamp import format_timestamp, parse_timestamp
from scenario_kit.model.runtime.process import Usage

API_VERSION = "metrics.k8s.io/v1beta1"
#: Usage of a node's own services (kubelet, container runtime, operating system). An assumption.
NODE_ITSELF = Usage(0.08, 900 * 2.0**20)
_PAGE_BYTES = 4096


class Measured(NamedTuple):
    """The usage of containers by pod UID and container name, over the ``window`` seconds that ended ``at``."""

    at: float
    window: float
    usage: Mapping[tuple[str, str], Usage]


def build_pod_metrics(pods: Iterable[Object], measured: Measured) -> list[Object]:
    """Build PodMetrics for every measured pod."""
    return [_build_pod(pod, measured, used) for pod in pods if (used := measure_container_usage(pod, measured))]


def measure_container_usage(pod: Object, measured: Measured) -> Mapping[str, Usage]:
    """Return the usage of a pod's running containers; empty until all of them have run for a whole window."""
    found: dict[str, Usage] = {}
    uid = pod["metadata"]["uid"]
    if block(pod, "status").get("phase") != "Running":
        return {}
    for status in list_serving_statuses(pod):
        running = (status.get("state") or {}).get("running")
        if running is None:
            continue
        used = measured.usage.get((uid, status["name"]))
        if used is None or _find_begin(running, measured.at) > measured.at - measured.window:
            return {}
        found[status["name"]] = used
    return found


def _find_begin(running: Object, otherwise: float) -> float:
    text = running.get("startedAt")
    return parse_timestamp(text) if text else otherwise


def build_node_metrics(nodes: Iterable[Object], used: Mapping[str, Usage], at: float, window: float) -> list[Object]:
    """Build NodeMetrics for every ready node: the usage of its pods (``used``) plus the node's own."""
    found = []
    for node in nodes:
        if not _is_ready(node):
            continue
        own = used.get(node["metadata"]["name"], Usage(0.0, 0.0))
        total = Usage(own.cpu_cores + NODE_ITSELF.cpu_cores, own.memory_bytes + NODE_ITSELF.memory_bytes)
        document = {"kind": "NodeMetrics", "apiVersion": API_VERSION, "metadata": _build_metadata(node, at)}
        usage = format_usage(total)
        found.append({**document, "timestamp": format_timestamp(at), "window": _format_window(window), "usage": usage})
    return found


def sum_by_node(pods: Iterable[Object], usage: Mapping[tuple[str, str], Usage]) -> dict[str, Usage]:
    """Sum the usage of all containers by node."""
    by_uid: dict[str, list[Usage]] = {}
    for (uid, _), used in usage.items():
        by_uid.setdefault(uid, []).append(used)
    result: dict[str, Usage] = {}
    for pod in pods:
        for used in by_uid.get(pod["metadata"]["uid"], ()):
            node = block(pod, "spec").get("nodeName", "")
            before = result.get(node, Usage(0.0, 0.0))
            result[node] = Usage(before.cpu_cores + used.cpu_cores, before.memory_bytes + used.memory_bytes)
    return result


def build_list(kind: str, items: Sequence[Object]) -> Object:
    """Build a list document without a resource version, since such lists cannot be watched."""
    return {"kind": f"{kind}List", "apiVersion": API_VERSION, "metadata": {}, "items": list(items)}


def format_usage(used: Usage) -> dict[str, str]:
    """Format CPU in nanocores and memory in whole pages, as canonical quantities."""
    pages = int(used.memory_bytes // _PAGE_BYTES)
    return {
        "cpu": _format_canonical(round(used.cpu_cores * 1e9), 1000, ("n", "u", "m", "", "k")),
        "memory": _format_canonical(pages * _PAGE_BYTES, 1024, ("", "Ki", "Mi", "Gi", "Ti")),
    }


def _build_pod(pod: Object, measured: Measured, used: Mapping[str, Usage]) -> Object:
    meta = _build_metadata(pod, measured.at)
    meta["namespace"] = pod["metadata"]["namespace"]
    return {
        "kind": "PodMetrics",
        "apiVersion": API_VERSION,
        "metadata": meta,
        "timestamp": format_timestamp(measured.at),
        "window": _format_window(measured.window),
        "containers": [{"name": name, "usage": format_usage(each)} for name, each in used.items()],
    }


def _build_metadata(obj: Object, at: float) -> Object:
    own = obj["metadata"]
    meta: Object = {"name": own["name"], "creationTimestamp": format_timestamp(at)}
    return meta | ({"labels": dict(own["labels"])} if own.get("labels") else {})


def _is_ready(node: Object) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in block(node, "status").get("conditions") or ())


def _format_canonical(number: int, base: int, suffixes: Sequence[str]) -> str:
    power = 0
    while number and number % base == 0 and power < len(suffixes) - 1:
        number //= base
        power += 1
    return f"{number}{suffixes[power]}" if number else "0"


def _format_window(seconds: float) -> str:
    return f"{seconds:g}s"

"""Detect probes that time out during a delay: the workload then becomes unready, or restarts, instead of slow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from scenario_kit.model import Fault, FaultType, Object
from scenario_kit.model.chaos.kinds import get_experiment
from scenario_kit.model.kubernetes.duration import parse_seconds
from scenario_kit.model.kubernetes.pod_labels import selects_pods
from scenario_kit.model.kubernetes.pod_spec import list_serving_containers
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.render.objects.lookup import format_reference

#: The consequence of repeated failures of a probe.
_THEN: Final = {
    "startupProbe": "its containers are started again",
    "livenessProbe": "its containers are started again",
    "readinessProbe": "its pods leave their Services",
}
#: Number of messages that a probe waits for: the handshake, and the answer.
_MESSAGES: Final = {"httpGet": 2, "grpc": 2, "tcpSocket": 1}
_PATIENCE: Final = 1


class _Delay(NamedTuple):
    """The delay of a fault in a proxy or of all packets: at most ``seconds`` including ``jitter``."""

    seconds: float
    jitter: float
    selector: Mapping[str, object]
    proxy: Object | None = None

    def messages(self, container: Object, probe: Object) -> int:
        """Return how many times a probe is delayed."""
        if self.proxy is None:
            return next((count for kind, count in _MESSAGES.items() if kind in probe), 0)
        return int("httpGet" in probe and _is_matched(self.proxy, container, probe["httpGet"]))


def list_cautions(fault: Fault, objects: Sequence[Object]) -> tuple[str, ...]:
    """Return cautions about a fault that delays answers, one per workload whose probes time out."""
    delays = [delay for manifest in fault.experiments for delay in _find_delays(manifest)]
    workloads = [o for o in objects if o["kind"] in WORKLOADS]
    return tuple(
        reported for delay in delays for workload in workloads if (reported := _format_caution(delay, workload))
    )


def is_outlived(fault_type: FaultType, fault: Fault, objects: Sequence[Object]) -> bool:
    """Return whether old pods would keep serving: with a wrong configuration new pods may never become ready, which
    stops the rollout.
    """
    if fault_type.family != "Configuration" or fault.rollout.drop_old:
        return False
    written = {change.operation.about(None) for change in fault.changes if change.operation.patches}
    return any(
        "readinessProbe" in container
        for o in objects
        if o["kind"] in ("Deployment", "StatefulSet") and (o["kind"], o["metadata"]["name"]) in written
        for container in list_serving_containers(read_pod_spec(o))
    )


def _find_delays(manifest: Object) -> Iterator[_Delay]:
    """Yield the delay of an experiment that affects all clients; none if it is limited to some peers."""
    kind, spec, _ = get_experiment(manifest)
    selector = (spec.get("selector") or {}).get("labelSelectors") or {}
    if kind == "HTTPChaos" and spec.get("delay") and spec.get("method", "GET") == "GET":
        yield _Delay(parse_seconds(spec["delay"]), 0.0, selector, spec)
    elif kind == "NetworkChaos" and "delay" in spec and "target" not in spec and spec.get("direction", "to") != "from":
        jitter = parse_seconds(spec["delay"].get("jitter", ""))
        yield _Delay(parse_seconds(spec["delay"]["latency"]) + jitter, jitter, selector)


def _format_caution(delay: _Delay, workload: Object) -> str:
    if not delay.selector or not selects_pods(delay.selector, workload):
        return ""
    hasty = [
        (kind, probe.get("timeoutSeconds", _PATIENCE), messages)
        for container in list_serving_containers(read_pod_spec(workload))
        for kind in _THEN
        if (probe := container.get(kind)) and (messages := delay.messages(container, probe))
        if messages * delay.seconds > probe.get("timeoutSeconds", _PATIENCE)
    ]
    if not hasty:
        return ""
    kinds = [kind for kind in _THEN if kind in {k for k, _, _ in hasty}]
    waits = min(patience for _, patience, _ in hasty)
    bound = min(patience / messages for _, patience, messages in hasty) - delay.jitter
    instead = f"; a delay below {bound:g} s leaves it slow" if bound > 0 else ""
    return (
        f"{' and '.join(kinds)} of {format_reference(workload)} wait{'s' * (len(kinds) == 1)} {waits} s, less than "
        f"an answer "
        f"takes: {' and '.join(dict.fromkeys(_THEN[k] for k in kinds))}, and callers see errors{instead}"
    )


def _is_matched(proxy: Object, container: Object, http_get: Object) -> bool:
    """Return whether a proxy delays the requests of a probe."""
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports") or ()}
    port = ports.get(http_get["port"], http_get["port"])
    return port == proxy.get("port") and fnmatchcase(http_get.get("path") or "/", proxy.get("path") or "*")

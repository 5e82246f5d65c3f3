"""Probe a port of a simulated pod, given its processes and the active chaos. Pure."""

from __future__ import annotations

from scenario_kit.lab.kubelet import Processes
from scenario_kit.lab.twin import View
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.status import list_serving_statuses
from scenario_kit.ports import Probed

_UNKNOWN = "chaos is active on the pod, and its effect on clients outside of the app is not modelled"
_ALL = 100.0


def probe_pod(processes: Processes, view: View, pod: Object, port: int, path: str, now: float) -> Probed:
    """Probe a port: TCP, or HTTP GET of ``path`` if there is one. Any running container may serve it."""
    uid = pod["metadata"]["uid"]
    if any(e.pod_uid == uid and not e.peers and (e.drop or e.loss >= _ALL) for e in view.ledger.network):
        return Probed(None, None, _UNKNOWN)
    running = [s["name"] for s in list_serving_statuses(pod) if "running" in (s.get("state") or {})]
    if not any(processes.answers(pod, name, port, None, now) for name in running):
        return Probed(False, None, "connection refused")
    if not path:
        return Probed(True, None, "accepts connections")
    if any(e.pod_uid == uid and e.kind == "HTTP" for e in view.ledger.containers):
        return Probed(None, None, _UNKNOWN)
    served = any(processes.answers(pod, name, port, path, now) for name in running)
    return Probed(True, 200 if served else 404)

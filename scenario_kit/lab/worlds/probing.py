"""What a port of a pod answers, by what its processes serve and the chaos that is in force on it. Pure."""

from __future__ import annotations

from scenario_kit.lab.kubelet import Processes
from scenario_kit.lab.twin import View
from scenario_kit.model import Object
from scenario_kit.ports import Probed

_UNKNOWN = "chaos is in force on the pod, and its effect on whoever asks from outside is not modelled"
_ALL = 100.0


def ask(processes: Processes, view: View, pod: Object, port: int, path: str, now: float) -> Probed:
    """Ask every running container: one of them may have the port."""
    uid = pod["metadata"]["uid"]
    if any(e.pod_uid == uid and not e.peers and (e.drop or e.loss >= _ALL) for e in view.ledger.network):
        return Probed(None, None, _UNKNOWN)
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    running = [s["name"] for s in statuses if "running" in (s.get("state") or {})]
    if not any(processes.answers(pod, name, port, None, now) for name in running):
        return Probed(False, None, "connection refused")
    if not path:
        return Probed(True, None, "accepts connections")
    if any(e.pod_uid == uid and e.kind == "HTTP" for e in view.ledger.containers):
        return Probed(None, None, _UNKNOWN)
    served = any(processes.answers(pod, name, port, path, now) for name in running)
    return Probed(True, 200 if served else 404)

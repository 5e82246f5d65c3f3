"""The API server of a lab; ports of its simulated pods are probed by the lab server."""

from __future__ import annotations

from pathlib import Path

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab.clock import send_request
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import Reference
from scenario_kit.ports import Probed


class LabCluster(KubeCluster):
    """Implements ``ports.Cluster`` on a lab, with the operator's credentials."""

    def __init__(self, lab: LabState) -> None:
        super().__init__(kubeconfig=Path(lab.operator_kubeconfig))
        self._lab = lab

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Probe a port of a pod; ``NotFound`` if the pod does not exist.

        Raises:
            LabError: the lab server is gone, or no world has the namespace.
        """
        document = {"namespace": pod.namespace, "pod": pod.name, "port": port, "path": path}
        answer = send_request(self._lab.server_url, self._lab.server_token, "POST", "/probe", document)
        return Probed(answer["connected"], answer.get("status"), answer.get("reported", ""))

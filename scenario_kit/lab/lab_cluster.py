"""A lab's API server, whose pods are simulated: their ports are asked in the lab server."""

from __future__ import annotations

from pathlib import Path

from scenario_kit.clients.kube import KubeCluster
from scenario_kit.lab.clock import ask
from scenario_kit.lab.host.state import LabState
from scenario_kit.model import Reference
from scenario_kit.ports import Probed


class LabCluster(KubeCluster):
    """Implements ``ports.Cluster`` on a lab, as the operator."""

    def __init__(self, lab: LabState) -> None:
        super().__init__(kubeconfig=Path(lab.operator_kubeconfig))
        self._lab = lab

    def probe(self, pod: Reference, port: int, path: str = "") -> Probed:
        """Ask a port of a pod; ``NotFound`` when the pod does not exist.

        Raises:
            LabError: the lab server is gone, or no world is at home in the namespace.
        """
        document = {"namespace": pod.namespace, "pod": pod.name, "port": port, "path": path}
        answer = ask(self._lab.server_url, self._lab.server_token, "POST", "/probe", document)
        return Probed(answer["connected"], answer.get("status"), answer.get("reported", ""))

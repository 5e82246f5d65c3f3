"""The simulated kubelet: a pure core that decides a pod's next status and events, and a thin loop that writes them."""

from scenario_kit.lab.kubelet.image.processes import START_ERROR, PlainProcesses, Processes
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.lab.kubelet.loop import Kubelet, KubeletSources
from scenario_kit.lab.kubelet.writer import ClusterWriter

__all__ = [
    "START_ERROR", "ClusterWriter", "Kubelet", "KubeletSources", "LogFolder", "PlainProcesses", "Processes",
]  # fmt: skip

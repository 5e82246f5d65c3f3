"""The simulated kubelet: a pure core that decides a pod's next status and events, and a thin loop that writes them."""

from scenario_kit.lab.kubelet.image.processes import START_ERROR, PlainProcesses, Processes
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.lab.kubelet.loop import Kubelet, KubeletSources
from scenario_kit.lab.kubelet.pod.context import ConfigLookup, PodEvent
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.lab.kubelet.status import PodTransition, SyncInputs, compute_pod_status
from scenario_kit.lab.kubelet.writer import ClusterWriter, KubeletWriter

__all__ = [
    "START_ERROR",
    "ClusterWriter",
    "Kubelet",
    "KubeletSources",
    "LogFolder",
    "ConfigLookup",
    "PodMemory",
    "PlainProcesses",
    "PodEvent",
    "SyncInputs",
    "PodTransition",
    "Processes",
    "KubeletWriter",
    "compute_pod_status",
]

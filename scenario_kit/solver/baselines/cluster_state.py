"""What Kubernetes says about an app, as a baseline reads it from columns of kubectl."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scenario_kit.model.base import Value

#: Fields by kind, in the order in which values are read from them.
WORKLOAD_COLUMNS: Final = (
    ".metadata.name", ".spec.replicas", ".status.desiredNumberScheduled", ".status.availableReplicas",
    ".status.numberAvailable",
)  # fmt: skip
POD_COLUMNS: Final = (
    ".metadata.name", ".spec.nodeName", ".status.phase", '.status.conditions[?(@.type=="Ready")].status',
    ".status.containerStatuses[*].state.waiting.reason", ".status.initContainerStatuses[*].state.waiting.reason",
    ".status.containerStatuses[*].state.terminated.reason", ".status.containerStatuses[*].lastState.terminated.reason",
    ".spec.containers[*].ports[*].containerPort", ".spec.containers[*].ports[*].name", ".metadata.labels",
)  # fmt: skip
SERVICE_COLUMNS: Final = (".metadata.name", ".spec.ports[*].targetPort", ".spec.selector")
NODE_COLUMNS: Final = (
    ".metadata.name", '.status.conditions[?(@.type=="Ready")].status', ".spec.unschedulable",
)  # fmt: skip
WARNING_COLUMNS: Final = (".reason", ".involvedObject.kind", ".involvedObject.name", ".message")
_PAIR: Final = re.compile(r"([^\s:\[\]]+):([^\s\]]*)")


class SeenWorkload(Value, frozen=True, kw_only=True):
    """A workload: how many pods it should have, and how many are available."""

    kind: str
    name: str
    desired: int
    available: int

    @classmethod
    def read(cls, kind: str, row: Sequence[str]) -> SeenWorkload:
        """Read the cells of ``WORKLOAD_COLUMNS``; a workload that does not say how many pods it wants, wants one."""
        name, replicas, scheduled, available, numbered = row
        desired = read_number(replicas or scheduled, 1)
        return cls(kind=kind, name=name, desired=desired, available=read_number(available or numbered, 0))


class SeenPod(Value, frozen=True, kw_only=True):
    """A pod. ``waiting`` and ``ended`` are the reasons of its containers' states, ``ports`` numbers and names."""

    name: str
    node: str
    phase: str
    ready: bool
    waiting: tuple[str, ...]
    ended: tuple[str, ...]
    ports: tuple[str, ...]
    labels: dict[str, str]

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenPod:
        """Read the cells of ``POD_COLUMNS``."""
        name, node, phase, ready, waiting, initial, ended, before, numbers, names, labels = row
        return cls(
            name=name, node=node, phase=phase, ready=ready == "True", waiting=split_list(f"{waiting},{initial}"),
            ended=split_list(f"{ended},{before}"), ports=split_list(f"{numbers},{names}"), labels=read_map(labels),
        )  # fmt: skip


class SeenService(Value, frozen=True, kw_only=True):
    """A Service: which ports of which pods it means."""

    name: str
    target_ports: tuple[str, ...]
    selector: dict[str, str]

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenService:
        """Read the cells of ``SERVICE_COLUMNS``."""
        name, ports, selector = row
        return cls(name=name, target_ports=split_list(ports), selector=read_map(selector))


class SeenNode(Value, frozen=True, kw_only=True):
    """A node: whether its kubelet reports that it is ready, and whether new pods may go there."""

    name: str
    ready: bool
    schedulable: bool

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenNode:
        """Read the cells of ``NODE_COLUMNS``."""
        name, ready, unschedulable = row
        return cls(name=name, ready=ready == "True", schedulable=unschedulable != "true")


class SeenWarning(Value, frozen=True, kw_only=True):
    """An event of the type Warning, and the object that it is about."""

    reason: str
    kind: str
    name: str
    message: str

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenWarning:
        """Read the cells of ``WARNING_COLUMNS``."""
        reason, kind, name, message = row
        return cls(reason=reason, kind=kind, name=name, message=message)


class ClusterState(Value, frozen=True, kw_only=True):
    """All of it."""

    workloads: tuple[SeenWorkload, ...] = ()
    pods: tuple[SeenPod, ...] = ()
    services: tuple[SeenService, ...] = ()
    nodes: tuple[SeenNode, ...] = ()
    warnings: tuple[SeenWarning, ...] = ()

    def find_owner(self, name: str) -> SeenWorkload | None:
        """Find the workload of a pod or ReplicaSet by its name, which begins with the workload's."""
        owners = [each for each in self.workloads if name == each.name or name.startswith(f"{each.name}-")]
        return max(owners, key=lambda each: len(each.name), default=None)

    def select_pods(self, selector: dict[str, str]) -> list[SeenPod]:
        """Select the pods that a selector means; none by an empty one."""
        return [pod for pod in self.pods if selector and selector.items() <= pod.labels.items()]


def split_list(cell: str) -> tuple[str, ...]:
    """Split a cell of several values; kubectl writes <none> where one of them is missing."""
    return tuple(each for each in cell.split(",") if each and each != "<none>")


def read_map(cell: str) -> dict[str, str]:
    """Read a map as kubectl writes it in a column: ``map[app:cart tier:web]``."""
    return dict(_PAIR.findall(cell.removeprefix("map[").removesuffix("]")))


def read_number(cell: str, otherwise: int) -> int:
    """Read a whole number."""
    return int(cell) if cell.isascii() and cell.isdigit() else otherwise

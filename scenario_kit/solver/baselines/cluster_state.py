"""The Kubernetes state of an app, as a baseline parses it from kubectl's custom columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from scenario_kit.model.base import Value

#: Custom columns by kind, in the order of their ``read`` methods.
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
    """A workload with its desired and available numbers of pods."""

    kind: str
    name: str
    desired: int
    available: int

    @classmethod
    def read(cls, kind: str, row: Sequence[str]) -> SeenWorkload:
        """Read the cells of ``WORKLOAD_COLUMNS``; replicas default to 1."""
        name, replicas, scheduled, available, numbered = row
        desired = read_number(replicas or scheduled, 1)
        return cls(kind=kind, name=name, desired=desired, available=read_number(available or numbered, 0))


class SeenPod(Value, frozen=True, kw_only=True):
    """A pod. ``waiting`` and ``ended`` are reasons of container states; ``ports`` are port numbers and names."""

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
    """A Service with its selector and target ports."""

    name: str
    target_ports: tuple[str, ...]
    selector: dict[str, str]

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenService:
        """Read the cells of ``SERVICE_COLUMNS``."""
        name, ports, selector = row
        return cls(name=name, target_ports=split_list(ports), selector=read_map(selector))


class SeenNode(Value, frozen=True, kw_only=True):
    """A node: whether it is ready, and whether it is schedulable."""

    name: str
    ready: bool
    schedulable: bool

    @classmethod
    def read(cls, row: Sequence[str]) -> SeenNode:
        """Read the cells of ``NODE_COLUMNS``."""
        name, ready, unschedulable = row
        return cls(name=name, ready=ready == "True", schedulable=unschedulable != "true")


class SeenWarning(Value, frozen=True, kw_only=True):
    """A Warning event and its involved object."""

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
    """The state of the app's namespaces and nodes."""

    workloads: tuple[SeenWorkload, ...] = ()
    pods: tuple[SeenPod, ...] = ()
    services: tuple[SeenService, ...] = ()
    nodes: tuple[SeenNode, ...] = ()
    warnings: tuple[SeenWarning, ...] = ()

    def find_owner(self, name: str) -> SeenWorkload | None:
        """Find the workload of a pod or ReplicaSet by name prefix."""
        owners = [each for each in self.workloads if name == each.name or name.startswith(f"{each.name}-")]
        return max(owners, key=lambda each: len(each.name), default=None)

    def select_pods(self, selector: dict[str, str]) -> list[SeenPod]:
        """Return the pods that match a selector; an empty selector matches none."""
        return [pod for pod in self.pods if selector and selector.items() <= pod.labels.items()]


def split_list(cell: str) -> tuple[str, ...]:
    """Split a comma-separated cell, without the ``<none>`` that kubectl writes for a missing value."""
    return tuple(each for each in cell.split(",") if each and each != "<none>")


def read_map(cell: str) -> dict[str, str]:
    """Parse a map in kubectl's column format: ``map[app:cart tier:web]``."""
    return dict(_PAIR.findall(cell.removeprefix("map[").removesuffix("]")))


def read_number(cell: str, default: int) -> int:
    """Parse a whole number."""
    return int(cell) if cell.isascii() and cell.isdigit() else default

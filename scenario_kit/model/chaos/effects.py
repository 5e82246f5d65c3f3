"""Chaos effects in force: what the simulated chaos daemon was told, keyed by pod. The twin and the kubelet read it."""

from __future__ import annotations

from typing import Any

from scenario_kit.model.base import Value


class NetworkEffect(Value, frozen=True, kw_only=True):
    """One traffic-control rule or packet filter on a pod's network namespace.

    ``drop`` rules come from partitions (``direction`` INPUT or OUTPUT); the others shape what the pod *sends*.
    ``peers`` are CIDRs; empty means every peer. Percentages are 0–100, times are seconds, rate is bytes/s.
    """

    pod_uid: str
    direction: str = "OUTPUT"
    peers: tuple[str, ...] = ()
    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    duplicate: float = 0.0
    corrupt: float = 0.0
    rate: float = 0.0
    drop: bool = False
    device: str = ""


class ContainerEffect(Value, frozen=True, kw_only=True):
    """An effect inside one container: Stress, IO, HTTP, DNS, Time or JVM, with the daemon's own arguments decoded.

    Of the kind Names, which belongs to a pod and has no container: what the chaos name server tells that pod.
    """

    pod_uid: str
    container_id: str
    kind: str
    arguments: dict[str, Any] = {}


class Ledger(Value, frozen=True, kw_only=True):
    """Everything in force at one instant. ``version`` grows with every change."""

    version: int = 0
    network: tuple[NetworkEffect, ...] = ()
    containers: tuple[ContainerEffect, ...] = ()

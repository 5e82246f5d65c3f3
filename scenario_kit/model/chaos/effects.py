"""Active chaos effects by pod, as received by the simulated chaos daemon; read by the twin and the kubelet."""

from __future__ import annotations

from typing import Any

from scenario_kit.model.base import Value


class NetworkEffect(Value, frozen=True, kw_only=True):
    """One traffic-control rule or packet filter on a pod's network namespace.

    ``drop`` rules come from partitions (``direction`` INPUT or OUTPUT); the others shape outgoing traffic. ``peers``
    are CIDRs, empty for all. Percentages are 0–100, times are in seconds, the rate in bytes/s. ``burst`` bytes pass at
    once after a silence, and at most ``queue`` bytes wait, any number if it is 0. After ``gap`` - 1 packets with a
    delay, ``reorder`` is the percentage of those without. Correlations are the percentages by which a packet's random
    number depends on the last one.
    """

    pod_uid: str
    direction: str = "OUTPUT"
    peers: tuple[str, ...] = ()
    delay: float = 0.0
    jitter: float = 0.0
    jitter_correlation: float = 0.0
    reorder: float = 0.0
    reorder_correlation: float = 0.0
    gap: int = 0
    loss: float = 0.0
    loss_correlation: float = 0.0
    duplicate: float = 0.0
    corrupt: float = 0.0
    corrupt_correlation: float = 0.0
    rate: float = 0.0
    burst: float = 0.0
    queue: float = 0.0
    drop: bool = False
    device: str = ""


class ContainerEffect(Value, frozen=True, kw_only=True):
    """An effect in one container: Stress, IO, HTTP, DNS, Time or JVM, with the daemon's decoded arguments.

    The kind Names applies to a pod without a container: the answers of the chaos name server.
    """

    pod_uid: str
    container_id: str
    kind: str
    arguments: dict[str, Any] = {}


class Ledger(Value, frozen=True, kw_only=True):
    """All active effects at one instant. ``version`` increases with every change."""

    version: int = 0
    network: tuple[NetworkEffect, ...] = ()
    containers: tuple[ContainerEffect, ...] = ()

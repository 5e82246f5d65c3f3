"""Traffic on the pods' network interfaces: the app's own messages, of a fixed size.

Not counted: packets to nowhere, handshakes of other connections, probes, and exported telemetry.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scenario_kit.lab.twin.network.endpoints import Wire
from scenario_kit.lab.twin.network.packet_effects import TrafficShape
from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.process.process import Process
from scenario_kit.model.runtime.process import NetworkUsage


def exchange_messages(caller: Process, callee: Process, wire: Wire | None, took: Floats, size: float) -> None:
    """Count requests of ``size`` bytes and their responses; a hanging callee sends none."""
    send(caller, callee, took.size, size, wire.out if wire is not None else None)
    send(callee, caller, int(np.count_nonzero(np.isfinite(took))), size, wire.back if wire is not None else None)


def send(sender: Process, receiver: Process, messages: int, size: float, shape: TrafficShape | None = None) -> None:
    """Count messages to another pod; those lost in the sender's pod never come to its interface."""
    if sender.key.pod_uid == receiver.key.pod_uid:  # loopback
        return
    if shape is not None:
        if shape.loss >= 1.0:
            return
        if shape.rate > 0.0:
            sender.bucket.send(messages * size, shape.rate, shape.queue)
    sender.sent_bytes += messages * size
    receiver.received_bytes += messages * size


def drain(processes: Iterable[Process], dt: float) -> dict[str, NetworkUsage]:
    """Return the traffic of each pod by UID over the last ``dt`` seconds, and reset the counters."""
    result: dict[str, NetworkUsage] = {}
    for process in processes:
        before = result.get(process.key.pod_uid, NetworkUsage(0.0, 0.0))
        result[process.key.pod_uid] = NetworkUsage(
            before.received + process.received_bytes / dt, before.sent + process.sent_bytes / dt
        )
        process.received_bytes = process.sent_bytes = 0.0
    return result

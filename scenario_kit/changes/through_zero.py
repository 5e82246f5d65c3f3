"""A restart by way of zero replicas, so that no old pod keeps serving (docs/add-a-fault.md).

It takes several writes, so its receipt says how far it has come: ``Recorded``, ``Down`` (scaled to zero), ``Done``.
"""

from __future__ import annotations

from typing import Final

import msgspec

from scenario_kit.changes.receipts import Receipt, ReceiptStore
from scenario_kit.changes.workloads import list_pods
from scenario_kit.errors import LabError
from scenario_kit.model import Reference
from scenario_kit.ports import Clock, Cluster

#: Seconds of trial time within which the pods of a workload that was scaled to zero must be gone.
DRAIN_DEADLINE: Final = 180
_GRID: Final = 15
_NOTE: Final = "restarted through zero"


def restart(cluster: Cluster, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
    """Scale the workload to zero, wait until its pods are gone, and scale it back, from wherever that stood.

    Raises:
        LabError: pods are still there at the deadline.
    """
    entry = receipt.entries[0]
    ref = Reference.parse(entry.ref)
    replicas = ((entry.prior or {}).get("spec") or {}).get("replicas", 1)
    deadline = receipt.at + DRAIN_DEADLINE
    if receipt.state == "Recorded":
        cluster.patch(ref, {"spec": {"replicas": 0}})
        receipt = store.save(msgspec.structs.replace(receipt, state="Down"))
    elif ((cluster.get(ref) or {}).get("spec") or {}).get("replicas"):
        # Scaled back already, by a run that died before it could say so: the pods that are there are the new ones.
        return store.save(msgspec.structs.replace(receipt, state="Done", note=_NOTE))
    clock.wait(clock.now())
    while left := list_pods(cluster, ref):
        if clock.now() >= deadline:
            raise LabError(f"{len(left)} pods of {ref} are still there {DRAIN_DEADLINE} s after it was scaled to zero")
        clock.wait(clock.now() + _GRID)
    cluster.patch(ref, {"spec": {"replicas": replicas}})
    clock.wait(clock.now())
    return store.save(msgspec.structs.replace(receipt, state="Done", note=_NOTE))

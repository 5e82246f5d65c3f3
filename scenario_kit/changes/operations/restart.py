"""``restart``: replacement of a workload's pods.

Through zero replicas, so that no old pod keeps serving, it takes several writes. Its receipt then holds the
progress: ``Recorded``, ``Down`` (scaled to zero), ``Done``.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, final

import msgspec

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import RolloutOperation
from scenario_kit.changes.receipts import Receipt, ReceiptEntry, ReceiptStore
from scenario_kit.changes.three_way_restore import RESTARTED
from scenario_kit.changes.workloads import list_pods
from scenario_kit.errors import AuthoringError, LabError
from scenario_kit.model import Object
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.kubernetes.reference import WORKLOADS
from scenario_kit.ports import Clock, Cluster

#: Seconds of trial time within which the pods of a workload that was scaled to zero must be gone.
DRAIN_DEADLINE: Final = 180
_NOTE: Final = "restarted through zero"


@final
class Restart(RolloutOperation, frozen=True, kw_only=True):
    """Replace the pods of a workload. ``drop_old`` goes through zero pods, so that no old pod keeps serving."""

    restarts: ClassVar[bool] = True

    drop_old: bool = False

    def perform(self, context: ChangeContext, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
        if self.drop_old:
            return restart_through_zero(context.cluster, clock, store, receipt)
        return super().perform(context, clock, store, receipt)

    def send(self, context: ChangeContext) -> None:
        ref, live = context.get_existing(self.target)
        if ref.kind == "Pod":
            context.cluster.delete(ref)
            return
        if ref.kind not in WORKLOADS:
            raise AuthoringError(f"{self.target} cannot be restarted", fix=f"name one of {', '.join(WORKLOADS)}")
        annotations = {RESTARTED: _choose_restart_time(live, context.now())}
        context.cluster.patch(ref, {"spec": {"template": {"metadata": {"annotations": annotations}}}})

    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        ref = entry.ref
        live = context.cluster.get(ref)
        replicas = ((entry.prior or {}).get("spec") or {}).get("replicas")
        if receipt.state == "Down" and live is not None and replicas is not None and not live["spec"].get("replicas"):
            context.cluster.patch(ref, {"spec": {"replicas": replicas}})

    def list_rollouts(self, drop_old: bool) -> Iterable[tuple[str, bool]]:
        return [(self.target, self.drop_old)]

    def outlasts(self, persistence: str) -> bool:
        return False


def restart_through_zero(cluster: Cluster, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
    """Scale the workload to zero, wait until its pods are gone, and scale it back; resumes an earlier attempt.

    Raises:
        LabError: pods are still there at the deadline.
    """
    entry = receipt.entries[0]
    ref = entry.ref
    replicas = ((entry.prior or {}).get("spec") or {}).get("replicas", 1)
    deadline = receipt.at + DRAIN_DEADLINE
    if receipt.state == "Recorded":
        cluster.patch(ref, {"spec": {"replicas": 0}})
        receipt = store.save(msgspec.structs.replace(receipt, state="Down"))
    elif ((cluster.get(ref) or {}).get("spec") or {}).get("replicas"):
        # Scaled back already, by a run that died before saving the receipt: the existing pods are the new ones.
        return store.save(msgspec.structs.replace(receipt, state="Done", note=_NOTE))
    clock.wait(clock.now())
    while left := list_pods(cluster, ref):
        if clock.now() >= deadline:
            raise LabError(f"{len(left)} pods of {ref} are still there {DRAIN_DEADLINE} s after it was scaled to zero")
        clock.wait(clock.now() + GRID_SECONDS)
    cluster.patch(ref, {"spec": {"replicas": replicas}})
    clock.wait(clock.now())
    return store.save(msgspec.structs.replace(receipt, state="Done", note=_NOTE))


def _choose_restart_time(workload: Object, now: float) -> str:
    """Choose the time of a restart, never that of the last one, which would change nothing in frozen virtual time."""
    at = datetime.fromtimestamp(now, UTC)
    last = ((workload["spec"]["template"].get("metadata") or {}).get("annotations") or {}).get(RESTARTED)
    with suppress(ValueError, TypeError):  # others may have written any value
        since = (datetime.fromisoformat(str(last)) - at).total_seconds()
        at += timedelta(microseconds=round(since * 1e6) + 1) if 0 <= since < 1 else timedelta()
    return at.isoformat(timespec="microseconds")

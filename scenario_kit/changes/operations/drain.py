"""``drain``: cordon a node and evict the app's pods from it."""

from __future__ import annotations

from typing import ClassVar, Final, final

import msgspec

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.nodes import SchedulingOperation
from scenario_kit.changes.operation import complete, read_uid, send
from scenario_kit.changes.receipts import Receipt, ReceiptStore
from scenario_kit.errors import EvictionRefused
from scenario_kit.model import Object, Reference
from scenario_kit.ports import Clock, Cluster

_MIRROR: Final = "kubernetes.io/config.mirror"


@final
class Drain(SchedulingOperation, frozen=True, kw_only=True):
    """Cordon a node, and evict the app's pods from it."""

    evicts: ClassVar[bool] = True
    stateful: ClassVar[bool] = False

    def perform(self, context: ChangeContext, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
        send(context, receipt.change)
        return complete(context, store, msgspec.structs.replace(receipt, blocked=self.evict(context)))

    def list_covered(self, context: ChangeContext) -> tuple[str, ...]:
        return tuple(read_uid(pod) for pod in self.list_pods(context))

    def repeat(self, context: ChangeContext) -> str:
        return self.evict(context) if self.is_draining(context.cluster) else ""

    def list_pods(self, context: ChangeContext) -> list[Object]:
        """List the app's pods to evict: all on its nodes except those of DaemonSets and mirror pods."""
        drained = {ref.name for ref in self.nodes}
        pods = [p for namespace in context.everywhere for p in context.cluster.list("Pod", namespace)]
        return [p for p in pods if p["spec"].get("nodeName") in drained and not _is_tied_to_node(p)]

    def evict(self, context: ChangeContext) -> str:
        """Evict every such pod; return why some were refused, or empty."""
        refused = []
        for pod in self.list_pods(context):
            if "deletionTimestamp" in pod["metadata"]:
                continue
            name = pod["metadata"]["name"]
            try:
                context.cluster.evict(Reference("Pod", name, pod["metadata"]["namespace"]))
            except EvictionRefused as error:
                refused.append(f"Pod/{name}: {error.message}")
        return "; ".join(refused)

    def is_draining(self, cluster: Cluster) -> bool:
        """Return whether one of its nodes is still cordoned; uncordoning cancels the drain."""
        found = [cluster.get(ref) for ref in self.nodes]
        return any((node.get("spec") or {}).get("unschedulable") for node in found if node is not None)


def _is_tied_to_node(pod: Object) -> bool:
    metadata = pod["metadata"]
    owners = {owner.get("kind") for owner in metadata.get("ownerReferences") or ()}
    return bool(owners & {"DaemonSet", "Node"}) or _MIRROR in (metadata.get("annotations") or {})

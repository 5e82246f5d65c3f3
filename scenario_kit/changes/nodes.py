"""Operations on nodes. Each writes one field or one taint, and its undo reverts exactly that.

The node controller adds taints itself (to cordoned nodes, for example), so a diff of whole nodes would include its
writes. Sending is idempotent, because a crash may leave some of several nodes unwritten.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.node_placeholders import SEPARATOR
from scenario_kit.changes.operation import ObjectOperation, name_field_owner
from scenario_kit.changes.receipts import Receipt, ReceiptEntry
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.kubernetes.difference import Path, WrittenField
from scenario_kit.ports import Clock, Cluster


@final
class NodeReferences(str):
    """References to one node or to several, as text: ``Node/<name>``, further names behind commas."""

    __slots__ = ("nodes",)

    nodes: tuple[Reference, ...]

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Parse the text.

        Raises:
            ValueError: it does not name nodes.
        """
        kind, _, names = text.partition("/")
        if kind != "Node" or not names:
            raise ValueError(f"'{text}' is no node; expected Node/<name>")
        self = cls(text)
        self.nodes = tuple(Reference(kind, name) for name in names.split(SEPARATOR))
        return self

    def to_json(self) -> str:
        """Return the plain text."""
        return str(self)


class NodeOperation(ObjectOperation, frozen=True, kw_only=True):
    """An operation on one node, or on several."""

    on_nodes: ClassVar[bool] = True
    visible: ClassVar[bool] = False

    target: NodeReferences

    @abstractmethod
    def write(self, cluster: Cluster, ref: Reference) -> None:
        """Perform the operation on one node."""

    @abstractmethod
    def restore_node(self, cluster: Cluster, ref: Reference, prior: Object) -> None:
        """Restore the field or taint on one node."""

    @abstractmethod
    def get_path(self) -> Path:
        """Return the path that it writes."""

    @property
    def ref(self) -> Reference | None:
        return self.nodes[0] if len(self.nodes) == 1 else None

    @property
    def nodes(self) -> tuple[Reference, ...]:
        """The nodes that its target names."""
        return self.target.nodes

    def list_targets(self, context: ChangeContext) -> list[Reference]:
        return list(self.nodes)

    def has_arrived(self, context: ChangeContext, receipt: Receipt) -> bool:
        return False  # some of several nodes may be written; writes are idempotent

    def send(self, context: ChangeContext) -> None:
        for ref in self.nodes:
            if context.cluster.get(ref) is None:
                raise AuthoringError(f"node {ref.name} does not exist", fix="name a node of the cluster")
            self.write(context.cluster, ref)

    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        if context.cluster.get(entry.ref) is not None:
            self.restore_node(context.cluster, entry.ref, entry.prior or {})

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        return tuple(objects)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        return [WrittenField(name_field_owner(ref, app.namespace), self.get_path()) for ref in self.nodes]


class SchedulingOperation(NodeOperation, frozen=True, kw_only=True):
    """An operation that makes nodes schedulable or unschedulable."""

    #: Whether the node is unschedulable afterwards.
    closes: ClassVar[bool] = True

    def write(self, cluster: Cluster, ref: Reference) -> None:
        _write_cordon(cluster, ref, on=self.closes)

    def restore_node(self, cluster: Cluster, ref: Reference, prior: Object) -> None:
        _write_cordon(cluster, ref, on=bool((prior.get("spec") or {}).get("unschedulable")))

    def get_path(self) -> Path:
        return ("spec", "unschedulable")

    def outlasts(self, persistence: str) -> bool:
        return False  # pods keep running, here or elsewhere


def _write_cordon(cluster: Cluster, ref: Reference, *, on: bool) -> None:
    cluster.patch(ref, {"spec": {"unschedulable": True if on else None}})

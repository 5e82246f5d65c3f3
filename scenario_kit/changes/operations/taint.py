"""``taint`` and ``untaint``: a taint on a node; key and effect together identify it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, final

from scenario_kit.changes.nodes import NodeOperation
from scenario_kit.errors import Conflict
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.difference import Path
from scenario_kit.ports import Cluster

_ATTEMPTS: Final = 5


class TaintOperation(NodeOperation, frozen=True, kw_only=True):
    """Write one taint of a node."""

    #: Whether the node has the taint afterwards.
    adds: ClassVar[bool] = True

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"

    def write(self, cluster: Cluster, ref: Reference) -> None:
        self._write_taint(cluster, ref, self._build_taint(self.value) if self.adds else None)

    def restore_node(self, cluster: Cluster, ref: Reference, prior: Object) -> None:
        before = next((t for t in _read_taints(prior) if self._is_same(t)), None)
        self._write_taint(cluster, ref, None if before is None else self._build_taint(before.get("value", "")))

    def get_path(self) -> Path:
        return ("spec", "taints", self.key, self.effect)

    def list_texts(self) -> Iterable[tuple[str, str]]:
        return [("key", self.key), ("value", self.value)] if self.adds else ()

    def outlasts(self, persistence: str) -> bool:
        return True

    def _write_taint(self, cluster: Cluster, ref: Reference, taint: Object | None) -> None:
        """Write the whole list of taints, unless it has changed since it was read."""
        for attempt in range(_ATTEMPTS):
            node = cluster.get(ref)
            if node is None:
                return
            kept = [t for t in _read_taints(node) if not self._is_same(t)]
            desired = kept if taint is None else [*kept, taint]
            if desired == _read_taints(node):
                return
            version = {"resourceVersion": node["metadata"]["resourceVersion"]}
            try:
                cluster.patch(ref, {"metadata": version, "spec": {"taints": desired or None}})
                return
            except Conflict:
                if attempt == _ATTEMPTS - 1:
                    raise

    def _is_same(self, taint: Object) -> bool:
        return (taint.get("key"), taint.get("effect")) == (self.key, self.effect)

    def _build_taint(self, value: str) -> Object:
        return {"key": self.key, **({"value": value} if value else {}), "effect": self.effect}


@final
class Taint(TaintOperation, frozen=True, kw_only=True):
    """Add a taint to a node."""

    inverse: ClassVar[str] = "untaint"


@final
class Untaint(TaintOperation, frozen=True, kw_only=True):
    """Remove a taint from a node."""

    inverse: ClassVar[str] = "taint"
    adds: ClassVar[bool] = False


def _read_taints(node: Object) -> list[Object]:
    return list((node.get("spec") or {}).get("taints") or ())

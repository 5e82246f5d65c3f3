"""Operations with a manifest as their body."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, Self

import msgspec

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import ObjectOperation
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.base import convert
from scenario_kit.model.chaos.kinds import ONE_SHOT, SCHEDULE
from scenario_kit.model.chaos.reach import is_chaos
from scenario_kit.model.kubernetes.difference import WrittenField
from scenario_kit.model.kubernetes.pod_resources import count_replicas
from scenario_kit.model.kubernetes.pod_template import read_pod_spec
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.render.faults.created_object import format_created
from scenario_kit.render.simulation.changes import add_object, merge_object
from scenario_kit.schema.writable import OWNED

#: Kinds whose objects may end by themselves.
_ENDING: Final = ("Job", "Pod")
#: Actions of experiments that complete at once.
_AT_ONCE: Final = (*ONE_SHOT, "gc")


class ManifestOperation(ObjectOperation, frozen=True, kw_only=True):
    """An operation that creates or applies the object of its manifest."""

    has_manifest: ClassVar[bool] = True
    makes: ClassVar[bool] = True
    only_fields: ClassVar[bool] = True

    manifest: Object

    @classmethod
    def from_body(cls, body: Any) -> Self:
        """Return the operation with this manifest."""
        return cls(manifest=convert(body, Object))

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object:
        return {"delete": {"target": format_created(body)}}

    @property
    def body(self) -> Object:
        result: Object = msgspec.to_builtins(self.manifest)
        return result

    def list_targets(self, context: ChangeContext) -> list[Reference]:
        return [make_object_reference(self.manifest, context.namespace)]

    def place(self, namespace: str) -> Object:
        """Return the manifest with its namespace, by default the app's."""
        metadata = {"namespace": namespace, **self.manifest["metadata"]}
        if self.manifest["kind"] == "Namespace":  # this label allows us to write to it
            metadata["labels"] = {**(metadata.get("labels") or {}), **dict([OWNED])}
        return {**self.manifest, "metadata": metadata}

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        return (add_object if self.creates else merge_object)(objects, self.manifest, namespace, self.keyword)

    def count_replicas(self) -> int:
        return count_replicas(self.manifest)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        return ()

    def outlasts(self, persistence: str) -> bool:
        spec = self.manifest.get("spec") or {}
        if is_chaos(self.manifest):
            if spec.get("action") in _AT_ONCE or persistence == "Pod":  # not bound to pods that come later
                return False
            return not (persistence == "Expires" and (spec.get("duration") or self.manifest.get("kind") == SCHEDULE))
        bounded = spec.get("activeDeadlineSeconds") or read_pod_spec(self.manifest).get("activeDeadlineSeconds")
        ends = self.manifest.get("kind") in _ENDING and persistence in ("Expires", "SelfHeals")
        return not (ends and bounded)

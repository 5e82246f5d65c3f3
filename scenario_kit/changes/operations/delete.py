"""``delete``: an object goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, final

from scenario_kit.changes.operation import TargetOperation
from scenario_kit.changes.scene import Scene
from scenario_kit.model import Object, Reference
from scenario_kit.model.kubernetes.difference import Path


@final
class Delete(TargetOperation, frozen=True, kw_only=True):
    """Delete an object."""

    deletes: ClassVar[bool] = True
    overwrites: ClassVar[bool] = True
    only_fields: ClassVar[bool] = True

    def send(self, scene: Scene) -> None:
        """Delete the object."""
        ref, _ = scene.existing(self.target)
        scene.cluster.delete(ref)

    def transform(self, obj: Object) -> None:
        """Return nothing."""

    def list_paths(self) -> Iterable[Path]:
        """List the object as a whole."""
        return [()]

    def outlasts(self, persistence: str) -> bool:
        """Tell whether nothing brings the object back by itself."""
        return Reference.parse(self.target).kind != "Pod"

"""``create``: an object that must not exist yet."""

from __future__ import annotations

from typing import ClassVar, final

from scenario_kit.changes.manifests import ManifestOperation
from scenario_kit.changes.scene import Scene


@final
class Create(ManifestOperation, frozen=True, kw_only=True):
    """Create an object."""

    creates: ClassVar[bool] = True

    def send(self, scene: Scene) -> None:
        scene.cluster.create(self.place(scene.namespace))

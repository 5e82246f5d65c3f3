"""``apply``: server-side apply of an object."""

from __future__ import annotations

from typing import final

from scenario_kit.changes.manifests import ManifestOperation
from scenario_kit.changes.scene import Scene


@final
class Apply(ManifestOperation, frozen=True, kw_only=True):
    """Apply an object."""

    def send(self, scene: Scene) -> None:
        scene.cluster.apply(self.place(scene.namespace))

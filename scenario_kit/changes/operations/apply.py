"""``apply``: an object, by server-side apply, whether or not it is there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from scenario_kit.changes.manifests import ManifestOperation
from scenario_kit.changes.scene import Scene
from scenario_kit.model import App, Object
from scenario_kit.render.simulation.changes import merge_object


@final
class Apply(ManifestOperation, frozen=True, kw_only=True):
    """Apply an object."""

    def send(self, scene: Scene) -> None:
        """Apply the object."""
        scene.cluster.apply(self.place(scene.namespace))

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        """Return the objects with the fields of this one."""
        return merge_object(objects, self.manifest, namespace, self.keyword)

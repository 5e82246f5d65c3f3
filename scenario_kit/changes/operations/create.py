"""``create``: an object that must not be there before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from scenario_kit.changes.manifests import ManifestOperation
from scenario_kit.changes.scene import Scene
from scenario_kit.model import App, Object
from scenario_kit.render.simulation.changes import add_object


@final
class Create(ManifestOperation, frozen=True, kw_only=True):
    """Create an object."""

    creates: ClassVar[bool] = True

    def send(self, scene: Scene) -> None:
        """Create the object."""
        scene.cluster.create(self.place(scene.namespace))

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        """Return the objects and this one."""
        return add_object(objects, self.manifest, namespace, self.keyword)

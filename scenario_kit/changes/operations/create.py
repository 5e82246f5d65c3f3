"""``create``: an object that must not exist yet."""

from __future__ import annotations

from typing import ClassVar, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.manifests import ManifestOperation


@final
class Create(ManifestOperation, frozen=True, kw_only=True):
    """Create an object."""

    creates: ClassVar[bool] = True

    def send(self, context: ChangeContext) -> None:
        context.cluster.create(self.place(context.namespace))

"""``apply``: server-side apply of an object."""

from __future__ import annotations

from typing import final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.manifests import ManifestOperation


@final
class Apply(ManifestOperation, frozen=True, kw_only=True):
    """Apply an object."""

    def send(self, context: ChangeContext) -> None:
        context.cluster.apply(self.place(context.namespace))

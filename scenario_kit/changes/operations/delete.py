"""``delete``: deletion of an object."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import ClassVar, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import TargetOperation
from scenario_kit.model import Object
from scenario_kit.model.kubernetes.difference import Path


@final
class Delete(TargetOperation, frozen=True, kw_only=True):
    """Delete an object."""

    deletes: ClassVar[bool] = True
    overwrites: ClassVar[bool] = True
    only_fields: ClassVar[bool] = True

    @classmethod
    def invert(cls, body: Object, former: Object | None) -> Object | None:
        return None if former is None else {"create": copy.deepcopy(former)}

    def send(self, context: ChangeContext) -> None:
        ref, _ = context.get_existing(self.target)
        context.cluster.delete(ref)

    def transform(self, obj: Object) -> None:
        return None

    def list_paths(self) -> Iterable[Path]:
        return [()]

    def outlasts(self, persistence: str) -> bool:
        return self.target.kind != "Pod"

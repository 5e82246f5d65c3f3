"""``removeFault``: undo of all changes of a fault, from its receipts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, final

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import ObjectOperation
from scenario_kit.errors import AuthoringError
from scenario_kit.model import App, Object, Reference
from scenario_kit.model.kubernetes.difference import WrittenField


@final
class RemoveFault(ObjectOperation, frozen=True, kw_only=True):
    """Undo every change of the named fault. Trials execute it themselves."""

    removes_fault: ClassVar[bool] = True
    stateful: ClassVar[bool] = False
    predictable: ClassVar[bool] = False

    fault: str

    def list_targets(self, context: ChangeContext) -> list[Reference]:
        raise AuthoringError(
            f"the operation '{self.keyword}' is not executed as a change; trials undo the fault themselves",
            fix="use it in the fix of a cause, or in a solution",
        )

    def send(self, context: ChangeContext) -> None:
        self.list_targets(context)

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        return tuple(objects)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        return ()

    def outlasts(self, persistence: str) -> bool:
        return False

"""Undo of a change from its receipt. Idempotent; retryable failures are returned, not raised."""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import get_operation
from scenario_kit.changes.receipts import Receipt
from scenario_kit.errors import AuthoringError, ClusterError
from scenario_kit.ports import Clock


class Blocked(NamedTuple):
    """An undo that is blocked, and why. It is retried; the finalizer stays until it succeeds."""

    group: str
    target: str
    reason: str


def undo(context: ChangeContext, receipt: Receipt, clock: Clock) -> Blocked | None:
    """Undo the change of a receipt; None once it is undone."""
    try:
        for entry in reversed(receipt.entries):
            get_operation(receipt.change).undo(context, receipt, entry, clock)
    except (ClusterError, AuthoringError, TimeoutError) as error:
        return Blocked(receipt.group, str(receipt.entries[0].ref) if receipt.entries else "", str(error))
    return None

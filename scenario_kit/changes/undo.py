"""The inverse of a change, from its receipt. Idempotent; it never raises for what can only be retried."""

from __future__ import annotations

from typing import NamedTuple

from scenario_kit.changes.operation import get_operation
from scenario_kit.changes.receipts import Receipt
from scenario_kit.changes.scene import Scene
from scenario_kit.errors import AuthoringError, ClusterError
from scenario_kit.ports import Clock


class Blocked(NamedTuple):
    """An undo that did not go through yet, and why. It is tried again; the finalizer stays until it succeeds."""

    group: str
    target: str
    reason: str


def undo(scene: Scene, receipt: Receipt, clock: Clock) -> Blocked | None:
    """Take back what a receipt describes; None when nothing of it is left."""
    try:
        for entry in reversed(receipt.entries):
            get_operation(receipt.change).undo(scene, receipt, entry, clock)
    except (ClusterError, AuthoringError, TimeoutError) as problem:
        return Blocked(receipt.group, str(receipt.entries[0].ref) if receipt.entries else "", str(problem))
    return None

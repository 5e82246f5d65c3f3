"""Apply and undo changes, with receipts (docs/architecture.md)."""

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.engine import Engine
from scenario_kit.changes.operation import NoEffect
from scenario_kit.changes.receipts import TRIAL_LABEL, ClusterStore, Receipt, ReceiptEntry
from scenario_kit.changes.workloads import is_settled

__all__ = [
    "TRIAL_LABEL", "ClusterStore", "Engine", "ReceiptEntry", "NoEffect", "Receipt", "ChangeContext", "is_settled",
]  # fmt: skip

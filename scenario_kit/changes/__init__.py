"""Apply and undo changes, with receipts (docs/architecture.md)."""

from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.engine import Engine
from scenario_kit.changes.operation import NoEffect
from scenario_kit.changes.receipts import LIMIT_BYTES, TRIAL_LABEL, ClusterStore, Receipt, ReceiptEntry, ReceiptStore
from scenario_kit.changes.undo import Blocked
from scenario_kit.changes.workloads import is_settled, list_pods

__all__ = [
    "LIMIT_BYTES",
    "TRIAL_LABEL",
    "Blocked",
    "ClusterStore",
    "Engine",
    "ReceiptEntry",
    "NoEffect",
    "Receipt",
    "ChangeContext",
    "ReceiptStore",
    "list_pods",
    "is_settled",
]

"""Compensating changes for effects that no receipt covers: what a command did to a store (``undo`` of a fault).

They run from last to first, and a crash before the receipt is saved repeats one. A failed command is removed and
retried at the next attempt; until it succeeds, the undo is blocked.
"""

from __future__ import annotations

import msgspec

from scenario_kit.changes import jobs
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import get_operation
from scenario_kit.changes.receipts import Receipt, ReceiptStore
from scenario_kit.changes.undo import Blocked
from scenario_kit.errors import AuthoringError, InfrastructureError
from scenario_kit.ports import Clock


def compensate(
    context: ChangeContext, clock: Clock, store: ReceiptStore, receipt: Receipt
) -> tuple[Receipt, Blocked | None]:
    """Run the remaining compensating changes of a receipt; return what blocks them, if anything."""
    left = len(receipt.inverse) if receipt.inverse_left is None else receipt.inverse_left
    for position in range(left - 1, -1, -1):
        operation = get_operation(receipt.inverse[position])
        try:
            home = operation.find_home(context)
            job = jobs.make_job_reference(receipt.trial, receipt.ordinal, home, f"undo/{position}")
            operation.compensate(context, clock, job)
        except (InfrastructureError, AuthoringError, TimeoutError) as error:
            return receipt, Blocked(receipt.group, operation.describe(context), str(error))
        receipt = store.save(msgspec.structs.replace(receipt, inverse_left=position))
    return receipt, None

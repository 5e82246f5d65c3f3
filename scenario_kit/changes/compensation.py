"""Changes that take back what no receipt can: what a command did to a store (``undo`` of a fault).

They are made from the last to the first, each once more if we die before that is written down. A command that fails is
removed and run again at the next attempt: until it succeeds, the undo is blocked.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from scenario_kit.changes import jobs, operations
from scenario_kit.changes.receipts import Receipt, ReceiptStore
from scenario_kit.changes.scene import Scene
from scenario_kit.changes.undo import Blocked
from scenario_kit.errors import AlreadyExists, AuthoringError, InfrastructureError
from scenario_kit.model import Change, Reference
from scenario_kit.model.authored.change import Run
from scenario_kit.ports import Clock


def make(scene: Scene, clock: Clock, store: ReceiptStore, receipt: Receipt) -> tuple[Receipt, Blocked | None]:
    """Make what is left of a receipt's inverse changes; why that goes no further, if it does not."""
    left = len(receipt.inverse) if receipt.inverse_left is None else receipt.inverse_left
    for position in range(left - 1, -1, -1):
        change = receipt.inverse[position]
        try:
            _run_one(scene, clock, receipt, change, position)
        except (InfrastructureError, AuthoringError, TimeoutError) as problem:
            return receipt, Blocked(receipt.group, _describe_inverse(scene, change), str(problem))
        receipt = store.save(msgspec.structs.replace(receipt, inverse_left=position))
    return receipt, None


def _run_one(scene: Scene, clock: Clock, receipt: Receipt, change: Change, position: int) -> None:
    if change.run is None:
        if change.target and scene.cluster.get(scene.reference(change.target)) is None:
            return  # it went, and what was wrong with it too
        with suppress(AlreadyExists):
            operations.send(scene, change)
        return
    ref = jobs.make_job_reference(receipt.trial, receipt.ordinal, jobs.find_home(scene, change.run), f"undo/{position}")
    if jobs.is_store_gone(scene, change.run):
        jobs.remove(scene, clock, ref)
        return
    _run(scene, clock, change.run, ref)


def _run(scene: Scene, clock: Clock, run: Run, ref: Reference) -> None:
    found = scene.cluster.get(ref)
    if found is not None and found["metadata"].get("deletionTimestamp"):
        jobs.remove(scene, clock, ref)
    uid = jobs.start(scene, run, ref)
    try:
        ended = jobs.await_end(scene, clock, ref, uid, clock.now() + jobs.RUN_DEADLINE)
    except InfrastructureError:
        jobs.remove(scene, clock, ref)
        raise
    jobs.remove(scene, clock, ref)
    if not ended.succeeded:
        raise AuthoringError(f"the command of client '{run.client}' failed with {ended.words or 'no message'}")


def _describe_inverse(scene: Scene, change: Change) -> str:
    """Describe what an inverse change works on, for whoever reads why it is blocked."""
    if change.run is None:
        return change.target or change.operation
    client = scene.app.client(change.run.client)
    component = scene.app.component(client.store) if client else None
    return component.workload if component else change.run.client

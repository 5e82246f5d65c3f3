"""Restore an object from its receipt: patch, recreate or delete it. Idempotent."""

from __future__ import annotations

from typing import Final

from scenario_kit.changes import chaos
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.receipts import Receipt, ReceiptEntry
from scenario_kit.changes.three_way_restore import is_alike, restore_fields, strip_to_desired
from scenario_kit.errors import Conflict, NotFound, Rejected
from scenario_kit.model import Object, Reference
from scenario_kit.model.chaos.kinds import SCHEDULE
from scenario_kit.model.json_document import join_pointer
from scenario_kit.ports import Clock

#: Kinds that controllers recreate; restoring them would make duplicates.
_CONTROLLED: Final = ("Pod", "ReplicaSet", "EndpointSlice", "ControllerRevision")
_ATTEMPTS: Final = 5
_GRACE: Final = 30


def restore_object(context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
    """Restore one object of a receipt: undo exactly what the change did to it.

    Raises:
        ClusterError: the API server refused.
        TimeoutError: a finalizer holds a deleted object.
    """
    ref = entry.ref
    live = context.cluster.get(ref)
    if entry.prior is None:
        _remove(context, receipt, entry, live, clock)
    elif live is None:
        _recreate_object(context, ref, entry.prior)
    else:
        # A receipt without `after` was never completed: then the live state counts as ours.
        _restore(context, ref, entry, entry.after if receipt.state == "Done" else strip_to_desired(live))


def _remove(context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, live: Object | None, clock: Clock) -> None:
    ref = entry.ref
    if live is not None:
        # A solution may have deleted it, and its undo recreated it: an equal object is ours too.
        ours = live["metadata"].get("uid") == entry.uid or is_alike(live, entry.after or {})
        if entry.uid and not ours and receipt.change.operation.experiment is None:
            return  # an object of the same name that is not ours
        context.cluster.delete(ref)
        clock.wait(clock.now())
    elif ref.kind != SCHEDULE:
        return
    await_removal(context, receipt, ref, clock)


def await_removal(context: ChangeContext, receipt: Receipt, ref: Reference, clock: Clock) -> None:
    """Wait until a deleted object is gone and, for a Schedule, the experiments that it started.

    Raises:
        TimeoutError: a finalizer holds one of them.
    """
    deadline = clock.now() + _GRACE
    while left := _find_remaining(context, receipt, ref):
        if clock.now() >= deadline:
            raise TimeoutError(f"{left} is still there {_GRACE} s after its deletion: a finalizer holds it")
        clock.wait(clock.now() + 1)


def _find_remaining(context: ChangeContext, receipt: Receipt, ref: Reference) -> Reference | None:
    """Find the remains of an object and, for a Schedule, of the experiments that it started."""
    if context.cluster.get(ref) is not None:
        return ref
    experiment = receipt.change.operation.experiment
    if ref.kind == SCHEDULE and experiment is not None:
        return next(iter(chaos.list_experiments_of(context.cluster, ref, experiment["spec"]["type"])), None)
    return None


def _recreate_object(context: ChangeContext, ref: Reference, prior: Object) -> None:
    if ref.kind in _CONTROLLED and prior["metadata"].get("ownerReferences"):
        return
    try:
        context.cluster.create(prior)
    except Rejected:
        # A Service's former address may be taken by now; everything else is restored.
        spec = {k: v for k, v in (prior.get("spec") or {}).items() if k not in ("clusterIP", "clusterIPs")}
        context.cluster.create({**prior, "spec": spec})


def _restore(context: ChangeContext, ref: Reference, entry: ReceiptEntry, after: Object | None) -> None:
    for attempt in range(_ATTEMPTS):
        live = context.cluster.get(ref)
        if live is None:
            return
        now = strip_to_desired(live)
        target = restore_fields(now, entry.prior, after)
        if target == now:
            return
        patch: list[Object] = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]}
        ]
        patch += _diff(live, target)
        try:
            context.cluster.patch(ref, patch, "Json")
            return
        except (Conflict, Rejected):
            # A controller wrote in between, so the test failed; the last attempt raises.
            if attempt == _ATTEMPTS - 1:
                raise
        except NotFound:
            return


def _diff(live: Object, target: Object) -> list[Object]:
    """Return a JSON patch on the second level (``/spec/ports``, ``/data/key``): small, and independent of list
    positions.
    """
    patch: list[Object] = []
    for top in sorted({*live, *target} - {"status", "metadata", "apiVersion", "kind"}):
        before, after = live.get(top), target.get(top)
        if before == after:
            continue
        if not isinstance(before, dict) or not isinstance(after, dict):
            patch.append(
                {"op": "remove", "path": f"/{top}"}
                if after is None
                else {"op": "add", "path": f"/{top}", "value": after}
            )
            continue
        patch += _diff_children(f"/{top}", before, after)
    for field in ("labels", "annotations"):
        before = live["metadata"].get(field) or {}
        after = (target.get("metadata") or {}).get(field) or {}
        kept = {k: v for k, v in before.items() if field == "annotations" and k not in select_annotations(live)}
        if before != {**kept, **after}:
            patch.append({"op": "add", "path": f"/metadata/{field}", "value": {**kept, **after}})
    return patch


def select_annotations(live: Object) -> Object:
    """Select the annotations that are not a controller's bookkeeping."""
    annotations: Object = (strip_to_desired(live).get("metadata") or {}).get("annotations") or {}
    return annotations


def _diff_children(path: str, before: Object, after: Object) -> list[Object]:
    patch: list[Object] = []
    for key in sorted({*before, *after}):
        pointer = path + join_pointer([key])
        if key not in after:
            patch.append({"op": "remove", "path": pointer})
        elif before.get(key) != after[key]:
            patch.append({"op": "add", "path": pointer, "value": after[key]})
    return patch

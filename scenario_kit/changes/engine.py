"""Execute and undo changes, with receipts: those of faults, solutions, decoys and cheats.

A change is recorded, sent, and recorded as done with the resulting object. After a crash the same call continues: an
object in its recorded prior state is written, any other has been written already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from scenario_kit.changes import chaos, compensation, jobs, node_placeholders
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.operation import complete, get_operation, is_deleted, read_uid, send
from scenario_kit.changes.reach import require_confined
from scenario_kit.changes.receipts import Receipt, ReceiptStore
from scenario_kit.changes.restoration import await_removal
from scenario_kit.changes.undo import Blocked, undo
from scenario_kit.errors import LabError
from scenario_kit.model import Change, Check, Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.ports import Clock

#: Note of a receipt whose experiment reached its duration.
_EXPIRED: Final = "Expired"
_READ_AT_START: Final = ("ConfigMap", "Secret")


class Engine:
    """Executes changes for one trial. It keeps no state beside the receipt store."""

    def __init__(self, context: ChangeContext, clock: Clock, store: ReceiptStore, trial: str) -> None:
        self._context = context
        self._clock = clock
        self._store = store
        self._trial = trial

    def do(
        self, change: Change, *, ordinal: int, group: str, causal: bool = True, undo: Sequence[Change] = ()
    ) -> Receipt:
        """Execute a change, exactly once for the same ordinal.

        ``undo`` are compensating changes for effects that no receipt covers, such as those of a command on a store.
        They run from last to first after the change itself is undone, and must be idempotent.

        Raises:
            NoEffect: the object is unchanged.
            AuthoringError: the target does not exist, the operation does not apply to it, or a command failed.
            InfrastructureError: the API server refused or did not answer, or a Job did not finish.
        """
        known = self._find_recorded(ordinal)
        receipt = self._refresh_time(known) if known else self._record(change, ordinal, group, causal, tuple(undo))
        if receipt.failure and receipt.state != "Ran":
            raise get_operation(receipt.change).explain(receipt)
        if receipt.state in ("Done", "Undone"):
            return receipt
        receipt = get_operation(receipt.change).perform(self._context, self._clock, self._store, receipt)
        if receipt.failure:
            raise get_operation(receipt.change).explain(receipt)
        return receipt

    def undo(self, receipts: Iterable[Receipt]) -> list[Blocked]:
        """Undo receipts in reverse order; return those that are blocked, to be retried.

        The cluster settles after each, as it does when changes are made: it would depend on the pace of controllers
        whether they act on the state between two writes.

        What was changed earlier in an object whose last change cannot be undone yet waits for that: undone in another
        order, the object would end as it was between the two.
        """
        blocked: list[Blocked] = []
        waiting: set[Reference] = set()
        for receipt in sorted(receipts, key=lambda r: (r.at, r.ordinal), reverse=True):
            if receipt.state == "Undone":
                continue
            receipt = self._find_recorded(receipt.ordinal) or receipt  # an earlier undo may have updated it
            touched = {entry.ref for entry in receipt.entries}
            if first := next((ref for ref in sorted(touched & waiting, key=str)), None):
                blocked.append(Blocked(receipt.group, str(first), "a later change of it is not undone yet"))
                waiting |= touched
                continue
            problem = undo(self._context, receipt, self._clock)
            if problem is None and receipt.inverse:
                receipt, problem = compensation.compensate(self._context, self._clock, self._store, receipt)
            if problem:
                blocked.append(problem)
                waiting |= touched
            else:
                self._store.save(msgspec.structs.replace(receipt, state="Undone"))
                self._update_recreated(receipt)
                self._settle()
        return blocked

    def _settle(self) -> None:
        """Wait until controllers have acted on what was written, without time of the trial."""
        self._clock.wait(self._clock.now())

    def _update_recreated(self, undone: Receipt) -> None:
        """Update the receipt of a created object that a fix deleted and its undo recreated."""
        if not undone.change.operation.deletes:
            return
        uids = {e.ref: read_uid(self._context.cluster.get(e.ref)) for e in undone.entries}
        for earlier in self._store.all():
            if earlier.state == "Undone" or not any(e.prior is None and uids.get(e.ref) for e in earlier.entries):
                continue
            entries = tuple(msgspec.structs.replace(e, uid=uids.get(e.ref) or e.uid) for e in earlier.entries)
            self._store.save(msgspec.structs.replace(earlier, entries=entries))

    def undo_group(self, group: str) -> list[Blocked]:
        """Undo every change of one group, e.g. ``Fault/catalog-port``, in an app that keeps running.

        Workloads that the group restarted to make them read a ConfigMap or Secret are restarted again.
        """
        receipts = [r for r in self._store.all() if r.group == group]
        again = _list_rereading_restarts(receipts)
        blocked = self.undo(r for r in receipts if r not in again)
        if blocked:
            return blocked
        for receipt in again:
            if receipt.state == "Done":
                send(self._context, receipt.change)
                self._settle()
        return self.undo(again)

    def undo_object(self, group: str, ref: Reference) -> list[Blocked]:
        """Undo only what one group did to one object, in whichever namespace, or to the nodes of a placeholder.

        If processes read that object at startup, the restarts of the group are repeated.
        """
        receipts = [r for r in self._store.all() if r.group == group and r.state == "Done"]
        meant = node_placeholders.resolve_reference(ref, self._resolved_placeholders())
        own = [r for r in receipts if r.causal and any(e.ref.bare in meant for e in r.entries)]
        blocked = self.undo(r for r in own if not r.change.operation.restarts)
        if not blocked:
            for receipt in _list_rereading_restarts(r for r in receipts if r in own or r.change.operation.restarts):
                send(self._context, receipt.change)
        return blocked

    def undo_all(self) -> list[Blocked]:
        """Undo every change of this trial."""
        return self.undo(self._store.all())

    def list_receipts(self, prefix: str = "") -> list[Receipt]:
        """Return the receipts of a group, or of all groups of a kind (``Fault/``), in any state."""
        return [r for r in self._store.all() if _is_within(r.group, prefix)]

    @staticmethod
    def read_chaos_state(live: Object | None) -> tuple[bool | None, str]:
        """Return whether Chaos Mesh reports a chaos object as injected, and the last failure that it recorded."""
        return (None, "") if live is None else (chaos.is_injected(live), chaos.read_last_failure(live))

    @staticmethod
    def parse_chaos_response(response: str) -> tuple[str, str]:
        """Return gRPC code and message of a failure that is a daemon's response; empty for other failures."""
        return chaos.parse_daemon_response(response)

    @staticmethod
    def parse_content_error(response: str) -> str:
        """Return a failure that objects to an object's content; empty for other failures."""
        return chaos.parse_content_error(response)

    def resolve_checks(self, checks: Iterable[Check]) -> list[Check]:
        """Return the checks with node placeholders resolved as in this trial's receipts."""
        return node_placeholders.resolve_checks(checks, self._resolved_placeholders())

    def forget(self) -> None:
        """Delete the receipts of a trial whose changes are all undone and verified."""
        self._store.clear()

    def list_active(self, prefix: str = "") -> list[Receipt]:
        """Return the receipts in force of a group, or of all groups of a kind (``Fault/``)."""
        return [r for r in self._store.all() if r.state == "Done" and _is_within(r.group, prefix)]

    def maintain(self, persistent: Iterable[str]) -> int:
        """Rebind the chaos of these fault groups to newer pods; return how many objects were replaced.

        A chaos object that was deleted by others, or is about to be, stays deleted: that is a repair. Refused evictions
        are retried, whatever group they belong to.
        """
        for receipt in self._list_blocked():
            self._evict_again(receipt)
        return sum(self._rebind(receipt) for receipt in self._list_bound(persistent))

    def needs_maintenance(self, persistent: Iterable[str]) -> bool:
        """Return whether ``maintain`` has work: chaos of these groups is bound to pods, or a drain is blocked."""
        return bool(self._list_bound(persistent)) or bool(self._list_blocked())

    def _list_blocked(self) -> list[Receipt]:
        return [r for r in self.list_active() if r.blocked]

    def _evict_again(self, receipt: Receipt) -> None:
        blocked = get_operation(receipt.change).repeat(self._context)
        if blocked != receipt.blocked:
            self._store.save(msgspec.structs.replace(receipt, blocked=blocked))

    def _list_bound(self, persistent: Iterable[str]) -> list[Receipt]:
        groups = set(persistent)
        found = self.list_active() if groups else []
        return [
            r
            for r in found
            if r.group in groups
            and (e := r.change.operation.experiment)
            and chaos.lasts_until_deleted(e)
            and r.note != _EXPIRED
        ]

    def record_expired(self, now: float) -> float | None:
        """Record the experiments whose duration has passed in the trial's time; return when the next one ends, if any.

        The manager ends them by itself.
        """
        ahead = []
        for receipt in self.list_active():
            body = receipt.change.operation.manifest
            after = chaos.parse_experiment_duration(body) if body else None
            if after is None or receipt.note == _EXPIRED:
                continue
            if receipt.at + after > now:
                ahead.append(receipt.at + after)
            elif self._context.cluster.get(receipt.entries[0].ref) is not None:  # else deleted, as a repair
                self._store.save(msgspec.structs.replace(receipt, note=_EXPIRED))
        return min(ahead, default=None)

    def has_expired(self, group: str) -> bool:
        """Return whether an experiment of that group ended by its own duration."""
        return any(r.group == group and r.note == _EXPIRED for r in self._store.all())

    def _rebind(self, receipt: Receipt) -> int:
        template = receipt.change.operation.experiment
        assert template is not None
        ref = make_object_reference(template, self._context.namespace)
        live = self._context.cluster.get(ref)
        # Chaos Mesh holds a deleted object until its pods are as before: one that others delete is a repair already.
        if is_deleted(live) and receipt.note != "Replacing":
            return 0
        now = chaos.choose_pods(self._context.cluster, template, self._context.namespace)
        pods = chaos.identify_pods(now.pods)
        if live is not None and (now.empty or not chaos.has_uncovered_pods(live, receipt.covered, pods)):
            return 0
        receipt = self._store.save(msgspec.structs.replace(receipt, note="Replacing"))
        if live is not None:
            self._context.cluster.delete(ref, uid=live["metadata"]["uid"])
            self._settle()
        try:
            await_removal(self._context, receipt, ref, self._clock)
        except TimeoutError as error:
            raise LabError(f"{ref} cannot be bound to the new pods: {error}") from error
        if chaos.choose_pods(self._context.cluster, template, self._context.namespace).empty:
            return 0  # the pods are gone; it is bound to their successors
        send(self._context, receipt.change)
        self._store.save(msgspec.structs.replace(complete(self._context, self._store, receipt), note=""))
        return 1

    def _resolved_placeholders(self) -> dict[str, str]:
        return {name: place for r in reversed(self._store.all()) for name, place in r.places.items()}

    def _find_recorded(self, ordinal: int) -> Receipt | None:
        return next((r for r in self._store.all() if r.ordinal == ordinal), None)

    def _record(self, change: Change, ordinal: int, group: str, causal: bool, undo: tuple[Change, ...]) -> Receipt:
        context = self._context
        require_confined(change, context.reach, context.namespace)
        change, chosen = node_placeholders.resolve(
            change, self._resolved_placeholders(), context.cluster, *context.everywhere
        )
        operation = get_operation(change)
        job = jobs.make_job_reference(self._trial, ordinal, operation.find_home(context))
        entries = operation.record(context, job)
        return self._store.save(
            Receipt(
                trial=self._trial,
                ordinal=ordinal,
                group=group,
                change=change,
                causal=causal,
                at=self._clock.now(),
                entries=entries,
                covered=operation.list_covered(context),
                places=chosen,
                inverse=undo,
            )
        )

    def _refresh_time(self, receipt: Receipt) -> Receipt:
        """Refresh the time of a receipt whose change was recorded but never sent."""
        now = self._clock.now()
        arrived = get_operation(receipt.change).has_arrived
        if receipt.state != "Recorded" or receipt.at == now or arrived(self._context, receipt):
            return receipt
        return self._store.save(msgspec.structs.replace(receipt, at=now))


def _list_rereading_restarts(receipts: Iterable[Receipt]) -> list[Receipt]:
    """Find the restarts of a group that followed a change of a ConfigMap or Secret, in order."""
    changed, found = False, []
    for receipt in sorted(receipts, key=lambda r: (r.at, r.ordinal)):
        changed = changed or any(e.ref.kind in _READ_AT_START for e in receipt.entries)
        if changed and receipt.change.operation.restarts:
            found.append(receipt)
    return found


def _is_within(group: str, prefix: str) -> bool:
    """Return whether a group is the one of that name, or of that kind; ``Fault/a`` is not of ``Fault/ab``."""
    return group == prefix or not prefix or (prefix.endswith("/") and group.startswith(prefix))

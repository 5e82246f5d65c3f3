"""The cluster-side interface of operations, and the base of those on single objects.

``record`` reads the prior state for the receipt before anything is sent. ``send`` performs the write; after a crash
it is repeated only if it did not arrive.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import ClassVar

import msgspec

from scenario_kit.changes import chaos
from scenario_kit.changes.context import ChangeContext
from scenario_kit.changes.reach import require_confined
from scenario_kit.changes.receipts import Receipt, ReceiptEntry, ReceiptStore
from scenario_kit.changes.restoration import restore_object
from scenario_kit.changes.three_way_restore import list_changed_paths, strip_to_desired
from scenario_kit.errors import AlreadyExists, AuthoringError, InfrastructureError
from scenario_kit.model import App, Change, Object, Reference
from scenario_kit.model.authored.change import ChangeOperation
from scenario_kit.model.identity_cache import cache_by_identity
from scenario_kit.model.kubernetes.difference import Path, WrittenField
from scenario_kit.model.kubernetes.reference import make_reference
from scenario_kit.model.kubernetes.status import is_terminating
from scenario_kit.ports import Clock
from scenario_kit.render.simulation.changes import find_target, put_object


class NoEffect(AuthoringError):
    """A change that changed nothing."""


class ClusterOperation(ChangeOperation, frozen=True, kw_only=True):
    """An operation that can be executed on a cluster."""

    @abstractmethod
    def record(self, context: ChangeContext, job: Reference) -> tuple[ReceiptEntry, ...]:
        """Read the prior state of every object that it will write. ``job`` is the name of its Job, if it needs one.

        Raises:
            AuthoringError: it is not applicable to the live objects.
        """

    @abstractmethod
    def send(self, context: ChangeContext) -> None:
        """Perform the write.

        Raises:
            AuthoringError: it is not applicable to the live objects.
        """

    @abstractmethod
    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        """Undo its effect on one object; writes of others are kept.

        Raises:
            ClusterError: the API server refused; retried later.
            TimeoutError: a finalizer holds a deleted object; retried later.
        """

    def perform(self, context: ChangeContext, clock: Clock, store: ReceiptStore, receipt: Receipt) -> Receipt:
        """Execute it, resuming an earlier attempt; return the receipt, which is then stored."""
        if not self.has_arrived(context, receipt):
            send(context, receipt.change)
        return complete(context, store, receipt)

    def has_arrived(self, context: ChangeContext, receipt: Receipt) -> bool:
        """Return whether an earlier attempt of this write reached the API server."""
        for entry in receipt.entries:
            live = context.cluster.get(entry.ref)
            if (live is None) != (entry.prior is None):
                return True
            if live is not None and (
                read_uid(live) != entry.uid or list_changed_paths(entry.prior, strip_to_desired(live))
            ):
                return True
        return False

    def list_covered(self, context: ChangeContext) -> tuple[str, ...]:
        """List the UIDs of the pods that it covers."""
        return ()

    def repeat(self, context: ChangeContext) -> str:
        """Retry what was refused; return why it is still refused."""
        return ""

    def compensate(self, context: ChangeContext, clock: Clock, job: Reference) -> None:
        """Run it as a compensation in the undo of a fault; must be idempotent."""
        if self.ref and context.cluster.get(context.resolve(self.ref)) is None:
            return  # its target is gone, and its damage with it
        with suppress(AlreadyExists):
            send(context, Change(self))

    def describe(self, context: ChangeContext) -> str:
        """Describe its target in a message."""
        return self.target or self.keyword

    def explain(self, receipt: Receipt) -> AuthoringError:
        """Build the error of an executed operation that failed."""
        return AuthoringError(f"the change '{self.keyword}' of {receipt.group} failed with {receipt.failure}")

    def find_home(self, context: ChangeContext) -> str:
        """Find the real namespace of its Job."""
        return context.namespace


class ObjectOperation(ClusterOperation, frozen=True, kw_only=True):
    """An operation on objects that its receipt restores."""

    #: Whether it may create its object.
    makes: ClassVar[bool] = False

    @abstractmethod
    def list_targets(self, context: ChangeContext) -> list[Reference]:
        """List the objects that it will write."""

    def record(self, context: ChangeContext, job: Reference) -> tuple[ReceiptEntry, ...]:
        """Read every object that it will write."""
        return tuple(self._record_object(context, ref) for ref in self.list_targets(context))

    def _record_object(self, context: ChangeContext, ref: Reference) -> ReceiptEntry:
        live = context.cluster.get(ref)
        if self.creates and live is not None and ref.namespace not in context.everywhere:
            raise InfrastructureError(
                f"{ref} already exists and does not belong to this trial", fix="delete it if it is not needed"
            )
        if self.creates and live is not None:
            raise AuthoringError(f"{ref} already exists in namespace {ref.namespace}", fix="choose another name")
        if not self.makes and live is None:
            raise AuthoringError(f"{ref} does not exist in namespace {ref.namespace}", fix="name an object of the app")
        if live is None:
            _require_namespace(context, ref)
        return ReceiptEntry(ref=ref, prior=strip_to_desired(live) if live else None, uid=read_uid(live))

    def undo(self, context: ChangeContext, receipt: Receipt, entry: ReceiptEntry, clock: Clock) -> None:
        """Restore the object."""
        restore_object(context, receipt, entry, clock)


class TargetOperation(ObjectOperation, frozen=True, kw_only=True):
    """An operation on the one object that it names."""

    has_target: ClassVar[bool] = True

    target: Reference

    @property
    def ref(self) -> Reference:
        """Return its target."""
        return self.target

    @abstractmethod
    def transform(self, obj: Object) -> Object | None:
        """Return the target after the operation: the same object if unchanged, None if deleted."""

    @abstractmethod
    def list_paths(self) -> Iterable[Path]:
        """List the paths that it writes."""

    def outlasts(self, persistence: str) -> bool:
        """Return True: written fields persist."""
        return True

    def list_targets(self, context: ChangeContext) -> list[Reference]:
        """List its target."""
        return [context.resolve(self.target)]

    def simulate(self, objects: Sequence[Object], app: App, namespace: str) -> tuple[Object, ...]:
        """Return the objects with the target transformed; unchanged if it is not among them."""
        old = find_target(objects, self.target, app, namespace, self.keyword)
        if old is None:
            return tuple(objects)
        new = _transform_once(self, old)
        if new is None:
            return tuple(o for o in objects if o is not old)
        return tuple(objects) if new is old else put_object(objects, old, new, self.keyword, self.target)

    def list_fields(self, objects: Sequence[Object], app: App) -> Iterable[WrittenField]:
        """List the written fields of a target that is not among these objects."""
        if is_among(objects, self.target, app.namespace):
            return ()
        ref = name_field_owner(self.target, app.namespace)
        return (WrittenField(ref, path) for path in self.list_paths())


@cache_by_identity(maxsize=256)  # several rules simulate the same changes
def _transform_once(operation: TargetOperation, obj: Object) -> Object | None:
    return operation.transform(obj)


class RolloutOperation(TargetOperation, frozen=True, kw_only=True):
    """An operation that replaces the pods of a workload, without effect on rendered fields."""

    disturbs: ClassVar[bool] = True
    stateful: ClassVar[bool] = False

    def transform(self, obj: Object) -> Object:
        """Return the workload as it is."""
        return obj

    def list_paths(self) -> Iterable[Path]:
        """List nothing."""
        return ()


def name_field_owner(ref: Reference, namespace: str) -> Reference:
    """Normalize a reference: without group, and with the app's namespace."""
    return Reference(ref.kind, ref.name, "app" if ref.namespace == namespace else ref.namespace)


def is_among(objects: Iterable[Object], target: Reference, namespace: str) -> bool:
    """Return whether a reference names one of the objects."""
    ref = name_field_owner(target, namespace)
    return any(ref == name_field_owner(make_reference(obj, namespace), namespace) for obj in objects)


def get_operation(change: Change) -> ClusterOperation:
    """Return the operation of a change as a ``ClusterOperation``."""
    assert isinstance(change.operation, ClusterOperation)
    return change.operation


def send(context: ChangeContext, change: Change) -> None:
    """Perform the write of a change (except restarts through zero, which take several).

    Raises:
        AuthoringError: it is not applicable, or its chaos reaches outside the app.
    """
    require_confined(change, context.reach, context.namespace)
    get_operation(change).send(context)


def complete(context: ChangeContext, store: ReceiptStore, receipt: Receipt) -> Receipt:
    """Store the objects after a change.

    Raises:
        NoEffect: they are unchanged.
    """
    entries, covered, moved = [], receipt.covered, False
    for entry in receipt.entries:
        live = context.cluster.get(entry.ref)
        after = None if is_deleted(live) else strip_to_desired(live)
        moved = moved or entry.prior != after
        entries.append(ReceiptEntry(ref=entry.ref, prior=entry.prior, after=after, uid=read_uid(live) or entry.uid))
    operation = receipt.change.operation
    if operation.experiment is not None and entries[0].after is not None:
        covered = chaos.list_covered(context.cluster, entries[0].after)
    if not moved and not (operation.evicts and covered):
        store.save(msgspec.structs.replace(receipt, state="Undone", note="changed nothing"))
        target = ", ".join(str(e.ref) for e in receipt.entries)
        raise NoEffect(
            f"the change '{operation.keyword}' of {receipt.group} leaves {target} as it was",
            fix="choose parameters that differ from what the app already has",
        )
    done = msgspec.structs.replace(receipt, state="Done", entries=tuple(entries), covered=covered)
    return store.save(done)


def is_deleted(obj: Object | None) -> bool:
    """Return whether an object is gone, or going as soon as its finalizers allow."""
    return obj is None or is_terminating(obj)


def read_uid(obj: Object | None) -> str:
    """Return the UID of an object, empty if there is none."""
    return str(obj["metadata"].get("uid", "")) if obj else ""


def _require_namespace(context: ChangeContext, ref: Reference) -> None:
    """Require that a namespace other than the app's exists."""
    if ref.namespace in (context.namespace, *context.everywhere):
        return
    if context.cluster.get(Reference("Namespace", ref.namespace)) is None:
        raise AuthoringError(
            f"namespace '{ref.namespace}' of {ref.kind}/{ref.name} does not exist",
            fix="leave the namespace out, which means the app's own, or name one that exists",
        )

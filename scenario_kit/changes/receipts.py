"""Receipts: records of changes, saved in the cluster before anything is changed (docs/architecture.md).

One object per change with a deterministic name. A receipt that holds Secret data is itself a Secret. Receipts are in
the management namespace, which solvers cannot read, and outlive our processes.
"""

from __future__ import annotations

import base64
import json
from typing import Final, Literal, Protocol

from scenario_kit.errors import AuthoringError
from scenario_kit.model import Change, Object, Reference, Value
from scenario_kit.model.kubernetes.reference import GROUP
from scenario_kit.ports import Cluster

#: etcd refuses requests above 1.5 MiB; base64 in a Secret costs a third.
LIMIT_BYTES: Final = 900 * 1024
TRIAL_LABEL: Final = f"{GROUP}/trial"
_KEY: Final = "receipt.json"

#: ``Down``: a restart through zero replicas has scaled down. ``Sent``: the Job of a ``run`` exists. ``Ran``: it has
#: ended and is about to be removed.
State = Literal["Recorded", "Down", "Sent", "Ran", "Done", "Undone"]


class ReceiptEntry(Value, frozen=True, kw_only=True):
    """One object that a change writes: before it, and right after it. None means it did not exist."""

    ref: Reference
    prior: Object | None = None
    after: Object | None = None
    uid: str = ""


class Receipt(Value, frozen=True, kw_only=True):
    """A change, its group, and the state that is needed to undo it.

    ``group`` is ``Fault/<name>``, ``Decoy/<name>`` …; ``causal`` is false for restarts that only make running processes
    load the fault. ``covered`` are the pod UIDs that a chaos object was bound to, or that a drain is to evict;
    ``blocked`` is why some of those evictions are still refused. ``places`` maps each placeholder of ``change`` to the
    node or quantity that it was resolved to. ``failure`` is why the command of a ``run`` failed. ``inverse`` are the
    compensating changes, run from last to first; the first ``inverse_left`` of them remain (None: all).
    """

    trial: str
    ordinal: int
    group: str
    change: Change
    state: State = "Recorded"
    causal: bool = True
    at: float = 0.0
    entries: tuple[ReceiptEntry, ...] = ()
    covered: tuple[str, ...] = ()
    note: str = ""
    blocked: str = ""
    places: dict[str, str] = {}
    failure: str = ""
    inverse: tuple[Change, ...] = ()
    inverse_left: int | None = None

    @property
    def name(self) -> str:
        """The object's name, derived so that writes are idempotent."""
        return f"{self.trial}-r{self.ordinal:03d}"

    @property
    def secret(self) -> bool:
        """Whether it holds Secret data: a Secret, or a manifest of one.

        It must not differ before and after the change, or the receipt would be two objects.
        """
        written = (_find_kind(c) for c in (self.change, *self.inverse))
        return "Secret" in {*(e.ref.kind for e in self.entries), *written}


def _find_kind(change: Change) -> str:
    """Find the kind that a change writes; its target may name several nodes."""
    manifest, ref = change.operation.resource, change.operation.ref
    return str(manifest["kind"]) if manifest else ref.kind if ref else ""


class ReceiptStore(Protocol):
    """Storage of the receipts of one trial."""

    def all(self) -> list[Receipt]:
        """Return every receipt, by ordinal."""

    def save(self, receipt: Receipt) -> Receipt:
        """Save a receipt, replacing an earlier version."""

    def clear(self) -> None:
        """Delete all receipts: only after everything is undone and verified."""


class ClusterStore:
    """Receipts as ConfigMaps and Secrets in the management namespace.

    A write-through cache: a trial has one writer, and a new process reads them again.
    """

    def __init__(self, cluster: Cluster, namespace: str, trial: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._trial = trial
        self._known: dict[str, Receipt] | None = None

    def all(self) -> list[Receipt]:
        """Return every receipt of the trial, by ordinal."""
        if self._known is None:
            self._known = self._read()
        return sorted(self._known.values(), key=lambda r: r.ordinal)

    def _read(self) -> dict[str, Receipt]:
        found: dict[str, Receipt] = {}
        for kind in ("ConfigMap", "Secret"):
            for obj in self._cluster.list(kind, self._namespace, labels={TRIAL_LABEL: self._trial}):
                data = obj.get("data") or {}
                if _KEY in data:
                    text = base64.b64decode(data[_KEY]) if kind == "Secret" else data[_KEY]
                    receipt = Receipt.from_json(json.loads(text))
                    found[receipt.name] = receipt
        return found

    def save(self, receipt: Receipt) -> Receipt:
        """Write a receipt.

        Raises:
            AuthoringError: it would be larger than 900 KiB; nothing was changed yet, so nothing needs undoing.
        """
        text = receipt.to_bytes()
        if len(text) > LIMIT_BYTES:
            raise AuthoringError(
                f"the change '{receipt.change.operation.keyword}' of {receipt.group} needs a receipt of "
                f"{len(text) // 1024} KiB; the limit is {LIMIT_BYTES // 1024} KiB",
                fix="change a smaller object, or split the change",
            )
        kind = "Secret" if receipt.secret else "ConfigMap"
        value = base64.b64encode(text).decode() if receipt.secret else text.decode()
        self._cluster.apply(
            {
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {
                    "name": receipt.name,
                    "namespace": self._namespace,
                    "labels": {TRIAL_LABEL: receipt.trial},
                },
                "data": {_KEY: value},
            }
        )
        if self._known is not None:
            self._known[receipt.name] = receipt
        return receipt

    def clear(self) -> None:
        """Delete the trial's receipts, the last change first.

        A crash may leave some of them. The first ones still tell how every object was before, which later ones do not.
        """
        for receipt in sorted(self.all(), key=lambda r: (r.at, r.ordinal), reverse=True):
            kind = "Secret" if receipt.secret else "ConfigMap"
            self._cluster.delete(Reference(kind, receipt.name, self._namespace))
        self._known = None

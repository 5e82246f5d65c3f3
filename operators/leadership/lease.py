"""The Lease record and the rules for writing it. Pure.

The rules are those of client-go's leader election (k8s.io/client-go/tools/leaderelection): a candidate never compares
its clock with another machine's, but takes over a Lease whose record has not changed for a full lease duration.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal

import msgspec

from scenario_kit.model import Object, Value
from scenario_kit.model.kubernetes.reference import MANAGEMENT_NAMESPACE, Reference

#: client-go's defaults for controllers, in seconds.
LEASE_SECONDS: Final = 15
RENEW_DEADLINE_SECONDS: Final = 10.0
RETRY_SECONDS: Final = 2.0
LEASE: Final = Reference("Lease", "scenario-kit-operator", MANAGEMENT_NAMESPACE, "coordination.k8s.io")

Action = Literal["Create", "Acquire", "Renew", "Wait"]


class LeaseRecord(Value, frozen=True, kw_only=True):
    """The content of a Lease; ``version`` is its resourceVersion, times are RFC 3339 with microseconds."""

    holder: str = ""
    seconds: int = LEASE_SECONDS
    acquired: str = ""
    renewed: str = ""
    transitions: int = 0
    version: str = ""


class Sighting(Value, frozen=True, kw_only=True):
    """A record, and the time of its last observed change, in monotonic seconds."""

    record: LeaseRecord
    since: float


def read_record(lease: Object) -> LeaseRecord:
    """Read the record of a Lease object; absent fields are empty."""
    spec: dict[str, Any] = lease.get("spec") or {}
    return LeaseRecord(
        holder=spec.get("holderIdentity") or "",
        seconds=spec.get("leaseDurationSeconds") or LEASE_SECONDS,
        acquired=spec.get("acquireTime") or "",
        renewed=spec.get("renewTime") or "",
        transitions=spec.get("leaseTransitions") or 0,
        version=lease["metadata"].get("resourceVersion", ""),
    )


def observe(sighting: Sighting | None, record: LeaseRecord, now: float) -> Sighting:
    """Return the sighting after reading a record: the previous one if the record has not changed."""
    if sighting is not None and sighting.record == record:
        return sighting
    return Sighting(record=record, since=now)


def choose_action(sighting: Sighting | None, identity: str, now: float, *, holder_ended: bool) -> Action:
    """Choose a candidate's next action at ``now`` (monotonic seconds); ``sighting`` is None if there is no Lease.

    ``holder_ended`` means that the holder is a process of this machine that has exited.
    """
    if sighting is None:
        return "Create"
    record = sighting.record
    if record.holder == identity:
        return "Renew"
    if not record.holder or holder_ended or now >= sighting.since + record.seconds:
        return "Acquire"
    return "Wait"


def hold(record: LeaseRecord, identity: str, at: datetime) -> LeaseRecord:
    """Return the record after ``identity`` acquired or renewed the Lease."""
    time = format_time(at)
    if record.holder == identity:
        return msgspec.structs.replace(record, seconds=LEASE_SECONDS, renewed=time)
    transitions = record.transitions + 1 if record.version else 0
    return msgspec.structs.replace(
        record, holder=identity, seconds=LEASE_SECONDS, acquired=time, renewed=time, transitions=transitions
    )


def release(record: LeaseRecord, at: datetime) -> LeaseRecord:
    """Return the record after its holder released the Lease, so that the next one need not wait."""
    return msgspec.structs.replace(record, holder="", seconds=1, renewed=format_time(at))


def build_spec(record: LeaseRecord) -> Object:
    """Build the ``spec`` of a Lease."""
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.seconds,
        "acquireTime": record.acquired,
        "renewTime": record.renewed,
        "leaseTransitions": record.transitions,
    }


def format_time(at: datetime) -> str:
    """Format a time as a Kubernetes MicroTime."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

"""Acquire and renew the Lease; end the process when it is lost."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from operators.leadership import lease
from operators.leadership.lease import LEASE, RENEW_DEADLINE_SECONDS, RETRY_SECONDS, LeaseRecord, Sighting
from scenario_kit.errors import AlreadyExists, ClusterError, Conflict
from scenario_kit.ports import Cluster

log = logging.getLogger(__name__)
#: The exit code of a process that lost the Lease: EX_TEMPFAIL of sysexits.h.
LOST: Final = 75


@dataclass(frozen=True)
class Timing:
    """Time sources: the monotonic clock, the wall clock, and a pause that an event interrupts."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    pause: Callable[[threading.Event, float], bool] = lambda event, seconds: event.wait(seconds)


class LeaderElector:
    """A candidate for the operator's Lease. Not thread-safe, except for ``stop``.

    ``patience`` is the renew deadline in seconds. It is infinite in a lab, where nothing restarts an operator that
    exited: the holder then steps down only when another candidate holds the Lease.
    """

    def __init__(
        self, cluster: Cluster, identity: str, timing: Timing | None = None, patience: float = RENEW_DEADLINE_SECONDS
    ) -> None:
        self._patience = patience
        self._cluster = cluster
        self._identity = identity
        self._timing = timing or Timing()
        self._sighting: Sighting | None = None
        self._stopped = threading.Event()
        self._announced = ""

    def acquire(self) -> bool:
        """Wait until this candidate holds the Lease; False if ``stop`` was called first. API errors are retried."""
        while not self._stopped.is_set():
            if self._try():
                log.info("%s holds the Lease %s", self._identity, LEASE)
                return True
            self._timing.pause(self._stopped, RETRY_SECONDS)
        return False

    def renew(self) -> bool:
        """Renew the Lease until it is lost (returns False), or until ``stop`` is called (releases it, returns True)."""
        deadline = self._timing.monotonic() + self._patience
        while not self._timing.pause(self._stopped, RETRY_SECONDS):
            if self._try():
                deadline = self._timing.monotonic() + self._patience
            elif self._timing.monotonic() >= deadline or self._is_taken():
                return False
        self._give_up()
        return True

    def stop(self) -> None:
        """End ``acquire`` or ``renew``."""
        self._stopped.set()

    def _is_taken(self) -> bool:
        return self._sighting is not None and self._sighting.record.holder not in ("", self._identity)

    def _try(self) -> bool:
        """Read the Lease, create or update it if allowed, and return True if this candidate holds it."""
        try:
            found = self._cluster.get(LEASE)
            now = self._timing.monotonic()
            if found is None:
                self._sighting = None
            else:
                self._sighting = lease.observe(self._sighting, lease.read_record(found), now)
            ended = self._sighting is not None and has_ended(self._sighting.record.holder)
            action = lease.choose_action(self._sighting, self._identity, now, holder_ended=ended)
            if action == "Wait":
                self._announce()
                return False
            self._write(action == "Create")
        except (Conflict, AlreadyExists):
            return False  # another candidate was faster
        except ClusterError as error:
            log.warning("the Lease %s: %s", LEASE, error)
            return False
        return True

    def _write(self, create: bool) -> None:
        before = self._sighting.record if self._sighting else LeaseRecord()
        record = lease.hold(before, self._identity, self._timing.wall())
        self._send(record, create=create)

    def _send(self, record: LeaseRecord, *, create: bool = False) -> None:
        spec = lease.build_spec(record)
        if create:
            metadata = {"name": LEASE.name, "namespace": LEASE.namespace}
            body = {"apiVersion": f"{LEASE.group}/v1", "kind": LEASE.kind, "metadata": metadata, "spec": spec}
            written = self._cluster.create(body)
        else:
            written = self._cluster.patch(LEASE, {"metadata": {"resourceVersion": record.version}, "spec": spec})
        self._sighting = Sighting(record=lease.read_record(written), since=self._timing.monotonic())

    def _give_up(self) -> None:
        if self._sighting is not None and self._sighting.record.holder == self._identity:
            with suppress(ClusterError):
                self._send(lease.release(self._sighting.record, self._timing.wall()))

    def _announce(self) -> None:
        assert self._sighting is not None
        holder = self._sighting.record.holder
        if holder != self._announced:
            log.info("waiting for the Lease %s, which %s holds", LEASE, holder)
            self._announced = holder


def name_process() -> str:
    """Return the unique identity of this process: host, PID and start time in boot ticks."""
    return f"{socket.gethostname()}_{os.getpid()}_{_read_start(os.getpid())}"


def has_ended(identity: str) -> bool:
    """Return True if ``identity`` is a process of this host that has exited; always False for other hosts."""
    host, _, process = identity.partition("_")
    pid, _, start = process.partition("_")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    return _read_start(int(pid)) != start


def _read_start(pid: int) -> str:
    """Read a process's start time; empty if it has exited or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]


def keep_leading(elector: LeaderElector, end: Callable[[int], None] = os._exit) -> threading.Thread:
    """Renew the Lease in a thread, and exit the process immediately when it is lost.

    Another operator may already be acting then; exiting at any point is safe (docs/resilience.md).
    """

    def renew() -> None:
        if not elector.renew():
            log.error("the Lease %s is lost: this operator exits", LEASE)
            logging.shutdown()
            end(LOST)

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    return thread

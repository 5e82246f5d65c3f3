"""Revisions of objects that are not followed, from etcd's watch.

The store is complete when it has seen every revision. Many revisions belong to objects that the lab server need not
read: leases, IP allocations, roles, our own kinds. etcd's watch has the keys of revisions; those of kinds that are not
kept are marked as seen. Only keys are read, never values. If this fails, the barrier is slower, not wrong.
"""

from __future__ import annotations

import base64
import logging
import ssl
import threading
from collections.abc import Iterator

import httpx
import msgspec

from scenario_kit.lab.host import loopback
from scenario_kit.lab.informers.store import ObjectStore

_LOG = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0

#: The key prefixes of kinds that are not followed. A key of an unknown form counts as followed.
_NOT_KEPT = tuple(
    f"/registry/{place}/"
    for place in (
        "leases", "masterleases", "services/endpoints", "ipaddresses", "servicecidrs", "ranges", "controllerrevisions",
        "roles", "rolebindings", "clusterroles", "clusterrolebindings", "csinodes", "storageclasses",
        "poddisruptionbudgets", "cronjobs", "apiregistration.k8s.io", "apiextensions.k8s.io",
        "prioritylevelconfigurations", "flowschemas", "kwok.x-k8s.io", "scenariokit.io",
    )
)  # fmt: skip
_COMPACTION = "compact_rev_key"


#: The watched prefixes, each over its own connection. The gateway responds once the first request of a connection is
#: read, and drops the unread rest of its body: of many requests in one body some would get no response.
WATCHED = (_COMPACTION, *_NOT_KEPT)


def build_watch_request(key: str) -> bytes:
    """Build the request for a watch of a key or, if it ends with a slash, of every key below it."""
    create_request = {"key": base64.b64encode(key.encode()).decode()}
    if key.endswith("/"):
        create_request["range_end"] = base64.b64encode(key[:-1].encode() + bytes([ord("/") + 1])).decode()
    return msgspec.json.encode({"create_request": create_request}) + b"\n"


class _WatchEntry(msgspec.Struct, frozen=True):
    key: str
    mod_revision: str


class _Event(msgspec.Struct, frozen=True):
    kv: _WatchEntry


class _WatchResponse(msgspec.Struct, frozen=True):
    events: tuple[_Event, ...] = ()
    canceled: bool = False
    cancel_reason: str = ""


class _Message(msgspec.Struct, frozen=True):
    result: _WatchResponse = _WatchResponse()


_DECODER = msgspec.json.Decoder(_Message)


class Revisions:
    """Follow etcd's watch through its JSON gateway.

    Args:
        etcd_url: etcd's address.
        store: receives revisions that need no delivery.
        stop: ends ``follow``.
        tls: the client's certificate, where it listens by ``https``.
    """

    def __init__(
        self, etcd_url: str, store: ObjectStore, stop: threading.Event, tls: ssl.SSLContext | None = None
    ) -> None:
        self._url = f"{etcd_url}/v3/watch"
        self._store = store
        self._stop = stop
        given = {"tls": tls} if tls else {}
        self._client = loopback.create_client(**given, timeout=httpx.Timeout(5.0, read=None))

    def follow(self, key: str) -> None:
        """Watch one of ``WATCHED`` until ``stop``. A thread's main function."""
        while not self._stop.is_set():
            try:
                for revision in self._foreign(key):
                    self._store.pass_revision(revision)
            except (httpx.HTTPError, msgspec.MsgspecError) as error:
                if not self._stop.is_set():
                    _LOG.warning("etcd's watch of %s failed, retrying: %s", key, error or type(error).__name__)
            self._stop.wait(_RETRY_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _foreign(self, key: str) -> Iterator[int]:
        with self._client.stream("POST", self._url, content=build_watch_request(key)) as response:
            response.raise_for_status()
            for line in response.iter_lines():
                if self._stop.is_set():
                    return
                result = _DECODER.decode(line).result
                for event in result.events:
                    if is_foreign(base64.b64decode(event.kv.key).decode(errors="replace")):
                        yield int(event.kv.mod_revision)
                if result.canceled:
                    _LOG.warning("etcd cancelled the watch of %s, retrying: %s", key, result.cancel_reason)
                    return


def is_foreign(key: str) -> bool:
    """Return whether an etcd key belongs to a kind that the store does not keep."""
    return key == _COMPACTION or key.startswith(_NOT_KEPT)

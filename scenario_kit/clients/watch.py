"""List and watch with bookmarks; reconnects after a broken connection, relists after an expired version."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import urllib3

from scenario_kit.clients.transport import Transport
from scenario_kit.clients.transport_errors import LIBRARY_ERRORS
from scenario_kit.errors import Conflict, Unreachable
from scenario_kit.model import Object
from scenario_kit.ports import Kind

Event = tuple[str, Object]

#: The server ends a watch after this many seconds; a connection that is silent for longer is dead.
_WATCH_SECONDS = 240
_BROKEN: tuple[type[Exception], ...] = (*LIBRARY_ERRORS, msgspec.DecodeError)
_BACKOFF_SECONDS = (0.05, 0.2, 1.0, 2.0)


class Collection(NamedTuple):
    """Fields of a kind that its lists omit from items."""

    kind: Kind

    def items(self, answer: Any) -> list[Object]:
        """Return the items of a list with ``apiVersion`` and ``kind``."""
        version = f"{self.kind.group}/{self.kind.version}" if self.kind.group else self.kind.version
        head = {"apiVersion": version, "kind": self.kind.kind}
        return [{**head, **item} for item in answer.get("items") or ()]


def follow(transport: Transport, collection: Collection, path: str, stop: threading.Event) -> Iterator[Event]:
    """See ``KubeCluster.watch``."""
    known: dict[str, Object] = {}
    version = ""
    synced = False
    failures = 0
    while not stop.is_set():
        try:
            if not version:
                answer = transport.json("GET", path)
                yield from _diff_list(known, collection.items(answer))
                synced = True
                yield "SYNCED", {}
                version = answer["metadata"]["resourceVersion"]
            silent = True
            for type_, obj in _stream_events(transport, path, version, stop):
                silent, failures = False, 0
                version = obj["metadata"]["resourceVersion"]
                if type_ != "BOOKMARK":
                    _update_known(known, type_, obj)
                    yield type_, obj
            if silent:  # a server that ends every watch at once must not be asked without a pause
                stop.wait(_BACKOFF_SECONDS[0])
        except Conflict:
            version = ""
        except Unreachable:
            if not synced:
                raise  # the first list: report that the server is unreachable
            stop.wait(_BACKOFF_SECONDS[min(failures, len(_BACKOFF_SECONDS) - 1)])
            failures += 1


def _diff_list(known: dict[str, Object], items: list[Object]) -> Iterator[Event]:
    """Yield the differences between known objects and a complete list; updates ``known``."""
    fresh = {item["metadata"]["uid"]: item for item in items}
    for uid in [uid for uid in known if uid not in fresh]:
        yield "DELETED", known.pop(uid)
    for uid, item in fresh.items():
        before = known.get(uid)
        known[uid] = item
        if before is None:
            yield "ADDED", item
        elif before["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
            yield "MODIFIED", item


def _update_known(known: dict[str, Object], type_: str, obj: Object) -> None:
    uid = obj["metadata"]["uid"]
    if type_ == "DELETED":
        known.pop(uid, None)
    else:
        known[uid] = obj


def _stream_events(transport: Transport, path: str, version: str, stop: threading.Event) -> Iterator[Event]:
    """Yield the events of one watch request.

    Raises:
        Conflict: the version has expired.
        Unreachable: the connection broke, or the server reported an internal error.
    """
    query = {
        "watch": "1",
        "resourceVersion": version,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(_WATCH_SECONDS),
    }
    response = transport.stream(path, query, _WATCH_SECONDS + 30)
    ended = threading.Event()
    threading.Thread(target=_shut_down_on_stop, args=(response, stop, ended), daemon=True, name="watch-stop").start()
    try:
        for line in _read_lines(response):
            event = msgspec.json.decode(line)
            if event["type"] == "ERROR":
                status = event["object"]
                refused = Conflict if status.get("code") == 410 else Unreachable
                raise refused(f"watch {path}: {status.get('message', '')}", status=int(status.get("code", 0)))
            yield event["type"], event["object"]
    except _BROKEN as error:
        if not stop.is_set():
            raise Unreachable(f"watch {path}: the connection broke: {error}") from error
    finally:
        ended.set()
        response.close()


def _read_lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(amt=None):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)


def _shut_down_on_stop(response: urllib3.BaseHTTPResponse, stop: threading.Event, ended: threading.Event) -> None:
    """Unblock a reader once ``stop`` is set."""
    while not ended.is_set():
        if stop.wait(0.5):
            if not ended.is_set():
                response.shutdown()
            return

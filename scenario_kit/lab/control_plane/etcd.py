"""A client of etcd's JSON gateway.

Only ``lab reset`` uses it to write, and what sets the creation of an experiment. Everything else goes through the API
server.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec

from scenario_kit.errors import LabError
from scenario_kit.lab.control_plane.store_access import build_store_url, locate_store_tls
from scenario_kit.lab.host import loopback

_ALL = "AA=="
_SECONDS = 30.0
#: etcd's limits for one request are 128 operations and 1.5 MiB.
_OPERATIONS, _BYTES = 100, 1 << 20


class Range(NamedTuple):
    """The keys from ``first`` to ``end``, exclusive."""

    first: bytes
    end: bytes


class _KeyValue(msgspec.Struct, frozen=True):
    key: str
    mod_revision: int
    value: str = ""


class _Found(msgspec.Struct, frozen=True):
    kvs: tuple[_KeyValue, ...] = ()


class _RangePart(msgspec.Struct, frozen=True):
    response_range: _Found = _Found()


class _Several(msgspec.Struct, frozen=True):
    responses: tuple[_RangePart, ...] = ()
    succeeded: bool = False


class Etcd:
    """The etcd of a lab. All methods raise ``LabError`` if it does not respond or rejects a request."""

    def __init__(self, port: int, pki: Path) -> None:
        self._url = build_store_url(port)
        tls = locate_store_tls(pki).build_client_context()
        self._client = loopback.create_client(tls, base_url=self._url, timeout=_SECONDS)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def revisions(self) -> dict[bytes, int]:
        """Return every key with its last revision."""
        found = self._ask("range", {"key": _ALL, "range_end": _ALL, "keys_only": True}, _Found)
        return {_decode(entry.key): entry.mod_revision for entry in found.kvs}

    def under(self, prefix: bytes) -> dict[bytes, bytes]:
        """Return the keys with a non-empty prefix, and their values."""
        end = prefix[:-1] + bytes([prefix[-1] + 1])
        found = self._ask("range", {"key": _encode(prefix), "range_end": _encode(end)}, _Found)
        return {_decode(entry.key): _decode(entry.value) for entry in found.kvs}

    def values(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of the existing keys."""
        result: dict[bytes, bytes] = {}
        for first in range(0, len(keys), _OPERATIONS):
            operations = [{"request_range": {"key": _encode(key)}} for key in keys[first : first + _OPERATIONS]]
            for part in self._ask("txn", {"success": operations}, _Several).responses:
                result.update((_decode(entry.key), _decode(entry.value)) for entry in part.response_range.kvs)
        return result

    def write(self, delete: Iterable[Range], put: Mapping[bytes, bytes]) -> None:
        """Delete ranges, then put values, in transactions of limited size; usually one."""
        operations: list[tuple[int, Any]] = [
            (0, {"request_delete_range": {"key": _encode(each.first), "range_end": _encode(each.end)}})
            for each in delete
        ]
        operations += [
            (len(value), {"request_put": {"key": _encode(key), "value": _encode(value)}}) for key, value in put.items()
        ]
        for batch in _split_batches(operations):
            self._ask("txn", {"success": batch}, _Several)

    def edit(self, key: bytes, edit: Callable[[bytes], bytes]) -> bool:
        """Replace the value of a key, retrying on concurrent writes; return False if there is no such key."""
        while True:
            found = self._ask("range", {"key": _encode(key)}, _Found).kvs
            if not found:
                return False
            same = {"key": _encode(key), "target": "MOD", "result": "EQUAL", "mod_revision": found[0].mod_revision}
            put = {"request_put": {"key": _encode(key), "value": _encode(edit(_decode(found[0].value)))}}
            if self._ask("txn", {"compare": [same], "success": [put]}, _Several).succeeded:
                return True

    def _ask(self, what: str, document: Any, answer: Any) -> Any:
        try:
            response = self._client.post(f"/v3/kv/{what}", json=document)
            if response.status_code != 200:
                raise LabError(f"etcd rejected a {what}: {response.status_code} {response.text[:200]}")
            return msgspec.json.decode(response.content, type=answer, strict=False)  # numbers are strings
        except httpx.HTTPError as error:
            what = f"etcd does not respond at {self._url}: {error or type(error).__name__}"
            raise LabError(what, fix="scenario-kit lab status") from error
        except msgspec.MsgspecError as error:
            raise LabError(f"invalid response of etcd to a {what}: {error}") from error


def _split_batches(operations: Iterable[tuple[int, Any]]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    size = 0
    for length, operation in operations:
        if batch and (len(batch) == _OPERATIONS or size + length > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(operation)
        size += length
    if batch:
        yield batch


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text)

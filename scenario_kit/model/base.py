"""The base of all values: immutable, compared by content, camelCase in JSON."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final, Self, TypeVar

import msgspec

_T = TypeVar("_T")

#: A Kubernetes object, or a part of one, as the API serves it.
Object = dict[str, Any]

#: Classes already prepared. msgspec must not inspect a class for the first time in two threads at once.
_READ: Final[set[Any]] = set()
_FIRST: Final = Lock()


def convert(data: Any, to: type[_T]) -> _T:
    """Convert as ``msgspec.convert`` does, but thread-safe.

    Raises:
        msgspec.ValidationError: ``data`` does not match.
    """
    if to not in _READ:
        with _FIRST:
            msgspec.json.Decoder(to)
            _READ.add(to)
    return msgspec.convert(data, to, dec_hook=_decode)


def _decode(of: Any, data: Any) -> Any:
    """Decode a type with a JSON form of its own."""
    return of.from_json(data)


def encode_json(value: Any) -> bytes:
    """Encode as ``msgspec.json.encode`` does, with values whose types have a JSON form of their own anywhere in it."""
    return msgspec.json.encode(value, enc_hook=_encode)


def to_plain(value: Any) -> Any:
    """Convert to plain JSON types as ``msgspec.to_builtins`` does; for the same values as ``encode_json``."""
    return msgspec.to_builtins(value, enc_hook=_encode)


def _encode(value: Any) -> Any:
    """Encode a type with a JSON form of its own."""
    return value.to_json()


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """An immutable value. ``to_json`` and ``from_json`` are inverses; unknown fields are errors."""

    def to_json(self) -> Object:
        """Return this value as plain JSON types, without defaults."""
        result: Object = to_plain(self)
        return result

    def to_bytes(self) -> bytes:
        """Return this value as JSON text."""
        return encode_json(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Parse a value.

        Raises:
            msgspec.ValidationError: ``data`` does not match. Loaders validate by the schema first, so there it is a
            bug;
                a document from the API was written by another version.
        """
        return convert(data, cls)

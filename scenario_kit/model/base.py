"""What all values have in common: frozen, compared by content, camelCase outside and snake_case inside."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final, Self, TypeVar

import msgspec

_T = TypeVar("_T")

#: A Kubernetes object, or a part of one, as the API serves it.
Object = dict[str, Any]

#: Classes that were read before. The first time msgspec looks at a class it must not do so in two threads at once.
_READ: Final[set[Any]] = set()
_FIRST: Final = Lock()


def convert(data: Any, to: type[_T]) -> _T:
    """Convert as ``msgspec.convert`` does, safe in threads.

    Raises:
        msgspec.ValidationError: ``data`` has another shape.
    """
    if to not in _READ:
        with _FIRST:
            msgspec.json.Decoder(to)
            _READ.add(to)
    return msgspec.convert(data, to, dec_hook=_decode)


def _decode(of: Any, data: Any) -> Any:
    """Read a value that has a JSON form of its own."""
    return of.from_json(data)


def _encode(value: Any) -> Any:
    return value.to_json()


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A frozen value. ``to_json`` and ``from_json`` are inverse to each other; unknown fields are errors."""

    def to_json(self) -> Object:
        """Return this value as plain JSON types, defaults left out."""
        result: Object = msgspec.to_builtins(self, enc_hook=_encode)
        return result

    def to_bytes(self) -> bytes:
        """Return this value as the text of a JSON document."""
        return msgspec.json.encode(self, enc_hook=_encode)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the value that ``data`` describes.

        Raises:
            msgspec.ValidationError: ``data`` has another shape. Loaders validate against the schema first, so for
                them this is a bug; for documents read from the API it means another version wrote them.
        """
        return convert(data, cls)

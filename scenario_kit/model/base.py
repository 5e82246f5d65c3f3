"""What all values have in common: frozen, compared by content, camelCase outside and snake_case inside."""

from __future__ import annotations

from typing import Any, Self

import msgspec

#: A Kubernetes object, or a part of one, as the API serves it.
Object = dict[str, Any]


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A frozen value. ``to_json`` and ``from_json`` are inverse to each other; unknown fields are errors."""

    def to_json(self) -> Object:
        """This value as plain JSON types, defaults left out."""
        result: Object = msgspec.to_builtins(self)
        return result

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The value that ``data`` describes.

        Raises:
            msgspec.ValidationError: ``data`` has another shape. Loaders validate against the schema first, so for
                them this is a bug; for documents read from the API it means another version wrote them.
        """
        return msgspec.convert(data, cls)

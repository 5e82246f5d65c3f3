"""How a field of ``twin.yaml`` is described: what it means, its unit, its bounds, and what it belongs to."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Meta

#: Units, as the reference page and editors spell them.
SECONDS: Final = "s"
MILLISECONDS: Final = "ms"
MIB: Final = "MiB"
BYTES: Final = "bytes"
CORES: Final = "cores"
MILLICORES: Final = "millicores"
#: Exit codes of processes and numbers of ports.
EXIT_CODE: Final[dict[str, Any]] = {"ge": 0, "le": 255}
PORT: Final[dict[str, Any]] = {"ge": 0, "le": 65535}
#: A part of a whole, or a probability.
SHARE: Final[dict[str, Any]] = {"ge": 0, "le": 1}


def describe(text: str, *, unit: str = "", group: str = "", **bounds: Any) -> Meta:
    """Describe a field.

    Args:
        text: what the field means, for who writes the file; Markdown.
        unit: of its numbers.
        group: the concern that it belongs to, where a type has several; the reference page has a table for each.
        bounds: limits of its value, as ``msgspec.Meta`` names them.
    """
    return Meta(description=text, extra={"unit": unit, "group": group}, **bounds)

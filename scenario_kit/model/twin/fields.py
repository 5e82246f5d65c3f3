"""Describe fields of ``twin.yaml``: meaning, unit, bounds, group."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Meta

#: Units in the reference page and editors.
SECONDS: Final = "s"
MILLISECONDS: Final = "ms"
MIB: Final = "MiB"
BYTES: Final = "bytes"
CORES: Final = "cores"
MILLICORES: Final = "millicores"
#: Bounds of exit codes and port numbers.
EXIT_CODE: Final[dict[str, Any]] = {"ge": 0, "le": 255}
PORT: Final[dict[str, Any]] = {"ge": 0, "le": 65535}
#: Bounds of shares and probabilities.
SHARE: Final[dict[str, Any]] = {"ge": 0, "le": 1}


def describe(text: str, *, unit: str = "", group: str = "", **bounds: Any) -> Meta:
    """Describe a field.

    Args:
        text: meaning of the field in Markdown, for authors.
        unit: unit of its numbers.
        group: group of related fields; the reference page has a table for each.
        bounds: limits of its value, as in ``msgspec.Meta``.
    """
    return Meta(description=text, extra={"unit": unit, "group": group}, **bounds)

"""Describe fields of ``twin.yaml``: meaning, unit, bounds, group."""

from __future__ import annotations

from collections.abc import Mapping
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


#: The most of a unit that can be meant: beyond, a number is in another unit, or would never end.
MOST: Final[dict[str, float]] = {
    SECONDS: 31_536_000, MILLISECONDS: 86_400_000, MIB: 16_777_216, BYTES: 2**44, CORES: 4_096, MILLICORES: 4_096_000,
}  # fmt: skip


def describe(
    text: str, *, unit: str = "", group: str = "", synonyms: Mapping[str, str] | None = None, **bounds: Any
) -> Meta:
    """Describe a field.

    Args:
        text: meaning of the field in Markdown, for authors.
        unit: unit of its numbers.
        group: group of related fields; the reference page has a table for each.
        synonyms: other words that authors use for its values, for the fix of an error.
        bounds: limits of its value, as in ``msgspec.Meta``; with a lower one, a unit also sets the highest one.
    """
    if unit in MOST and bounds.keys() & {"ge", "gt"}:
        bounds = {"le": MOST[unit], **bounds}
    more: dict[str, Any] = {"extra_json_schema": {"x-synonyms": dict(synonyms)}} if synonyms else {}
    return Meta(description=text, extra={"unit": unit, "group": group}, **bounds, **more)

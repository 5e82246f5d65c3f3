"""Expand ``x-lookup`` in parameter schemas: defaults and choices that are looked up in the app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model.base import Object

#: Default and choices of each lookup, as template expressions.
LOOKUPS: Final[Mapping[str, tuple[str, str]]] = {
    "Container": ("{{ container.name }}", "{{ target.containers }}"),
    "Port": ("{{ ports | first }}", "{{ ports }}"),
    "Reader": ("{{ readers(target) | first }}", "{{ readers(target) }}"),
    "AddressVariable": ("{{ address_variables(target) | first }}", "{{ env | list }}"),
}
KEYWORD: Final = "x-lookup"


def fill_lookups(schema: Object) -> Object:
    """Add default and choices to parameters with a lookup, unless they have their own."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not any(_names_lookup(part) for part in properties.values()):
        return schema
    return {**schema, "properties": {name: _fill(part) for name, part in properties.items()}}


def _names_lookup(part: Any) -> bool:
    return isinstance(part, dict) and part.get(KEYWORD) in LOOKUPS


def _fill(part: Any) -> Any:
    if not _names_lookup(part):
        return part
    default, choices = LOOKUPS[part[KEYWORD]]
    return {"default": default, "x-choices": choices, **{k: v for k, v in part.items() if k != KEYWORD}}

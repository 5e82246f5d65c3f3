"""Known capabilities: ``catalog/capabilities/*.yaml``."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from scenario_kit.catalog.index import Catalog
from scenario_kit.catalog.loader import read_mapping
from scenario_kit.errors import AuthoringError
from scenario_kit.model.authored.capability import Capability
from scenario_kit.model.base import Value, convert


class _File(Value, frozen=True, kw_only=True):
    capabilities: tuple[Capability, ...]


@lru_cache(maxsize=8)  # the operator calls it every second for each Scenario
def list_capabilities(catalog: Catalog) -> tuple[Capability, ...]:
    """List all capabilities, by file and in file order; earlier roots take precedence.

    Raises:
        AuthoringError: a file is invalid.
    """
    found: dict[str, Capability] = {}
    for root in catalog.roots:
        for path in sorted((root / "catalog" / "capabilities").glob("*.yaml")):
            try:
                entries = convert(read_mapping(path), _File).capabilities
            except msgspec.ValidationError as error:
                raise AuthoringError(f"{path}: {error}") from error
            for entry in entries:
                found.setdefault(entry.name, entry)
    return tuple(found.values())

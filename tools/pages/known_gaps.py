"""Gaps of the catalogue, and their reasons: ``catalog/coverage/*.yaml``.

A file lists ``unbuilt`` mechanisms with the capabilities that they need, and may map another benchmark's faults
(``itbench``) to the catalogue's.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scenario_kit.catalog.index import Catalog
from scenario_kit.catalog.loader import read_mapping
from scenario_kit.errors import AuthoringError
from scenario_kit.model.base import Value, convert


class Unbuilt(Value, frozen=True, kw_only=True):
    """A known failure mechanism without a fault type; ``requires`` is as in fault definitions."""

    id: str
    title: str
    requires: tuple[str, ...] = ()
    because: str


class Counterpart(Value, frozen=True, kw_only=True):
    """A fault of ITBench by number, and the catalogue's fault types with its mechanism."""

    number: int
    faults: tuple[str, ...]


class Coverage(Value, frozen=True, kw_only=True):
    """The contents of one file."""

    unbuilt: tuple[Unbuilt, ...] = ()
    itbench: tuple[Counterpart, ...] = ()


def load_coverage(catalog: Catalog) -> Coverage:
    """Load all files, sorted by id and number.

    Raises:
        AuthoringError: a file is malformed.
    """
    parts = list(_read_parts(catalog))
    return Coverage(
        unbuilt=tuple(sorted((u for p in parts for u in p.unbuilt), key=lambda u: u.id)),
        itbench=tuple(sorted((c for p in parts for c in p.itbench), key=lambda c: c.number)),
    )


def _read_parts(catalog: Catalog) -> Iterator[Coverage]:
    for root in catalog.roots:
        for path in sorted((root / "catalog" / "coverage").glob("*.yaml")):
            try:
                yield convert(read_mapping(path), Coverage)
            except msgspec.ValidationError as error:
                raise AuthoringError(f"{path}: {error}") from error

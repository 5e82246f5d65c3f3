"""The kinds that the lab's version of Kubernetes serves, and the fields of those that may be written.

``ci/kubernetes-api`` generates ``kubernetes.json`` from the OpenAPI document of the pinned version. Validators from
package registries bring the documents of all versions, which are a hundred times as large, and judge no patches.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from scenario_kit.schema.object_types.field_type import FieldType, ObjectType, parse_fields

DATA: Final = Path(__file__).with_name("kubernetes.json")


class _Table(msgspec.Struct):
    version: str
    kinds: dict[str, list[str]]
    objects: dict[str, str]
    types: dict[str, dict[str, str]]


def get_version() -> str:
    """Return the version of Kubernetes: ``1.34.2``."""
    return _load().version


def list_versions(kind: str) -> tuple[str, ...]:
    """Return the apiVersions of a kind, the preferred one first; empty if there is no such kind."""
    return tuple(_load().kinds.get(kind, ()))


def list_kinds(api_version: str = "") -> tuple[str, ...]:
    """Return the kinds of an apiVersion, or all."""
    return tuple(k for k, versions in _load().kinds.items() if not api_version or api_version in versions)


@cache
def list_groups() -> frozenset[str]:
    """Return the API groups; the core group is empty."""
    return frozenset(each.rpartition("/")[0] for versions in _load().kinds.values() for each in versions)


def find_object_type(api_version: str, kind: str) -> ObjectType | None:
    """Return the type of a kind in one version; None if it has none, or is of a kind that no change may write."""
    name = _load().objects.get(f"{api_version}/{kind}")
    return None if name is None else _load_type(name)


def resolve_type(field: FieldType) -> ObjectType:
    """Return the type of a field that holds an object."""
    return _load_type(field.type) if isinstance(field.type, str) else field.type


@cache
def _load_type(name: str) -> ObjectType:
    """Return the type of that name."""
    words: Mapping[str, str] = _load().types[name]
    return parse_fields(words)


@cache
def _load() -> _Table:
    return msgspec.json.decode(DATA.read_bytes(), type=_Table)

"""Merge the part of one version into what all versions share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenario_kit.model import Object


def select_version(document: Object, version: str) -> Object:
    """Return the document for one version: shared fields, overridden by the version's own, recursively."""
    document = dict(document)
    own = (document.pop("versions", None) or {}).get(version) or {}
    return _overlay(document, own)


def _overlay(base: Mapping[str, Any], own: Mapping[str, Any]) -> Object:
    merged = dict(base)
    for key, value in own.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _overlay(merged[key], value) if both else value
    return merged

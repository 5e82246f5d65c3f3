"""Places in a file, and references that name the same object."""

from __future__ import annotations

from scenario_kit.model import Reference

#: Steps from the root of a document to a part of it.
Place = tuple[str | int, ...]


def is_same(one: Reference, other: Reference) -> bool:
    """Return whether two references name the same object, with or without their groups."""
    return one.groupless == other.groupless

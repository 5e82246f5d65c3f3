"""Where two documents differ: the paths of the smallest parts; entries of a list go by their names. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scenario_kit.model.kubernetes.reference import Reference

Path = tuple[str, ...]


class WrittenField(NamedTuple):
    """A field of an object; an empty path is the whole object."""

    of: Reference
    path: Path = ()

    def meets(self, other: WrittenField) -> bool:
        """Return whether writing one of them writes the other, or a part of it."""
        return self.of == other.of and meets(self.path, other.path)

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} of {self.of}" if self.path else str(self.of)


def list_leaves(document: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """List the paths of all values of a document that hold no others by name."""
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            yield from list_leaves(value, (*path, key))
        else:
            yield (*path, key)


def find_paths(old: Any, new: Any, path: Path = ()) -> Iterator[Path]:
    """Find the paths of the smallest parts that differ; entries of a list go by their names where they have some."""
    if old == new:
        return
    one, other = split_parts(old), split_parts(new)
    if one is None or other is None or (not one and not other):
        yield path
        return
    for key in {**one, **other}:
        if key not in one or key not in other:
            whole = one.get(key, other.get(key))
            inner = split_parts(whole)
            yield from (find_paths(type(whole)(), whole, (*path, key)) if inner else iter([(*path, key)]))
        else:
            yield from find_paths(one[key], other[key], (*path, key))


def split_parts(value: Any) -> Mapping[str, Any] | None:
    """Split the parts of a value by key; None where it is one part."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return None
    names = [item.get("name") for item in value]
    if None not in names and len(set(names)) == len(names):
        return {str(name): item for name, item in zip(names, value, strict=True)}
    return {str(i): item for i, item in enumerate(value)}


def get_at(value: Any, path: Path) -> Any:
    """Get what stands at a path; None where nothing does."""
    for key in path:
        inner = split_parts(value)
        value = inner.get(key) if inner else None
    return value


def meets(one: Path, other: Path) -> bool:
    """Return whether writing at one of the paths writes at the other, or at a part of it."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]

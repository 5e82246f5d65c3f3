"""Compare documents: the paths of the smallest differing parts, with list entries identified by name. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from scenario_kit.model.kubernetes.reference import Reference

Path = tuple[str, ...]


class WrittenField(NamedTuple):
    """A field of an object; an empty path means the whole object."""

    of: Reference
    path: Path = ()

    def meets(self, other: WrittenField) -> bool:
        """Return whether one of the fields contains the other."""
        return self.of == other.of and meets(self.path, other.path)

    def __str__(self) -> str:
        return f"{'.'.join(self.path)} of {self.of}" if self.path else str(self.of)


def list_leaves(document: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all values that are not mappings."""
    for key, value in document.items():
        if isinstance(value, Mapping) and value:
            yield from list_leaves(value, (*path, key))
        else:
            yield (*path, key)


def find_paths(old: Any, new: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of the smallest differing parts; list entries are identified by name if they have one."""
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
    """Return the parts of a value by key; None for a scalar."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        return None
    names = [item.get("name") for item in value]
    if None not in names and len(set(names)) == len(names):
        return {str(name): item for name, item in zip(names, value, strict=True)}
    return {str(i): item for i, item in enumerate(value)}


def get_at(value: Any, path: Path) -> Any:
    """Return the value at a path; None if there is none."""
    for key in path:
        inner = split_parts(value)
        value = inner.get(key) if inner else None
    return value


def meets(one: Path, other: Path) -> bool:
    """Return whether one of the paths is a prefix of the other."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]

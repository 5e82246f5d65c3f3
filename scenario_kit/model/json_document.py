"""Walk through plain JSON documents, point into them, rewrite the texts in them, and format them for files. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Place = tuple[str | int, ...]


def format_json(document: Any) -> str:
    """Format a document as the text of a file that people compare and publish."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def walk(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield a value and all values inside it, each with its place, and before those inside it."""
    yield place, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, part in items:
        yield from walk(part, (*place, key))


def split_pointer(pointer: str) -> list[str]:
    """Return the names and indices in a JSON pointer (RFC 6901)."""
    parts = pointer.removeprefix("/").split("/") if pointer else []
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def join_pointer(parts: Iterable[str]) -> str:
    """Return the JSON pointer of names and indices."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def get_part(value: Any, place: Iterable[str | int]) -> Any:
    """Return the part of a document at a place, None if it does not exist."""
    for key in place:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def list_mappings(value: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the mappings of a list with their indices; nothing if the value is no list, as a template may be."""
    if isinstance(value, list | tuple):
        yield from ((i, item) for i, item in enumerate(value) if isinstance(item, Mapping))


def list_texts(value: Any, *, keys: bool = False) -> Iterator[str]:
    """Yield the texts in a value, in order; with ``keys``, also the keys of mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if keys:
                yield str(key)
            yield from list_texts(part, keys=keys)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from list_texts(part, keys=keys)


def replace_texts(value: Any, replace: Callable[[str], str]) -> Any:
    """Return a copy of a value in which ``replace`` has been applied to each text, but to no key of a mapping."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, Mapping):
        return {key: replace_texts(part, replace) for key, part in value.items()}
    return [replace_texts(part, replace) for part in value] if isinstance(value, list | tuple) else value


def flatten(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all values that are not mappings, each with the keys that lead to it, joined by dots."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value

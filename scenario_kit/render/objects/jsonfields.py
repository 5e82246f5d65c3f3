"""Read and replace fields of JSON documents in ConfigMaps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model.json_document import flatten

#: Maximum length of a document; the API server rejects larger ConfigMaps.
_MAX_LENGTH: Final = 1 << 20


def list_fields(text: object) -> dict[str, str | int | float | bool]:
    """List the scalar values of a JSON object by path (``server.port``), in order; empty for any other text.

    Values inside lists are omitted because an index is not a stable name.
    """
    values = flatten(_parse_object(text) or {})
    return {path: value for path, value in values if isinstance(value, str | int | float | bool)}


def list_documents(obj: object) -> dict[str, dict[str, str | int | float | bool]]:
    """List the fields of every JSON document in a ConfigMap, by key."""
    data = obj.get("data") if isinstance(obj, Mapping) else None
    found = {str(key): list_fields(text) for key, text in (data or {}).items()}
    return {key: known for key, known in found.items() if known}


def replace_field(text: object, path: str, value: object) -> str:
    """Replace one value in a JSON document and indent it by two spaces; the type of the old value is kept if possible.

    Raises:
        ValueError: the text is not a JSON object, or has no scalar at ``path``.
    """
    document = _parse_object(text)
    known = list_fields(text)
    if document is None or path not in known:
        raise ValueError(f"the document has no field '{path}'; it has {', '.join(known) or 'none'}")
    around, names = document, _split_path(document, path)
    for name in names[:-1]:
        around = around[name]
    around[names[-1]] = _convert_as(value, known[path])
    return json.dumps(document, indent=2, ensure_ascii=False)


def _parse_object(text: object) -> dict[str, Any] | None:
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _split_path(document: dict[str, Any], path: str) -> list[str]:
    """Split a path into keys; keys may contain dots."""
    for name, value in document.items():
        if name == path:
            return [name]
        if (
            isinstance(value, dict)
            and path.startswith(f"{name}.")
            and (rest := _split_path(value, path[len(name) + 1 :]))
        ):
            return [name, *rest]
    return []


def _convert_as(value: object, old: str | int | float | bool) -> object:
    if isinstance(old, str):
        return str(value)
    try:
        return json.loads(str(value))
    except ValueError:
        return value

"""Merge patches and server-side apply with the semantics of the API server. Pure: arguments are not modified."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

#: Merge keys of lists by field name; other lists are replaced as a whole.
#: Source: the ``patchMergeKey`` tags of ``k8s.io/api``. ``ports`` has different keys in containers and Services.
_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",), "containers": ("name",), "env": ("name",), "ephemeralContainers": ("name",),
    "hostAliases": ("ip",), "imagePullSecrets": ("name",), "initContainers": ("name",), "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"), "secrets": ("name",), "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",), "volumeMounts": ("mountPath",), "volumes": ("name",),
}  # fmt: skip
#: Lists of scalars that are merged as sets.
_SETS = frozenset({"finalizers"})
#: Orders the untouched and the written items of a list, given the previous order of keys and the merge key.
_Order = Callable[[list[Any], list[Any], list[Any], str], list[Any]]
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/")


def merge(document: Any, patch: Any) -> Any:
    """Return ``document`` with a JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def merge_strategic(document: Any, patch: Any) -> Any:
    """Apply a strategic merge patch to a built-in kind, with merge keys and ``$patch`` directives.

    New list items come first. Order matters: variables refer to earlier ones, and the first container is the default.
    """
    return _combine(copy.deepcopy(document), patch, _merge_in_front)


def apply_fields(document: Any, fields: Any) -> Any:
    """Merge the fields of a server-side apply: like a strategic merge patch, but new list items come last."""
    return _combine(copy.deepcopy(document), fields, _merge_behind)


def _combine(document: Any, patch: Any, order: _Order) -> Any:
    """Merge a patch into a document; the result shares its unpatched parts."""
    if not isinstance(patch, dict) or not isinstance(document, dict):
        return _strip_directives(patch)
    if patch.get("$patch") == "replace":
        return _strip_directives(patch)
    if patch.get("$patch") == "delete":
        return {}
    result = dict(document)
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            result[field] = [v for v in result.get(field, ()) if v not in value]
        elif key == "$retainKeys":
            result = {k: v for k, v in result.items() if k in value}
        elif key.startswith(_DIRECTIVES):
            continue
        elif value is None:
            result.pop(key, None)
        elif key not in result and isinstance(value, dict) and "$patch" in value:
            continue  # the API server drops new fields that contain a directive
        elif isinstance(value, list):
            current = result.get(key)
            result[key] = _merge_list(key, current if isinstance(current, list) else [], value, order)
        else:
            result[key] = _combine(result.get(key), value, order)
    return result


def _merge_list(field: str, items: list[Any], patch: list[Any], order: _Order) -> list[Any]:
    if field in _SETS:
        return [*items, *(v for v in patch if v not in items)]
    key = find_merge_key(field, [*items, *patch])
    if key is None or any(isinstance(p, dict) and p.get("$patch") == "replace" for p in patch):
        return [_strip_directives(p) for p in patch if not (isinstance(p, dict) and p.keys() == {"$patch"})]
    old = {item[key]: item for item in items}
    named = {element[key]: element for element in patch}
    written = [
        _combine(old[name], element, order) if name in old else _strip_directives(element)
        for name, element in named.items()
        if element.get("$patch") != "delete"
    ]
    untouched = [item for item in items if item[key] not in named]
    return order(untouched, written, [item[key] for item in items], key)


def _merge_in_front(untouched: list[Any], written: list[Any], before: list[Any], key: str) -> list[Any]:
    """Put written items first, except after untouched items that preceded them."""
    result = []
    for item in written:
        place = before.index(item[key]) if item[key] in before else -1
        while untouched and before.index(untouched[0][key]) < place:
            result.append(untouched.pop(0))
        result.append(item)
    return [*result, *untouched]


def _merge_behind(untouched: list[Any], written: list[Any], before: list[Any], key: str) -> list[Any]:
    """Keep the previous order and append new items."""
    stood = {name: place for place, name in enumerate(before)}
    return sorted([*untouched, *written], key=lambda item: stood.get(item[key], len(before)))


def find_merge_key(field: str, elements: list[Any]) -> str | None:
    """Return the merge key of a list; None if the list is replaced as a whole."""
    named = [e for e in elements if isinstance(e, dict) and e.keys() != {"$patch"}]
    if len(named) != len([e for e in elements if not (isinstance(e, dict) and e.keys() == {"$patch"})]):
        return None
    return next((k for k in _KEYS.get(field, ()) if all(isinstance(e.get(k), str | int) for e in named)), None)


def _strip_directives(value: Any) -> Any:
    if isinstance(value, dict):
        untouched = {k: v for k, v in value.items() if v is not None and not k.startswith(_DIRECTIVES)}
        return {k: _strip_directives(v) for k, v in untouched.items() if not (isinstance(v, dict) and "$patch" in v)}
    return [_strip_directives(v) for v in value] if isinstance(value, list) else copy.deepcopy(value)


def drop_released_fields(document: Any, before: Any, after: Any, field: str = "") -> Any:
    """Remove fields that an applier set ``before`` and omits ``after``, as server-side apply does."""
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(document, dict):
        gone = before.keys() - after.keys()
        return {
            k: drop_released_fields(v, before[k], after[k], k) if k in before else v
            for k, v in document.items()
            if k not in gone
        }
    key = find_merge_key(field, [*before, *after]) if isinstance(before, list) and isinstance(after, list) else None
    if key is None or not isinstance(document, list):
        return document
    was, untouched = {e[key]: e for e in before}, {e[key]: e for e in after}
    return [
        drop_released_fields(e, was[e[key]], untouched[e[key]], "") if e[key] in was else e
        for e in document
        if e[key] not in was or e[key] in untouched
    ]

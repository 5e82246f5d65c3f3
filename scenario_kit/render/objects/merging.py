"""What merge patches and apply do to an object, as the API server does it. Pure: arguments are never changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

#: Merge keys of lists, by the field that holds the list; every other list is replaced as a whole.
#: Source: the ``patchMergeKey`` tags of ``k8s.io/api``. ``ports`` differ: of containers and of Services.
_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",), "containers": ("name",), "env": ("name",), "ephemeralContainers": ("name",),
    "hostAliases": ("ip",), "imagePullSecrets": ("name",), "initContainers": ("name",), "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"), "secrets": ("name",), "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",), "volumeMounts": ("mountPath",), "volumes": ("name",),
}  # fmt: skip
#: Lists of plain values that are merged as sets.
_SETS = frozenset({"finalizers"})
#: Puts the items of a list that are left alone and those that are written into order, given the names as they stood.
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
    """Merge a strategic merge patch for built-in kinds: lists with a merge key merge by it, ``$patch`` directives act.

    New items of a list come first, and others keep their places: it matters, as variables refer backwards, and the
    first container is the default one.
    """
    return _combine(document, patch, _merge_in_front)


def apply_fields(document: Any, fields: Any) -> Any:
    """Return what a server-side apply writes into an object: like a strategic patch, but new items of a list
    come last.
    """
    return _combine(document, fields, _merge_behind)


def _combine(document: Any, patch: Any, order: _Order) -> Any:
    if not isinstance(patch, dict) or not isinstance(document, dict):
        return _strip_directives(patch)
    if patch.get("$patch") == "replace":
        return _strip_directives(patch)
    result = copy.deepcopy(document)
    if patch.get("$patch") == "delete":
        return {}
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
            continue  # the API server takes the patch for a new field, and drops what has a directive from it
        elif isinstance(value, list):
            current = result.get(key)
            result[key] = _list(key, current if isinstance(current, list) else [], value, order)
        else:
            result[key] = _combine(result.get(key), value, order)
    return result


def _list(field: str, items: list[Any], patch: list[Any], order: _Order) -> list[Any]:
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
    kept = [copy.deepcopy(item) for item in items if item[key] not in named]
    return order(kept, written, [item[key] for item in items], key)


def _merge_in_front(kept: list[Any], written: list[Any], before: list[Any], key: str) -> list[Any]:
    """Merge what the patch does not name stays in front of what it names only where it stood there."""
    result = []
    for item in written:
        place = before.index(item[key]) if item[key] in before else -1
        while kept and before.index(kept[0][key]) < place:
            result.append(kept.pop(0))
        result.append(item)
    return [*result, *kept]


def _merge_behind(kept: list[Any], written: list[Any], before: list[Any], key: str) -> list[Any]:
    """Merge so that everything stays where it stood; what is new follows."""
    stood = {name: place for place, name in enumerate(before)}
    return sorted([*kept, *written], key=lambda item: stood.get(item[key], len(before)))


def find_merge_key(field: str, elements: list[Any]) -> str | None:
    """Find the field by which the elements of a list are merged; None where it is replaced as a whole."""
    named = [e for e in elements if isinstance(e, dict) and e.keys() != {"$patch"}]
    if len(named) != len([e for e in elements if not (isinstance(e, dict) and e.keys() == {"$patch"})]):
        return None
    return next((k for k in _KEYS.get(field, ()) if all(isinstance(e.get(k), str | int) for e in named)), None)


def _strip_directives(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if v is not None and not k.startswith(_DIRECTIVES)}
        return {k: _strip_directives(v) for k, v in kept.items() if not (isinstance(v, dict) and "$patch" in v)}
    return [_strip_directives(v) for v in value] if isinstance(value, list) else copy.deepcopy(value)


def forget(document: Any, before: Any, after: Any, field: str = "") -> Any:
    """Return ``document`` without what an applier set ``before`` and leaves out ``after``: how apply removes fields."""
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(document, dict):
        gone = before.keys() - after.keys()
        return {
            k: forget(v, before[k], after[k], k) if k in before else v for k, v in document.items() if k not in gone
        }
    key = find_merge_key(field, [*before, *after]) if isinstance(before, list) and isinstance(after, list) else None
    if key is None or not isinstance(document, list):
        return document
    was, kept = {e[key]: e for e in before}, {e[key]: e for e in after}
    return [
        forget(e, was[e[key]], kept[e[key]], "") if e[key] in was else e
        for e in document
        if e[key] not in was or e[key] in kept
    ]

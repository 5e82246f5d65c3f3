"""What the three patch types and apply do to an object. Pure: arguments are never changed."""

from __future__ import annotations

import copy
from typing import Any

#: Merge keys of lists, by the field that holds the list; every other list is replaced as a whole.
_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",), "containers": ("name",), "env": ("name",), "ephemeralContainers": ("name",),
    "hostAliases": ("ip",), "imagePullSecrets": ("name",), "initContainers": ("name",), "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"), "topologySpreadConstraints": ("topologyKey",), "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",), "volumes": ("name",),
}  # fmt: skip
#: Lists of plain values that are merged as sets.
_SETS = frozenset({"finalizers"})
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/")


def merge(document: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(document: Any, patch: Any) -> Any:
    """A strategic merge patch for built-in kinds: lists with a merge key merge by it, ``$patch`` directives act."""
    if not isinstance(patch, dict) or not isinstance(document, dict):
        return _without_directives(patch)
    if patch.get("$patch") == "replace":
        return _without_directives(patch)
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
            result[key] = _list(key, result.get(key) or [], value)
        else:
            result[key] = strategic(result.get(key), value)
    return result


def _list(field: str, items: list[Any], patch: list[Any]) -> list[Any]:
    if field in _SETS:
        return [*items, *(v for v in patch if v not in items)]
    key = _merge_key(field, [*items, *patch])
    if key is None or any(isinstance(p, dict) and p.get("$patch") == "replace" for p in patch):
        return [_without_directives(p) for p in patch if not (isinstance(p, dict) and p.keys() == {"$patch"})]
    result = copy.deepcopy(items)
    for element in patch:
        index = next((i for i, item in enumerate(result) if item.get(key) == element[key]), None)
        if element.get("$patch") == "delete":
            result = [item for item in result if item.get(key) != element[key]]
        elif index is None:
            result.append(_without_directives(element))
        else:
            result[index] = strategic(result[index], element)
    return result


def _merge_key(field: str, elements: list[Any]) -> str | None:
    named = [e for e in elements if isinstance(e, dict) and e.keys() != {"$patch"}]
    if len(named) != len([e for e in elements if not (isinstance(e, dict) and e.keys() == {"$patch"})]):
        return None
    return next((k for k in _KEYS.get(field, ()) if all(k in e for e in named)), None)


def _without_directives(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if v is not None and not k.startswith(_DIRECTIVES)}
        return {k: _without_directives(v) for k, v in kept.items() if not (isinstance(v, dict) and "$patch" in v)}
    return [_without_directives(v) for v in value] if isinstance(value, list) else copy.deepcopy(value)


def forget(document: Any, before: Any, after: Any, field: str = "") -> Any:
    """``document`` without what an applier set ``before`` and leaves out ``after``: how apply removes fields."""
    if isinstance(before, dict) and isinstance(after, dict) and isinstance(document, dict):
        gone = before.keys() - after.keys()
        return {
            k: forget(v, before[k], after[k], k) if k in before else v for k, v in document.items() if k not in gone
        }
    key = _merge_key(field, [*before, *after]) if isinstance(before, list) and isinstance(after, list) else None
    if key is None or not isinstance(document, list):
        return document
    was, kept = {e[key]: e for e in before}, {e[key]: e for e in after}
    return [
        forget(e, was[e[key]], kept[e[key]], "") if e[key] in was else e
        for e in document
        if e[key] not in was or e[key] in kept
    ]

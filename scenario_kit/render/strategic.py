"""Kubernetes' strategic merge, for the kinds that apps consist of."""

from __future__ import annotations

import copy
from typing import Any, Final

#: Field → the key by which items of such a list are matched; all other lists are replaced.
#: Source: the ``patchMergeKey`` tags of ``k8s.io/api``. ``ports`` differ: of containers and of Services.
_KEYS: Final = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey",),
    "ports": ("containerPort", "port"),
    "secrets": ("name",),
    "ownerReferences": ("uid",),
}
_DIRECTIVE: Final = "$patch"


def strategic(base: Any, patch: Any, field: str = "") -> Any:
    """``base`` with a strategic merge patch applied; ``null`` removes, ``$patch: delete | replace`` is obeyed.

    As by the API server, a map with ``$patch`` says nothing about a field that does not exist.
    """
    if isinstance(patch, dict):
        if patch.get(_DIRECTIVE) == "replace":
            return {k: copy.deepcopy(v) for k, v in patch.items() if k != _DIRECTIVE}
        result = dict(base) if isinstance(base, dict) else {}
        for key, value in patch.items():
            if value is None:
                result.pop(key, None)
            elif key not in result and isinstance(value, dict) and _DIRECTIVE in value:
                continue
            elif not key.startswith("$"):
                result[key] = strategic(result.get(key), value, key)
        return result
    if isinstance(patch, list):
        items = base if isinstance(base, list) else []
        if key := _key(field, [*items, *patch]):
            return _merged(items, patch, key)
    return copy.deepcopy(patch)


def merge(base: Any, patch: Any) -> Any:
    """``base`` with a JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def _key(field: str, items: list[Any]) -> str:
    for key in _KEYS.get(field, ()):
        if all(isinstance(i, dict) and (_plain(i.get(key)) or i.get(_DIRECTIVE) == "replace") for i in items):
            return key
    return ""


def _plain(value: Any) -> bool:
    return isinstance(value, str | int)


def _merged(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return [copy.deepcopy(item) for item in patch if _DIRECTIVE not in item]
    old = {item[key]: item for item in base}
    deleted = {item[key] for item in patch if item.get(_DIRECTIVE) == "delete"}
    written = {item[key]: strategic(old.get(item[key]), item) for item in patch if item[key] not in deleted}
    kept = [item for item in base if item[key] not in written and item[key] not in deleted]
    return _ordered(kept, list(written.values()), [item[key] for item in base], key)


def _ordered(kept: list[Any], written: list[Any], before: list[Any], key: str) -> list[Any]:
    """The API server's order: what the patch does not name stays in front of what it names only where it stood there.

    So new items come first. It matters: variables refer backwards, and the first container is the default one.
    """
    result = []
    for item in written:
        place = before.index(item[key]) if item[key] in before else -1
        while kept and before.index(kept[0][key]) < place:
            result.append(kept.pop(0))
        result.append(item)
    return [*result, *kept]

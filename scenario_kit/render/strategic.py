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
    """``base`` with a strategic merge patch applied; ``null`` removes, ``$patch: delete | replace`` is obeyed."""
    if isinstance(patch, dict):
        if patch.get(_DIRECTIVE) == "replace":
            return {k: copy.deepcopy(v) for k, v in patch.items() if k != _DIRECTIVE}
        result = dict(base) if isinstance(base, dict) else {}
        for key, value in patch.items():
            if value is None:
                result.pop(key, None)
            elif not key.startswith("$"):
                result[key] = strategic(result.get(key), value, key)
        return result
    if isinstance(patch, list) and isinstance(base, list) and (key := _key(field, [*base, *patch])):
        return _merged(base, patch, key)
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
        if all(isinstance(i, dict) and (key in i or i.get(_DIRECTIVE) == "replace") for i in items):
            return key
    return ""


def _merged(base: list[Any], patch: list[Any], key: str) -> list[Any]:
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return [copy.deepcopy(item) for item in patch if _DIRECTIVE not in item]
    result = list(base)
    for item in patch:
        index = next((i for i, old in enumerate(result) if old[key] == item[key]), None)
        if item.get(_DIRECTIVE) == "delete":
            result = [old for old in result if old[key] != item[key]]
        elif index is None:
            result.append(copy.deepcopy(item))
        else:
            result[index] = strategic(result[index], item)
    return result

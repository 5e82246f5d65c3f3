"""Diff of two states of an object, and its exact reversal. Pure.

An undo restores what *our* write changed and nothing else: writes by others (controllers, an HPA, a solver) are
kept. Lists whose items have a ``name`` are compared by name, since their order has no meaning for containers,
environment, ports and volumes, and positions may have moved by then.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from scenario_kit.model import Object

#: Fields written by the API server or its controllers, which are no desired state.
_SERVER_METADATA: Final = (
    "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip
_CONTROLLER_ANNOTATIONS: Final = (
    "deployment.kubernetes.io/", "deprecated.daemonset.template.generation", "kubectl.kubernetes.io/last-applied",
    "pv.kubernetes.io/", "volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
)  # fmt: skip
_ABSENT: Final = object()
#: Annotation of a restarted pod template, as with kubectl.
RESTARTED: Final = "kubectl.kubernetes.io/restartedAt"


def strip_to_desired(obj: Object | None) -> Object:
    """Return the desired state of an object: no status, no server metadata, no controller annotations."""
    if obj is None:
        return {}
    result = {k: copy.deepcopy(v) for k, v in obj.items() if k != "status"}
    metadata = result.get("metadata", {})
    for field in _SERVER_METADATA:
        metadata.pop(field, None)
    annotations = {
        k: v for k, v in (metadata.get("annotations") or {}).items() if not k.startswith(_CONTROLLER_ANNOTATIONS)
    }
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return result


def is_alike(obj: Object, other: Object) -> bool:
    """Return whether two objects have the same desired state, ignoring restarts."""
    return _strip_restart(obj) == _strip_restart(other)


def _strip_restart(obj: Object) -> Object:
    result = strip_to_desired(obj)
    metadata = ((result.get("spec") or {}).get("template") or {}).get("metadata") or {}
    annotations = metadata.pop("annotations", None) or {}
    if left := {k: v for k, v in annotations.items() if k != RESTARTED}:
        metadata["annotations"] = left
    return result


def list_changed_paths(prior: Any, after: Any, path: str = "") -> tuple[str, ...]:
    """Find the paths at which two states differ, like JSON pointers; items of named lists appear as ``[name]``."""
    if prior == after:
        return ()
    if isinstance(prior, dict) and isinstance(after, dict):
        keys = [*prior, *(k for k in after if k not in prior)]
        return tuple(
            p
            for k in keys
            for p in list_changed_paths(prior.get(k, _ABSENT), after.get(k, _ABSENT), f"{path}/{k}")
            if p
        )
    if _has_names(prior) and _has_names(after):
        before, later = _index_by_name(prior), _index_by_name(after)
        if len(before) == len(prior) and len(later) == len(after):
            keys = [*before, *(k for k in later if k not in before)]
            found = tuple(
                p
                for k in keys
                for p in list_changed_paths(before.get(k, _ABSENT), later.get(k, _ABSENT), f"{path}[{k}]")
            )
            return found or (path,)  # only the order differs
    return (path,)


def restore_fields(live: Any, prior: Any, after: Any) -> Any:
    """Return ``live`` with every field that changed from ``prior`` to ``after`` reset to ``prior``."""
    if prior == after:
        return live
    if isinstance(prior, dict) and isinstance(after, dict) and isinstance(live, dict):
        result = dict(live)
        for key in [*prior, *(k for k in after if k not in prior)]:
            value = restore_fields(live.get(key, _ABSENT), prior.get(key, _ABSENT), after.get(key, _ABSENT))
            if value is _ABSENT:
                result.pop(key, None)
            else:
                result[key] = value
        return result
    if _has_names(prior) and _has_names(after) and _has_names(live):
        before, later, now = _index_by_name(prior), _index_by_name(after), _index_by_name(live)
        if len(before) == len(prior) and len(later) == len(after) and len(now) == len(live):
            names = [*before, *(n for n in now if n not in before)]
            values = (restore_fields(now.get(n, _ABSENT), before.get(n, _ABSENT), later.get(n, _ABSENT)) for n in names)
            return [v for v in values if v is not _ABSENT]
    return copy.deepcopy(prior) if prior is not _ABSENT else _ABSENT


def _has_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) and "name" in v for v in value)


def _index_by_name(items: list[Any]) -> dict[str, Any]:
    # Ports may repeat a name only across protocols; a list with repeated names is compared as a whole (see callers).
    return {str(item["name"]): item for item in items}

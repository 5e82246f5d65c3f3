"""Objects that nothing uses."""

from __future__ import annotations

from typing import Final

from scenario_kit.lint.rules.leaks.needless.surroundings import ObjectSurroundings
from scenario_kit.model import Object

#: Kinds that no controller acts on if a fault creates them.
_SAYING: Final = frozenset({"ControllerRevision", "Event", "Lease", "PodTemplate"})
#: Kinds that have no effect unless another object names them.
_NAMED: Final = frozenset(
    {
        "ConfigMap", "IngressClass", "PersistentVolumeClaim", "PriorityClass", "RuntimeClass",
        "Secret", "Service", "ServiceAccount", "StorageClass",
    }
)  # fmt: skip
_OPEN: Final = ("NodePort", "LoadBalancer")


def explain_unused(obj: Object, world: ObjectSurroundings) -> str:
    """Explain why nothing uses an object that a fault creates; empty if something does."""
    kind, spec = obj["kind"], obj.get("spec") or {}
    if kind in _SAYING:
        return f"a {kind} has no effect"
    if kind not in _NAMED or world.is_mentioned(obj):
        return ""
    if kind == "Service" and spec.get("type") in _OPEN:
        return ""
    if kind == "PriorityClass" and obj.get("globalDefault"):
        return ""
    if kind in ("StorageClass", "IngressClass") and _is_found_by_mark(obj):
        return ""
    return f"no object names this {kind}"


def _is_found_by_mark(obj: Object) -> bool:
    marks = obj["metadata"].get("annotations") or {}
    return any(key.endswith("/is-default-class") for key in marks)

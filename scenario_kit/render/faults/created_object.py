"""Reference of the object that a fault creates (``created`` in templates)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.authored.change import get_operation_type
from scenario_kit.model.kubernetes.reference import read_group
from scenario_kit.render.templating.authoring_error import build_error
from scenario_kit.render.templating.engine import render

#: API groups that references omit.
_BUILT_IN: Final = ("", "apps", "batch", "autoscaling", "policy")


def find_created(changes: Sequence[Any], variables: Mapping[str, Any]) -> str:
    """Return the reference of the first object that the changes of a fault create.

    Raises:
        AuthoringError: no change creates an object, or its name cannot be rendered.
    """
    for i, change in enumerate(changes):
        operation = get_operation_type(change)
        if not operation.has_manifest or not render(change.get("when", True), variables, f"changes[{i}].when"):
            continue
        manifest = change[operation.keyword]
        named = (
            manifest if isinstance(manifest, str) else {k: manifest.get(k) for k in ("apiVersion", "kind", "metadata")}
        )
        return format_created(render(named, variables, f"changes[{i}]"))
    raise build_error("SK123", "`created` is undefined: no change of the fault creates an object")


def format_created(manifest: Object) -> str:
    """Format the reference of a manifest, with the API group unless it is built in."""
    group = read_group(manifest)
    kind = str(manifest.get("kind")) + ("" if group in _BUILT_IN or group.endswith(".k8s.io") else f".{group}")
    metadata = manifest.get("metadata") or {}
    home = f"{metadata['namespace']}/" if metadata.get("namespace") else ""
    return f"{home}{kind}/{metadata.get('name')}"

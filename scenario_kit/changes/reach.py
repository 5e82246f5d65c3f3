"""Confinement of chaos to the app: changes with targets outside it are refused before anything is sent."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Final

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import Change, Finding, Object
from scenario_kit.model.chaos.kinds import GROUP, SCHEDULE
from scenario_kit.model.chaos.reach import OutsideTarget, is_chaos, list_outside_targets

_SPEC: Final = "/spec"


def require_confined(change: Change, own: Container[str], home: str) -> None:
    """Refuse a change whose chaos reaches outside the namespaces ``own``; ``home`` is the default namespace.

    Raises:
        AuthoringError: with a finding for each target outside.
    """
    if found := tuple(report_outside_targets([change], own, home)):
        raise AuthoringError(found[0].message, found, fix=found[0].fix)


def report_outside_targets(changes: Iterable[Change], own: Container[str], home: str) -> Iterator[Finding]:
    """Report each target outside the app."""
    for change in changes:
        manifest = change.operation.manifest
        if manifest and is_chaos(manifest):
            name = f"{manifest['kind']}/{manifest['metadata']['name']}"
            for stray in list_outside_targets(manifest, own, home):
                yield _build_finding(describe_outside_target(name, stray), f"{format_path(stray)}: {stray.value}")
        elif rewrites_spec(change):
            yield _build_finding(f"the patch of {change.target} writes the spec of a chaos object", "a patch of `spec`")


def describe_outside_target(name: str, stray: OutsideTarget) -> str:
    """Describe a target outside the app in a message."""
    return f"{name} reaches {stray.where}, outside of the app"


def format_path(stray: OutsideTarget) -> str:
    """Format the path of the field that selects it."""
    return ".".join(map(str, stray.keys))


def rewrites_spec(change: Change) -> bool:
    """Return whether a patch writes the spec of a chaos object, which Chaos Mesh refuses."""
    ref, patch = change.operation.ref, change.operation.document
    if ref is None or not change.operation.patches:
        return False
    if ref.group != GROUP and (ref.group or not (ref.kind == SCHEDULE or ref.kind.endswith("Chaos"))):
        return False
    if isinstance(patch, Mapping):
        return "spec" in patch
    return any(_is_in_spec(operation) for operation in patch)


def _is_in_spec(operation: Object) -> bool:
    path = str(operation.get("path", ""))
    return path in ("", _SPEC) or path.startswith(f"{_SPEC}/")


def _build_finding(message: str, observed: str) -> Finding:
    return build_finding(
        "SK150", message=message, observed=observed, expected="selectors of pods in the app's own namespaces"
    )

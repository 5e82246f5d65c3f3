"""Apply changes to rendered objects without a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import APP_NAMESPACE, App, Object, Reference
from scenario_kit.model.kubernetes.reference import make_object_reference
from scenario_kit.render.apps.placement import CLUSTER_KINDS
from scenario_kit.render.objects.lookup import find_object, format_reference, look_up
from scenario_kit.render.objects.merging import apply_fields
from scenario_kit.render.objects.object_shape import find_misshapen
from scenario_kit.render.templating.authoring_error import build_error

#: The longest name of an object that the API server accepts (RFC 1123).
_LONGEST_NAME = 253


class NoChange(AuthoringError):
    """The change has no effect on any object."""

    def __init__(self, what: str, target: str) -> None:
        finding = build_finding(
            "SK304",
            message=f"{what} of {target} changes nothing",
            observed="the object already has these values",
            expected="values that differ from those of the app",
            why="a change without an effect can neither break nor repair anything",
            fix="choose other parameters",
        )
        super().__init__(finding.message, [finding], fix=finding.fix)


def find_target(objects: Sequence[Object], ref: Reference, app: App, namespace: str, keyword: str) -> Object | None:
    """Find the target of a change; None for objects outside the app's namespaces and unknown cluster-scoped objects.

    Raises:
        AuthoringError: it names a missing object of the app.
    """
    if ref.namespace not in (APP_NAMESPACE, namespace, *app.namespaces):
        return None
    if ref.kind in CLUSTER_KINDS and look_up(objects, ref, namespace) is None:
        return None
    return find_object(objects, ref, namespace, keyword, "SK121")


def put_object(objects: Sequence[Object], old: Object, new: Object, keyword: str, target: str) -> tuple[Object, ...]:
    """Replace one object by another.

    Raises:
        NoChange: they are equal.
    """
    if new == old:
        raise NoChange(keyword, target)
    return tuple(new if o is old else o for o in objects)


def add_object(objects: Sequence[Object], manifest: Object, namespace: str, keyword: str) -> tuple[Object, ...]:
    """Add an object.

    Raises:
        AuthoringError: it already exists.
    """
    placed = _place_manifest(manifest, namespace)
    if look_up(objects, make_object_reference(placed), namespace) is not None:
        raise build_error(
            "SK121",
            f"{keyword}: {format_reference(placed, namespace)} already exists",
            fix="patch it, or choose another name",
        )
    return (*objects, placed)


def merge_object(objects: Sequence[Object], manifest: Object, namespace: str, keyword: str) -> tuple[Object, ...]:
    """Create an object, or apply its fields if it exists.

    Raises:
        NoChange: it exists with these fields.
    """
    placed = _place_manifest(manifest, namespace)
    old = look_up(objects, make_object_reference(placed), namespace)
    if old is None:
        return (*objects, placed)
    return put_object(objects, old, apply_fields(old, placed), keyword, format_reference(placed))


def _place_manifest(manifest: Object, namespace: str) -> Object:
    whole = check_sound(manifest)
    return {**whole, "metadata": {"namespace": namespace, **whole["metadata"]}}


def check_sound(obj: Any) -> Object:
    """Return the object if it is a structurally valid manifest with kind and name.

    Raises:
        AuthoringError: it is not."""
    if not is_whole(obj):
        raise build_error(
            "SK104",
            "a change creates something that is not a Kubernetes object",
            observed=str(obj)[:200],
            expected="kind and metadata.name as strings",
            fix="write a complete manifest",
        )
    wrong = find_misshapen(obj) or ("" if "apiVersion" in obj else "apiVersion is missing")
    if wrong:
        raise build_error(
            "SK104",
            f"{format_reference(obj)} is not a valid Kubernetes object: {wrong}",
            observed=str(obj)[:200],
            expected="fields of the types that the API documents",
            fix="look up the type of the field with `kubectl explain`; `| string` makes text of an expression's number",
        )
    try:
        Reference.parse(f"{obj['metadata'].get('namespace') or APP_NAMESPACE}/{obj['kind']}/{obj['metadata']['name']}")
    except ValueError as error:
        raise build_error("SK104", f"a change creates an object with an invalid name: {error}") from error
    if len(obj["metadata"]["name"]) > _LONGEST_NAME:
        raise build_error(
            "SK104",
            f"a change creates an object whose name has {len(obj['metadata']['name'])} characters",
            expected=f"at most {_LONGEST_NAME}",
            fix="shorten it",
        )
    checked: Object = dict(obj)
    return checked


def is_whole(obj: Any) -> bool:
    """Return whether a value has the kind and name of an object."""
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
    return isinstance(metadata, Mapping) and all(
        isinstance(text, str) for text in (obj.get("kind"), metadata.get("name"))
    )

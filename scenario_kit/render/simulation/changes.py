"""What a change does to rendered objects, without a cluster: the check that finds faults which change nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jsonpatch

from scenario_kit.errors import AuthoringError
from scenario_kit.load.rules import build_finding
from scenario_kit.model import APP_NAMESPACE, App, Change, Object, Reference
from scenario_kit.model.authored.change import Patch, SetFlag
from scenario_kit.model.runtime.flag import set_variant
from scenario_kit.render.apps.app import CLUSTER_KINDS
from scenario_kit.render.objects.lookup import find_object, find_position, format_reference
from scenario_kit.render.objects.merging import apply_fields, merge, merge_strategic
from scenario_kit.render.objects.object_shape import find_misshapen
from scenario_kit.render.simulation.commands import find_client
from scenario_kit.render.templating.authoring_error import build_error, did_you_mean

#: Operations on objects that are not among those of an app (nodes), or whose effect is not on a spec.
_ELSEWHERE: Final = ("cordon", "uncordon", "drain", "taint", "untaint", "removeFault")


class NoChange(AuthoringError):
    """The change would leave every object as it is."""

    def __init__(self, what: str, target: str) -> None:
        finding = build_finding(
            "SK304",
            message=f"{what} of {target} changes nothing",
            observed="the object already has these values",
            expected="values that differ from those of the app",
            why="a change that changes nothing cannot break or repair anything",
            fix="choose other parameters",
        )
        super().__init__(finding.message, [finding], fix=finding.fix)


def simulate_change(objects: Sequence[Object], change: Change, app: App, namespace: str) -> tuple[Object, ...]:
    """Return the objects once the change is made.

    Objects outside the app's namespace, and those of the cluster, are not known here; changes of them leave the objects
    as they are, and so do restarts and everything else that touches no spec.

    Raises:
        NoChange: every object would stay as it is.
        AuthoringError: its target does not exist, what it creates exists, or the patch does not apply.
    """
    operation = change.operation
    if change.run:
        find_client(app, change.run)
        return tuple(objects)
    if manifest := change.create or change.chaos:
        return _create_object(objects, manifest, namespace, operation)
    if change.apply:
        return _apply_object(objects, change.apply, namespace)
    if change.set_flag:
        return _set_flag(objects, change.set_flag, app, namespace)
    if operation in _ELSEWHERE or change.target is None:
        return tuple(objects)
    try:
        ref = Reference.parse(change.target)
    except ValueError as error:  # the target of a change in a definition may be a template of anything
        raise build_error("SK104", f"a change has a target that is none: {error}") from error
    if ref.namespace not in (APP_NAMESPACE, namespace, *app.namespaces):
        return tuple(objects)
    if ref.kind in CLUSTER_KINDS and find_position(objects, ref, namespace) is None:
        return tuple(objects)
    obj = find_object(objects, ref, namespace, operation, "SK121")
    if operation in ("restart", "undoRollout"):
        return tuple(objects)
    if change.delete:
        return tuple(o for o in objects if o is not obj)
    if change.scale:
        new = merge(obj, {"spec": {"replicas": change.scale.replicas}})
    else:
        assert change.patch is not None
        new = _patch_object(obj, change.patch)
    return _replace_object(objects, obj, new, operation, change.target)


def _replace_object(
    objects: Sequence[Object], old: Object, new: Object, operation: str, target: str
) -> tuple[Object, ...]:
    if new == old:
        raise NoChange(operation, target)
    return tuple(new if o is old else o for o in objects)


def _create_object(objects: Sequence[Object], manifest: Object, namespace: str, operation: str) -> tuple[Object, ...]:
    placed = _place_manifest(manifest, namespace)
    if find_position(objects, _make_reference(placed), namespace) is not None:
        raise build_error(
            "SK121",
            f"{operation}: {format_reference(placed, namespace)} exists already",
            fix="patch it, or choose another name",
        )
    return (*objects, placed)


def _apply_object(objects: Sequence[Object], manifest: Object, namespace: str) -> tuple[Object, ...]:
    placed = _place_manifest(manifest, namespace)
    index = find_position(objects, _make_reference(placed), namespace)
    if index is None:
        return (*objects, placed)
    return _replace_object(
        objects, objects[index], apply_fields(objects[index], placed), "apply", format_reference(placed)
    )


def _set_flag(objects: Sequence[Object], change: SetFlag, app: App, namespace: str) -> tuple[Object, ...]:
    store = app.flags
    if store is None:
        raise build_error("SK121", f"setFlag: {app.name} has no feature flags")
    obj = find_object(objects, Reference("ConfigMap", store.config_map), namespace, "setFlag", "SK121")
    document: dict[str, Any] = json.loads(obj["data"][store.key])
    flags = document["flags"]
    if change.flag not in flags:
        raise build_error("SK120", f"setFlag: there is no flag '{change.flag}'", fix=did_you_mean(change.flag, flags))
    flag = flags[change.flag]
    if change.value is None and change.variant not in flag["variants"]:
        variants = [str(v) for v in flag["variants"]]
        raise build_error(
            "SK120",
            f"setFlag: flag '{change.flag}' has no variant '{change.variant}'",
            expected=" | ".join(variants),
            fix=did_you_mean(change.variant, variants),
        )
    try:
        flags[change.flag] = set_variant(flag, change.variant, change.value)
    except ValueError as error:
        raise build_error("SK121", f"setFlag: flag '{change.flag}' cannot be set: {error}") from error
    if flags[change.flag] == flag:
        raise NoChange("setFlag", f"flag {change.flag}")
    return tuple(merge(o, {"data": {store.key: json.dumps(document, indent=2)}}) if o is obj else o for o in objects)


def _patch_object(obj: Object, change: Patch) -> Object:
    if change.type == "Strategic":
        result = merge_strategic(obj, change.patch)
    elif change.type == "Merge":
        result = merge(obj, change.patch)
    else:
        try:
            result = jsonpatch.apply_patch(obj, change.patch)
        except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError) as error:
            raise build_error(
                "SK121",
                f"the patch of {change.target} does not apply: {error}",
                observed=json.dumps(change.patch)[:300],
                expected="paths that exist in the rendered object",
                fix="`scenario-kit render` shows the object",
            ) from error
    return check_sound(result)


def _place_manifest(manifest: Object, namespace: str) -> Object:
    whole = check_sound(manifest)
    return {**whole, "metadata": {"namespace": namespace, **whole["metadata"]}}


def check_sound(obj: Any) -> Object:
    """Return the object, if it can be one: everything that looks at objects asks for their kind and name."""
    if not is_whole(obj):
        raise build_error(
            "SK104",
            "a change makes something that is no object of Kubernetes",
            observed=str(obj)[:200],
            expected="kind and metadata.name as text",
            fix="write a whole object",
        )
    wrong = find_misshapen(obj) or ("" if "apiVersion" in obj else "apiVersion is missing")
    if wrong:
        raise build_error(
            "SK104",
            f"{format_reference(obj)} is no object of Kubernetes: {wrong}",
            observed=str(obj)[:200],
            expected="fields of the types that the API documents",
            fix="`kubectl explain` tells the type of each field",
        )
    try:
        Reference.parse(f"{obj['metadata'].get('namespace') or APP_NAMESPACE}/{obj['kind']}/{obj['metadata']['name']}")
    except ValueError as error:
        raise build_error("SK104", f"a change makes an object without a usable name: {error}") from error
    checked: Object = dict(obj)
    return checked


def is_whole(obj: Any) -> bool:
    """Check whether this has the kind and name of an object."""
    metadata = obj.get("metadata") if isinstance(obj, Mapping) else None
    return isinstance(metadata, Mapping) and all(
        isinstance(text, str) for text in (obj.get("kind"), metadata.get("name"))
    )


def _make_reference(manifest: Object) -> Reference:
    group = manifest["apiVersion"].rpartition("/")[0]
    metadata = manifest["metadata"]
    return Reference(manifest["kind"], metadata["name"], metadata["namespace"], group)

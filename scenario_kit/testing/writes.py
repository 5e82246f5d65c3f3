"""The effect and validation of writes. Pure."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import jsonpointer

from scenario_kit.errors import Conflict, Rejected
from scenario_kit.model import Object
from scenario_kit.ports import Kind, PatchType
from scenario_kit.render.objects import merging
from scenario_kit.testing.api_resources import WITH_STATUS

_IMMUTABLE = ("name", "namespace", "uid")
_SERVER_OWNED = ("creationTimestamp", "generation", "deletionTimestamp")


def patch_document(document: Object, patch: Any, type_: PatchType) -> Object:
    """Return the patched document.

    Raises:
        Rejected: a JSON patch that does not apply, including failed tests.
    """
    if type_ == "Json":
        result = copy.deepcopy(document)
        try:
            for operation in patch:
                result = jsonpatch.apply_patch(result, [_normalize_patch(result, operation)])
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            raise Rejected(f"the server rejected our request: {error}", status=422) from error
        return result
    combined: Object = (merging.merge if type_ == "Merge" else merging.merge_strategic)(copy.deepcopy(document), patch)
    return combined


def revise_object(served: Kind, current: Object, desired: Object, subresource: str = "") -> Object | None:
    """Return the object to store, or None if nothing changes.

    Raises:
        Conflict: ``desired`` is based on another version.
        Rejected: an immutable field changes.
    """
    before, after = current["metadata"], desired.setdefault("metadata", {})
    if after.get("resourceVersion") != before["resourceVersion"]:
        raise Conflict(f'{served.plural} "{before["name"]}": the object has been modified', status=409)
    for field in _IMMUTABLE:
        if after.get(field) != before.get(field):
            raise Rejected(f"metadata.{field}: field is immutable", status=422)
    if subresource == "status":
        desired = {**copy.deepcopy(current), "status": desired.get("status", {})}
    elif served.kind in WITH_STATUS:
        status = {"status": current["status"]} if "status" in current else {}
        desired = {**{k: v for k, v in desired.items() if k != "status"}, **status}
    if served.group == "apps" and desired["spec"].get("selector") != current["spec"].get("selector"):
        raise Rejected("spec.selector: field is immutable", status=422)
    owned = {k: before[k] for k in _SERVER_OWNED if k in before}
    desired["metadata"] = {**{k: v for k, v in desired["metadata"].items() if k not in _SERVER_OWNED}, **owned}
    if _select_content(desired) == _select_content(current):
        return None
    if _select_spec(desired) != _select_spec(current) and "generation" in desired["metadata"]:
        desired["metadata"]["generation"] += 1
    return desired


def _normalize_patch(document: Object, operation: Object) -> Object:
    """Turn a replace of a missing member into an add, as the API server does, unlike RFC 6902."""
    if operation.get("op") != "replace":
        return operation
    parent, member = jsonpointer.JsonPointer(operation["path"]).to_last(document)
    missing = isinstance(parent, dict) and member not in parent
    return {**operation, "op": "add"} if missing else operation


def _select_content(obj: Object) -> Object:
    ignored = ("resourceVersion", "managedFields")
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k not in ignored}}


def _select_spec(obj: Object) -> Object:
    return {k: v for k, v in obj.items() if k not in ("metadata", "status")}

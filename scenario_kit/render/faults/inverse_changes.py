"""Inverse changes of a fault: ``restore`` in its fixes, solutions and decoys. Pure.

Patches are inverted field by field, in their own patch format: a field of the rendered object gets its former value, a
new field is removed. Other fields stay untouched, so the inverse composes with other changes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.model.authored.change import ChangeOperation, get_operation_type
from scenario_kit.model.json_document import split_pointer
from scenario_kit.render.faults.created_object import format_created
from scenario_kit.render.objects.merging import find_merge_key
from scenario_kit.render.templating.authoring_error import build_error

#: Finds a rendered object by reference; None if the app has no such object.
Find = Callable[[str], Object | None]
_BY_HAND: Final = "write the inverse changes explicitly"
#: Mappings with independent entries; a part of any other mapping is not valid by itself.
_INDEPENDENT: Final = frozenset(
    {"annotations", "data", "labels", "limits", "nodeSelector", "requests", "resources", "securityContext", "selector"}
)


def build_inverse_changes(
    changes: Sequence[Object], find: Find, refs: Collection[str] = (), field: str = ""
) -> list[Object]:
    """Build the inverse changes of a fault, in the order of its changes.

    ``refs`` restricts them to some objects, ``field`` to one path of their patches.

    Raises:
        AuthoringError: a change has no inverse, or none of them changes ``refs``.
    """
    found: list[Object] = []
    for change in changes:
        operation = get_operation_type(change)
        body = change[operation.keyword]
        subject = format_created(body) if operation.has_manifest else str(body.get("target", ""))
        if not operation.restarts and (not refs or subject in refs):
            selected = _select_field(operation, body, field) if field else body
            found += [] if selected is None else [_invert(operation, selected, subject, find)]
    if not found:
        where = ", ".join(refs) or "the app"
        raise build_error("SK123", f"`restore` has no effect: the fault writes nothing to {where}")
    return found


def _select_field(operation: type[ChangeOperation], body: Object, field: str) -> Object | None:
    """Restrict a patch to what it writes at ``field``; None if it writes nothing there."""
    if not operation.patches or body["type"] == "Json":
        return None
    part: Any = body["patch"]
    steps = field.split(".")
    for step in steps:
        if not isinstance(part, dict) or step not in part:
            return None
        part = part[step]
    for step in reversed(steps):
        part = {step: part}
    return {**body, "patch": part}


def _invert(operation: type[ChangeOperation], body: Object, subject: str, find: Find) -> Object:
    if (inverse := operation.invert(body, find(subject))) is not None:
        return inverse
    raise build_error(
        "SK123",
        f"`restore` cannot undo {operation.keyword} of {subject or 'no object'}",
        expected="a patch, scale or delete of an object of the app, or an object that the fault creates",
        fix=_BY_HAND,
    )


def reverse_merge(patch: Any, former: Any) -> Any:
    """Invert a JSON merge patch, given the object before it."""
    if not isinstance(patch, dict) or not isinstance(former, dict):
        return copy.deepcopy(former)
    return {k: reverse_merge(v, former[k]) if k in former else _drop(v, k) for k, v in patch.items()}


def reverse_strategic(patch: Any, former: Any, field: str = "") -> Any:
    """Invert a strategic merge patch, given the object before it."""
    if isinstance(patch, list) and isinstance(former, list):
        return _reverse_elements(patch, former, field)
    if not isinstance(patch, dict) or not isinstance(former, dict):
        return copy.deepcopy(former)
    if patch.get("$patch") in ("replace", "delete"):
        return {**copy.deepcopy(former), "$patch": "replace"}
    written = {k: v for k, v in patch.items() if not k.startswith("$")}
    return {k: reverse_strategic(v, former[k], k) if k in former else _drop(v, k) for k, v in written.items()}


def _drop(written: Any, field: str) -> Any:
    """Build the patch that removes a new field, but nothing that other changes added beside it."""
    if isinstance(written, dict) and field in _INDEPENDENT:
        return {k: _drop(v, k) for k, v in written.items()}
    if isinstance(written, list) and written and find_merge_key(field, written) is not None:
        return _reverse_elements(written, (), field)
    return None


def _reverse_elements(patch: Sequence[Any], former: Sequence[Any], field: str) -> list[Any]:
    key = find_merge_key(field, [*former, *patch])
    if key is None:
        return copy.deepcopy(list(former))
    before = {element[key]: element for element in former}
    found: list[Any] = []
    for element in patch:
        name = element[key]
        if name not in before:
            found.append({key: name, "$patch": "delete"})
        elif element.get("$patch") == "delete":
            found.append(copy.deepcopy(before[name]))
        else:
            found.append({key: name, **reverse_strategic({k: v for k, v in element.items() if k != key}, before[name])})
    return found


def reverse_json(patch: Iterable[Object], former: Any) -> list[Object]:
    """Invert a JSON patch (RFC 6902: add, replace, remove), last operation first.

    Raises:
        AuthoringError: it appends to a list, so the index of the entry is unknown.
    """
    found: list[Object] = []
    for step in reversed(list(patch)):
        path, operation = step["path"], step["op"]
        if path.endswith("/-"):
            raise build_error("SK123", f"`restore` cannot invert the append to {path}", fix=_BY_HAND)
        exists, value = _look_up(former, path)
        if operation == "add" and not exists:
            found.append({"op": "remove", "path": path})
        elif operation in ("add", "replace") and exists:
            found.append({"op": "replace", "path": path, "value": value})
        elif operation == "remove" and exists:
            found.append({"op": "add", "path": path, "value": value})
    return found


def _look_up(document: Any, path: str) -> tuple[bool, Any]:
    for key in split_pointer(path):
        if isinstance(document, list):
            if not key.isdigit() or int(key) >= len(document):
                return False, None
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return False, None
    return True, copy.deepcopy(document)


#: How to invert a patch, by its type.
INVERSES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Merge": reverse_merge,
    "Strategic": reverse_strategic,
    "Json": reverse_json,
}

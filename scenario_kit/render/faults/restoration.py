"""The changes that take back what a fault wrote: ``restore`` in its fixes, solutions and decoys. Pure.

Patches are turned round field by field, in the form in which they were written: what the rendered object had gets its
former value, what it did not have goes. Nothing else of the object is touched, so a repair survives other changes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

from scenario_kit.model import Object
from scenario_kit.render.faults.created_object import CREATING, spell_created
from scenario_kit.render.objects.merging import find_merge_key
from scenario_kit.render.templating.authoring_error import build_error

#: Finds a rendered object by its reference; None where the app has none of that name.
Find = Callable[[str], Object | None]
#: Operations that leave nothing behind that could be taken back.
_TRANSIENT: Final = ("restart",)
_BY_HAND: Final = "write the changes that take it back"
#: Mappings whose entries mean something each by itself; of others, a part alone is no valid object.
_INDEPENDENT: Final = frozenset(
    {"annotations", "data", "labels", "limits", "nodeSelector", "requests", "resources", "securityContext", "selector"}
)
#: Operations whose opposite needs nothing but the same fields.
_OPPOSITES: Final = {"cordon": "uncordon", "uncordon": "cordon", "taint": "untaint", "untaint": "taint"}


def build_restoration(
    changes: Sequence[Object], find: Find, refs: Collection[str] = (), field: str = ""
) -> list[Object]:
    """Build the changes that take back those of a fault, in their order.

    ``refs`` restricts it to some objects, ``field`` to what a patch writes at this path.

    Raises:
        AuthoringError: a change that has no inverse as data, or none of them is about ``refs``.
    """
    found: list[Object] = []
    for change in changes:
        operation = next(name for name in change if name != "until")
        body = change[operation]
        subject = spell_created(body) if operation in CREATING else str(body.get("target", ""))
        if operation not in _TRANSIENT and (not refs or subject in refs):
            selected = _select_field(operation, body, field) if field else body
            found += [] if selected is None else [_reverse(operation, selected, subject, find)]
    if not found:
        where = ", ".join(refs) or "the app"
        raise build_error(
            "SK123", f"`restore` takes back what the fault writes to {where}, and it writes nothing there"
        )
    return found


def _select_field(operation: str, body: Object, field: str) -> Object | None:
    """Return the patch without what it writes elsewhere than at ``field``; None where it writes nothing there."""
    if operation != "patch" or body["type"] == "Json":
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


def _reverse(operation: str, body: Object, subject: str, find: Find) -> Object:
    if operation in CREATING:
        return {"delete": {"target": subject}}
    if operation in _OPPOSITES:
        return {_OPPOSITES[operation]: body}
    former = find(subject)
    if former is not None and operation == "delete":
        return {"create": copy.deepcopy(former)}
    if former is not None and operation == "scale":
        return {"scale": {"target": subject, "replicas": former["spec"].get("replicas", 1)}}
    if former is not None and operation == "patch":
        return {"patch": {**body, "patch": _REVERSED[body["type"]](body["patch"], former)}}
    raise build_error(
        "SK123",
        f"`restore` cannot take back {operation} of {subject or 'no object'}",
        expected="a patch, scale or delete of an object of the app, or an object that the fault creates",
        fix=_BY_HAND,
    )


def reverse_merge(patch: Any, former: Any) -> Any:
    """Build the JSON merge patch that takes back another one, given the object as it was before."""
    if not isinstance(patch, dict) or not isinstance(former, dict):
        return copy.deepcopy(former)
    return {k: reverse_merge(v, former[k]) if k in former else _drop(v, k) for k, v in patch.items()}


def reverse_strategic(patch: Any, former: Any, field: str = "") -> Any:
    """Build the strategic merge patch that takes back another one, given the object as it was before."""
    if isinstance(patch, list) and isinstance(former, list):
        return _reverse_elements(patch, former, field)
    if not isinstance(patch, dict) or not isinstance(former, dict):
        return copy.deepcopy(former)
    if patch.get("$patch") in ("replace", "delete"):
        return {**copy.deepcopy(former), "$patch": "replace"}
    written = {k: v for k, v in patch.items() if not k.startswith("$")}
    return {k: reverse_strategic(v, former[k], k) if k in former else _drop(v, k) for k, v in written.items()}


def _drop(written: Any, field: str) -> Any:
    """Build the patch that takes away a field which was not there before, and nothing that others put beside it."""
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
    """Build the JSON patch that takes back another one (RFC 6902: add, replace, remove), last operation first.

    Raises:
        AuthoringError: it appends to a list; where the entry is later, only the author knows.
    """
    found: list[Object] = []
    for step in reversed(list(patch)):
        path, operation = step["path"], step["op"]
        if path.endswith("/-"):
            raise build_error("SK123", f"`restore` cannot tell where the patch of {path} puts its value", fix=_BY_HAND)
        there, value = _look_up(former, path)
        if operation == "add" and not there:
            found.append({"op": "remove", "path": path})
        elif operation in ("add", "replace") and there:
            found.append({"op": "replace", "path": path, "value": value})
        elif operation == "remove" and there:
            found.append({"op": "add", "path": path, "value": value})
    return found


def _look_up(document: Any, path: str) -> tuple[bool, Any]:
    for step in path.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            if not key.isdigit() or int(key) >= len(document):
                return False, None
            document = document[int(key)]
        elif isinstance(document, dict) and key in document:
            document = document[key]
        else:
            return False, None
    return True, copy.deepcopy(document)


_REVERSED: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "Merge": reverse_merge,
    "Strategic": reverse_strategic,
    "Json": reverse_json,
}

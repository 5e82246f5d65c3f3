"""Unneeded data on objects outside of the app: of nodes, namespaces and the like, only the changes are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from scenario_kit.lint.rules.leaks.needless.marks import find_unused_marks
from scenario_kit.lint.rules.leaks.needless.surroundings import Needless, ObjectSurroundings
from scenario_kit.lint.simulation.stages import Simulation
from scenario_kit.model import Object
from scenario_kit.model.json_document import split_pointer

_MARKS: Final = ("labels", "annotations")


def find_foreign_writes(stage: Simulation, world: ObjectSurroundings) -> Iterator[tuple[str, Needless]]:
    """Find unneeded data that changes write to other objects, with the object's kind and name."""
    known = {(o["kind"], o["metadata"]["name"]) for o in stage.before}
    for change in stage.changes:
        if change.target is None:
            continue
        keyword = change.operation.keyword
        for field, text in change.operation.list_texts():
            if strange := world.strange(text):
                reason = f"{keyword} '{text}': '{strange[0]}' is not a neutral word"
                yield change.target, Needless((keyword, field), text, reason)
        ref = change.operation.ref
        if ref is not None and change.operation.patches and (ref.kind, ref.name) not in known:
            obj = {"kind": ref.kind, "metadata": {"name": ref.name, **_extract_metadata(change.operation.document)}}
            yield from ((f"{ref.kind}/{ref.name}", found) for found in find_unused_marks(obj, None, world))


def _extract_metadata(patch: Any) -> Object:
    """Return the labels and annotations that a patch writes."""
    if isinstance(patch, Mapping):
        written = patch.get("metadata")
        return {k: v for k, v in written.items() if k in _MARKS} if isinstance(written, Mapping) else {}
    found: dict[str, dict[str, Any]] = {}
    for step in patch if isinstance(patch, list) else ():
        path = split_pointer(str(step.get("path", "")).strip("/"))
        if step.get("op") not in ("add", "replace") or path[:1] != ["metadata"] or path[1:2] == []:
            continue
        if path[1] in _MARKS and len(path) == 3:
            found.setdefault(path[1], {})[path[2]] = step.get("value")
        elif path[1] in _MARKS and isinstance(step.get("value"), Mapping):
            found.setdefault(path[1], {}).update(step["value"])
    return found

"""SK453: the field that a fault's entity names, compared with its changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scenario_kit.lint.context.catalog_context import FaultCase
from scenario_kit.lint.context.scenario_context import LintContext
from scenario_kit.lint.framework.rule import Problem, register_check
from scenario_kit.lint.simulation.field_diff import list_written_fields
from scenario_kit.model import App, Entity, Fault, Object
from scenario_kit.model.kubernetes.difference import list_leaves


@register_check("SK453", "Fault")
def check_unwritten_of_type(case: FaultCase) -> Iterator[Problem]:
    reported: set[int] = set()
    for rendering, fault in case.list_rendered():
        for i, entity in enumerate(fault.entities):
            if i not in reported and (fields := _list_other_fields(fault, entity, rendering.objects, rendering.app)):
                reported.add(i)
                message, seen, desired = _describe_unwritten(entity, fields)
                yield Problem(("entities",), message, seen, desired)


@register_check("SK453", "Scenario")
def check_unwritten(case: LintContext) -> Iterator[Problem]:
    if case.app is None or case.objects is None:
        return
    for place, _, fault in case.list_rendered():
        for entity in fault.entities:
            if fields := _list_other_fields(fault, entity, case.objects, case.app):
                message, seen, desired = _describe_unwritten(entity, fields)
                yield Problem((*place, "type"), f"fault type '{fault.type}': {message}", seen, desired)


def _describe_unwritten(entity: Entity, fields: Sequence[str]) -> tuple[str, str, str]:
    message = f"the entity names `{entity.field}` of {entity.ref}, but no change writes it"
    return message, entity.field, " or ".join(fields[:3])


def _list_other_fields(fault: Fault, entity: Entity, objects: Sequence[Object], app: App) -> list[str]:
    """List the fields of an object that are written instead of the entity's field; empty if that is written.

    Commands in a store are not checked, and neither are objects that no change touches: SK405 reports these.
    """
    if not entity.field or any(change.operation.runs_command for change in fault.changes):
        return []
    paths = {
        tuple(str(part) for part in field.path)
        for field in list_written_fields(fault.changes, objects, app)
        if (field.of.kind, field.of.name) == entity.ref.bare
    }
    paths |= {path for body in _list_created(fault, entity) for path in list_leaves(body)}
    patches = [
        c.operation.document
        for c in fault.changes
        if c.operation.patches and c.operation.about(None) == entity.ref.bare
    ]
    paths |= {path for patch in patches for path in _list_replaced(patch)}
    if () in paths or any(matches_path(entity.field, path) for path in paths):
        return []
    return sorted({".".join(path) for path in paths})


def _list_created(fault: Fault, entity: Entity) -> Iterator[dict[str, Any]]:
    for change in fault.changes:
        body = change.operation.manifest
        if body and (body.get("kind"), body.get("metadata", {}).get("name")) == entity.ref.bare:
            yield body


def _list_replaced(patch: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield maps that a strategic merge patch replaces, which may be absent in the rendered object."""
    if isinstance(patch, dict):
        if patch.get("$patch") == "replace":
            yield path
        for key, value in patch.items():
            yield from _list_replaced(value, (*path, key))


def matches_path(field: str, path: tuple[str, ...]) -> bool:
    """Return whether a dotted field is at ``path``, below it, or contains it.

    A field leaves out list indices: ``containers.image`` is the image of any container.
    """
    written_at = ".".join(path)
    if written_at == field or written_at.startswith(f"{field}.") or field.startswith(f"{written_at}."):
        return True
    desired, before = [part.partition("[")[0] for part in field.split(".")], ""
    for part in path:
        if desired and part == desired[0]:
            desired, before = desired[1:], part
        elif part.isdigit() or before.endswith("s") or before == "env":
            before = ""  # an index
        else:
            return False
        if not desired:
            return True
    return True

"""Default target of the changes and checks of a fault."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from scenario_kit.model.authored.change import list_operations

#: The field in which each kind of check names its object.
_SUBJECTS: Final[Mapping[str, str]] = {
    "probe": "target",
    "object": "ref",
    "endpoints": "service",
    "event": "entity",
    "log": "entity",
}
_TARGET: Final = "{{ target }}"


def fill_target(document: Any) -> Any:
    """Insert the fault's target into changes and checks that name no object."""
    if not isinstance(document, Mapping):
        return document
    return {key: _fill(body, field) if (field := _get_subject(key)) else body for key, body in document.items()}


def _get_subject(key: str) -> str:
    operation = list_operations().get(key)
    return "target" if operation is not None and operation.has_target else _SUBJECTS.get(key, "")


def _fill(body: Any, field: str) -> Any:
    return {field: _TARGET, **body} if isinstance(body, Mapping) else body

"""Parts of a fault that name no object are about its target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: Where operations and checks name the object that they are about.
_SUBJECTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("patch", "delete", "scale", "restart", "undoRollout", "probe"), "target"),
    "object": "ref",
    "endpoints": "service",
    "event": "entity",
    "log": "entity",
}
_TARGET: Final = "{{ target }}"


def fill_target(document: Any) -> Any:
    """Fill in the target of the fault where an operation or a check names no object."""
    if not isinstance(document, Mapping):
        return document
    return {key: _fill(body, _SUBJECTS[key]) if key in _SUBJECTS else body for key, body in document.items()}


def _fill(body: Any, field: str) -> Any:
    return {field: _TARGET, **body} if isinstance(body, Mapping) else body

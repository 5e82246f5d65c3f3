"""Loads the definition of an app's twin, ``twin.yaml``; an error says which line of the file is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from scenario_kit.errors import AuthoringError
from scenario_kit.load.overlay import select_version
from scenario_kit.load.yaml.document import Document, read_document
from scenario_kit.model import Finding, Object, Position, Severity
from scenario_kit.model.twin import DefinitionError, Place, TwinDefinition, decode, spell

#: Names of JSON types, as other mistakes of shape have them.
_JSON: Final[dict[type, str]] = {list: "array"}
#: The fix of every SK138.
FIX: Final = "correct the twin.yaml beside the app; docs/twin-reference.md describes every field"


def load_twin(path: Path, document: Object, app: str, version: str) -> TwinDefinition:
    """Decode the definition that ``path`` holds for one version of an app.

    Args:
        path: the file; it is read again only to locate an error.
        document: its content.
        app: name of the app.
        version: the version.

    Raises:
        AuthoringError: it is no definition of a twin (SK138).
    """
    try:
        _check_versions(document.get("versions"))
        return decode(select_version(document, version))
    except DefinitionError as error:
        message = f"the twin of {app} {version}: {error}"
        position = locate_field(read_document(path), version, error.place)
        finding = Finding(code="SK138", severity=Severity.ERROR, message=message, position=position, fix=FIX)
        raise AuthoringError(f"{position}: {message}", [finding], fix=FIX) from error


def _check_versions(parts: Any) -> None:
    """Raise where what is laid over the rest is no mapping."""
    places: dict[Place, Any] = {("versions",): parts}
    if isinstance(parts, dict):
        places |= {("versions", version): part for version, part in parts.items()}
    for place, part in places.items():
        if part is not None and not isinstance(part, dict):
            kind = _JSON.get(type(part), type(part).__name__)
            raise DefinitionError(f"Expected `object`, got `{kind}` - at `{spell(place)}`", place)


def locate_field(document: Document, version: str, place: Place) -> Position:
    """Locate where a field of a version is written: in the part of that version, or in what all versions share."""
    own = ("versions", version, *place)
    return document.positions.key(*(own if _has_field(document.data, own) else place))


def _has_field(data: Any, place: Place) -> bool:
    for part in place:
        known = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part not in known:
            return False
        data = data[part]
    return True

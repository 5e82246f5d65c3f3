"""Load the definition of an app's twin, ``twin.yaml``; errors include the line of the file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import structs

from scenario_kit.errors import AuthoringError
from scenario_kit.load.overlay import select_version
from scenario_kit.load.schema.former_names import FormerName, find_former_names, load_former_twin_names
from scenario_kit.load.schema.validation import find_schema_mistakes, report_former_names
from scenario_kit.load.yaml.document import Document, Positions, read_document
from scenario_kit.model import Finding, Object, Position, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.spelling import did_you_mean
from scenario_kit.model.twin import DefinitionError, TwinDefinition, TwinDocument, decode, resolve_assumptions, spell
from scenario_kit.schema.source import FORMER_NAMES

#: Names of JSON types, as in other validation errors.
_JSON: Final[dict[type, str]] = {list: "array"}
#: The fix of SK138.
FIX: Final = "correct the twin.yaml beside the app; docs/twin-reference.md describes every field"


def load_twin(path: Path, document: Object, app: str, version: str) -> TwinDefinition:
    """Decode the definition for one version of an app.

    Args:
        path: the file, read again to locate an error.
        document: its content.
        app: name of the app.
        version: the version.

    Raises:
        AuthoringError: the definition is invalid, or has fields with former names (SK138).
    """
    try:
        _check_versions(document.get("versions"))
        return decode(select_version(document, version))
    except DefinitionError as error:
        written = read_document(path)
        if former := list_former_names(document):
            found = [mistake.finding for mistake in report_former_names(former, written.positions, "SK138")]
            raise AuthoringError(f"{found[0].position}: the twin of {app}: {found[0].message}", found) from error
        found = _find_misshapen(written, document, version) or [
            _explain(error, locate_field(written, version, error.place))
        ]
        found = [structs.replace(each, message=f"the twin of {app} {version}: {each.message}") for each in found]
        raise AuthoringError(f"{found[0].position}: {found[0].message}", found, fix=found[0].fix) from error


def _explain(error: DefinitionError, position: Position) -> Finding:
    fix = did_you_mean(error.observed, error.allowed) if error.allowed else FIX
    return Finding(
        code="SK138", severity=Severity.ERROR, message=str(error), position=position, observed=error.observed, fix=fix
    )


def _find_misshapen(written: Document, document: Object, version: str) -> list[Finding]:
    """Find everything that contradicts the types of the fields; empty if the error is of another kind."""
    try:
        _check_versions(document.get("versions"))
        resolved, _ = resolve_assumptions(select_version(document, version))
    except DefinitionError:
        return []
    found = find_schema_mistakes(resolved, _build_schema(), _overlay_positions(written.positions, version))
    return [
        structs.replace(each.finding, code="SK138", fix=each.finding.fix or FIX) for each in found if not each.follows
    ]


@cache
def _build_schema() -> Object:
    """Return the JSON Schema of a twin with resolved assumptions."""
    (root,), types = msgspec.json.schema_components([TwinDocument], ref_template="#/$defs/{name}")
    return {**root, "$defs": types}


def _overlay_positions(positions: Positions, version: str) -> Positions:
    """Return the positions of a version's document: those of its own part take precedence."""
    return positions.overlay(positions.within(("versions", version)))


def list_former_names(document: Any) -> tuple[FormerName, ...]:
    """List the fields with former names, including those of single versions."""
    return tuple(find_former_names(document, *_describe_twin()))


@cache
def _describe_twin() -> tuple[Object, Place, Object]:
    """Return a schema with former names, the root place, and the definitions of types."""
    _, types = msgspec.json.schema_components([TwinDocument], ref_template="{name}")
    former = load_former_twin_names()
    types = {name: {**schema, FORMER_NAMES: former.get(name, {})} for name, schema in types.items()}
    whole = types[TwinDocument.__name__]
    parts = {"additionalProperties": {"$ref": TwinDocument.__name__}}
    return {**whole, "properties": {**whole["properties"], "versions": parts}}, (), types


def _check_versions(parts: Any) -> None:
    """Raise if `versions`, or one of them, is not a mapping."""
    places: dict[Place, Any] = {("versions",): parts}
    if isinstance(parts, dict):
        places |= {("versions", version): part for version, part in parts.items()}
    for place, part in places.items():
        if part is not None and not isinstance(part, dict):
            kind = _JSON.get(type(part), type(part).__name__)
            raise DefinitionError(f"Expected `object`, got `{kind}` - at `{spell(place)}`", place)


def locate_field(document: Document, version: str, place: Place) -> Position:
    """Return the position of a field: in the part of the version, or in the shared part."""
    own = ("versions", version, *place)
    return document.positions.key(*(own if _has_field(document.data, own) else place))


def _has_field(data: Any, place: Place) -> bool:
    for part in place:
        known = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
        if part not in known:
            return False
        data = data[part]
    return True

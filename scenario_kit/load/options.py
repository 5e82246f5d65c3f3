"""Find mistakes in the options of an app: contradictions, needs of unknown values, values of load profiles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenario_kit.load.overlay import select_version
from scenario_kit.load.schema.contradictions import find_contradictions
from scenario_kit.load.schema.validation import find_mistakes
from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import Finding, Object, Severity
from scenario_kit.model.json_document import Place, get_part
from scenario_kit.model.spelling import did_you_mean


def report_contradictions(schema: Any, positions: Positions, place: Place) -> Iterator[Finding]:
    """Yield the contradictions of a valid schema that is at ``place`` in a document."""
    for found in find_contradictions(schema):
        yield _build_error(positions, (*place, *found.place), found.message, found.fix)


def find_option_mistakes(data: Object, positions: Positions) -> list[Finding]:
    """Return the mistakes in the options of a valid ``app.yaml``, of all versions."""
    found = [*report_contradictions(data.get("options") or {}, positions, ("options",))]
    found += _find_in_needs(data.get("options") or {}, positions, ("options",))
    for version in () if found else data["versions"]:
        place: Place = ("versions", version, "options")
        if own := get_part(data, place):
            found += report_contradictions(select_version(data, version).get("options") or {}, positions, place)
            found += _find_in_needs(own, positions, place)
    found = found or list(_find_without_default(data, positions))
    return found or [*_find_in_profiles(data, positions)]


def _find_without_default(data: Object, positions: Positions) -> Iterator[Finding]:
    """Yield options that have no value unless a scenario chooses one: templates could not use them otherwise."""
    reported: set[str] = set()
    for version in data["versions"]:
        properties = (select_version(data, version).get("options") or {}).get("properties") or {}
        for name, schema in properties.items():
            if isinstance(schema, dict) and "default" not in schema and name not in reported:
                reported.add(name)
                own: Place = ("versions", version, "options", "properties", name)
                place = own if get_part(data, own) is not None else ("options", "properties", name)
                message = f"option '{name}' has no default, so a scenario that does not choose it has no value for it"
                yield _build_error(positions, place, message, "write `default`: the value that most scenarios use")


def _find_in_profiles(data: Object, positions: Positions) -> Iterator[Finding]:
    """Yield what no version accepts of the option values of load profiles."""
    schemas = [select_version(data, version).get("options") or {} for version in data["versions"]]
    for name, profile in (data.get("loads") or {}).items():
        if values := profile.get("options"):
            rejected = [
                find_mistakes(
                    values,
                    {"type": "object", "additionalProperties": False, **schema},
                    positions,
                    ("loads", name, "options"),
                )
                for schema in schemas
            ]
            if all(rejected):
                yield from (mistake.finding for mistake in rejected[0] if not mistake.follows)


def _find_in_needs(schema: Object, positions: Positions, place: Place) -> Iterator[Finding]:
    """Yield values of ``x-requires`` that are not lists of capabilities, or belong to a value that does not exist."""
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        needs = part.get("x-requires", {}) if isinstance(part, dict) else {}
        at = (*place, "properties", name, "x-requires")
        groups = needs.values() if isinstance(needs, dict) else [None]
        if not all(isinstance(group, list) and all(isinstance(need, str) for need in group) for group in groups):
            message = f"`x-requires` of option '{name}' does not map values to capabilities"
            yield _build_error(positions, at, message, "x-requires: {<value>: [<capability>]}")
            continue
        known = ["true", "false"] if part.get("type") == "boolean" else [str(value) for value in part.get("enum", ())]
        for value in needs if known else ():
            if str(value).lower() not in [each.lower() for each in known]:
                message = f"option '{name}' has no value '{value}', for which `x-requires` names capabilities"
                yield _build_error(positions, (*at, value), message, did_you_mean(str(value), known))


def _build_error(positions: Positions, place: Place, message: str, fix: str) -> Finding:
    return Finding(code="SK104", severity=Severity.ERROR, message=message, position=positions.key(*place), fix=fix)

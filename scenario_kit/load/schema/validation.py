"""Validate documents by schemas: report every mistake with code, position and suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scenario_kit.load.schema.autofix import fix_field_name, fix_missing, fix_value
from scenario_kit.load.schema.fast_validation import fits
from scenario_kit.load.schema.former_names import FormerName, find_former_names, list_renames, translate_positions
from scenario_kit.load.schema.schemas import build_validator
from scenario_kit.load.schema.units import convert_to_unit
from scenario_kit.load.yaml.document import Positions, quote_place
from scenario_kit.load.yaml.edit import Edit, Rename, rename_fields
from scenario_kit.model import Finding, Position, Severity
from scenario_kit.model.json_document import Place
from scenario_kit.model.shortening import shorten_text
from scenario_kit.model.spelling import did_you_mean, suggest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_WORDS = {
    "object": "an object", "array": "a list", "string": "text", "integer": "an integer", "boolean": "true or false",
    "number": "a number", "null": "nothing",
}  # fmt: skip
#: The keyword of a schema for other words that authors use for its values.
SYNONYMS: Final = "x-synonyms"
#: Maximum number of reported mistakes per file.
MOST: Final = 100
#: A place in a message with at least one step; single field names are part of the message.
_PLACE: Final = re.compile(r"`[^`\s]+[.\[][^`\s]*`")
_DURATION: Final = f"^(0|{''.join(f'([0-9]+{unit})?' for unit in ('y', 'w', 'd', 'h', 'm', 's', 'ms'))})$"
_KEBAB = "lower-case letters, digits and '-', for example 'cart-down'"
_PATTERNS = {
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": _KEBAB,
    "^https?://": "a URL that starts with http:// or https://",
    "^SK[0-9]{3}$": "a code such as 'SK210'",
    "^[0-9]{4}-(0[1-9]|1[0-2])$": "a year and month such as '2027-01'",
    _DURATION: "a duration such as '5m' or '1h30m'",
    "^[a-zA-Z_:][a-zA-Z0-9_:]*$": "a name of letters, digits, '_' and ':', for example 'job:errors:rate5m'",
    "^[A-Z][A-Za-z0-9]*(\\.[a-z0-9][-a-z0-9.]*)?$": "a kind such as 'Deployment'",
}


class LocatedFinding(NamedTuple):
    """A finding and the edits that fix it; none if there are several ways.

    ``follows`` marks a consequence of another mistake in the same object.
    """

    finding: Finding
    edits: tuple[Edit, ...] = ()
    follows: bool = False


def find_mistakes(data: Any, schema: dict[str, Any], positions: Positions, within: Place = ()) -> list[LocatedFinding]:
    """Return the mistakes in ``data`` in the order of the file, up to ``MOST`` and a last one that says so.

    ``within`` is the place of the data in the document.
    """
    found: Iterator[LocatedFinding] = iter(())
    if not fits(data, schema):
        former = tuple(find_former_names(data, schema, within))
        if former:
            found = iter(report_former_names(former, positions))
            names = {each.place: each.name for each in former}
            data, positions = rename_fields(data, names, within), translate_positions(positions, names)
        found = chain(found, _translate_errors(data, schema, positions, within))
    return _collect(chain(found, (LocatedFinding(f) for f in _find_duplicates(data, schema, within, positions))))


def find_schema_mistakes(data: Any, schema: dict[str, Any], positions: Positions) -> list[LocatedFinding]:
    """Return as ``find_mistakes`` does what contradicts a schema that may have references and knows no former names."""
    return _collect(_translate_errors(data, schema, positions, ()))


def _translate_errors(
    data: Any, schema: dict[str, Any], positions: Positions, within: Place
) -> Iterator[LocatedFinding]:
    for error in _leaves(build_validator()(schema).iter_errors(data)):
        yield from _translate_error(error, positions, within)


def _collect(found: Iterator[LocatedFinding]) -> list[LocatedFinding]:
    """Return the mistakes without repetitions in the order of the file, up to ``MOST`` and a last one that says so."""
    unique: dict[tuple[str, str, str], LocatedFinding] = {}
    for mistake in islice(found, MOST):  # aliases repeat mistakes at one position
        finding = mistake.finding
        unique.setdefault((finding.code, _PLACE.sub("", finding.message), str(finding.position)), mistake)
    reported = sorted(unique.values(), key=_rank)
    return reported if next(found, None) is None else [*reported, _report_more(reported[-1].finding.position)]


def report_former_names(
    former: Sequence[FormerName], positions: Positions, code: str = "SK102"
) -> list[LocatedFinding]:
    """Report each former name once; edits are included if the whole file can be rewritten."""
    rewritable = bool(list_renames(former))
    written = {positions.key(*each.place) if positions.has_key(*each.place) else each.place: each for each in former}
    return [
        LocatedFinding(
            Finding(
                code=code,
                severity=Severity.ERROR,
                message=each.message,
                position=positions.key(*each.place),
                observed=f"`{each.place[-1]}`",
                expected=f"`{each.name}`",
                fix=each.fix,
                fixable=rewritable,
            ),
            (Rename(each.place, each.name),) if rewritable else (),
        )
        for each in written.values()
    ]


def _report_more(position: Position | None) -> LocatedFinding:
    message = f"there are more than {MOST} mistakes; the others are reported once these are fixed"
    at = position or Position(path="")
    return LocatedFinding(_build_finding("SK104", message, at, fix="fix these first"))


def _rank(mistake: LocatedFinding) -> tuple[int, int]:
    at = mistake.finding.position
    return (at.line, at.column) if at else (0, 0)


def _leaves(errors: Iterable[ValidationError]) -> Iterator[ValidationError]:
    """Yield the leaf errors; of alternatives (``anyOf``), those of the first branch, which is strict for templates."""
    for error in errors:
        if error.validator == "anyOf" and error.context:
            yield from _leaves(e for e in error.context if e.schema_path[0] == 0)
        else:
            yield error


def _translate_error(error: ValidationError, positions: Positions, within: Place) -> Iterator[LocatedFinding]:
    place: Place = (*within, *error.absolute_path)
    rule, desired, got = str(error.validator), error.validator_value, error.instance
    here = quote_place(place)
    at = positions.value(*place)
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        for name in got:
            if name not in known:
                key, fix = positions.key(*place, name), did_you_mean(name, known)
                if got[name] is None and " " in str(name):
                    fix = "quote the text before it: in braces, a comma ends an unquoted text"
                reported = _build_finding("SK102", f"`{shorten_text(name)}` is not a field of {here}", key, fix=fix)
                yield LocatedFinding(reported, fix_field_name(place, name, known, got))
    elif rule == "required":
        unknown = [key for key in got if key not in error.schema.get("properties", {})]
        for name in desired:
            if name not in got:
                fix = f"add `{name}`: {_describe_field(error.schema, name)}"
                reported = _build_finding("SK103", f"{here} lacks the required field `{name}`", at, fix=fix)
                yield LocatedFinding(
                    reported, fix_missing(place, name, error.schema), _is_misspelling(name, unknown, error.schema)
                )
    elif rule == "oneOf":
        known = error.schema.get("properties", {})
        misspelled = isinstance(got, dict) and any(key not in known and suggest(key, known) for key in got)
        yield LocatedFinding(_report_alternatives(error, here, at), follows=bool(known) and misspelled)
    else:
        code, expected, fix = _describe_expected(error, place)
        must = f"must {expected}" if rule not in ("type", "enum", "pattern") else f"must be {expected}"
        observed = _format_value(got)
        reported = _build_finding(code, f"{here} {must}, but is {observed}", at, observed, expected, fix)
        yield LocatedFinding(reported, fix_value(place, rule, desired, got, positions.raw.get(place)))


def _is_misspelling(name: str, unknown: Iterable[str], schema: dict[str, Any]) -> bool:
    """Return whether an unknown field is a misspelling of this one; then it is not reported as missing too."""
    known = schema.get("properties", {})
    return any(name in suggest(key, known) for key in unknown)


def _describe_expected(error: ValidationError, place: Place) -> tuple[str, str, str]:
    """Return code, expectation and fix for an invalid value."""
    rule, desired, got = str(error.validator), error.validator_value, error.instance
    if rule == "type":
        expected = describe_type(error.schema)
        meant = convert_to_unit(str(place[-1]), got) if desired in ("integer", "number") and place else None
        return "SK104", expected, f"write {expected if meant is None else meant}"
    if rule == "enum":
        expected = " or ".join(f"'{value}'" for value in desired)
        meant = error.schema.get(SYNONYMS, {}).get(str(got).lower())
        fix = f"write `{meant}`" if meant else did_you_mean(str(got), [str(value) for value in desired if value != ""])
        return "SK105" if place == ("apiVersion",) else "SK104", expected, fix
    if rule == "pattern":
        reference = "a reference such as 'Deployment/cart'" if "[A-Z]" in desired else f"text that matches {desired}"
        expected = _PATTERNS.get(desired, reference)
        return "SK106" if place[-1:] == ("name",) else "SK104", expected, f"write {expected}"
    if rule == "not" and "pattern" in desired:
        expected = f"not match {desired['pattern']}"
        return "SK104", expected, f"it must {expected}"
    expected = _limit(rule, desired)
    return "SK104", expected, f"it must {expected}"


def describe_type(schema: dict[str, Any]) -> str:
    """Describe the values of a type, and within which bounds numbers are."""
    expected = _WORDS.get(str(schema.get("type")), str(schema.get("type")))
    if {"minimum", "maximum"} <= schema.keys():
        expected += f" from {schema['minimum']} to {schema['maximum']}"
    return expected


def _report_alternatives(error: ValidationError, here: str, at: Position) -> Finding:
    branches = [branch for branch in error.validator_value if isinstance(branch, dict)]
    names = [branch["required"][0] for branch in branches if branch.get("required")]
    given = [name for name in names if isinstance(error.instance, dict) and name in error.instance]
    expected = "exactly one of " + ", ".join(f"`{name}`" for name in names)
    observed = " and ".join(f"`{name}`" for name in given) or "none of them"
    fix = f"keep one of {observed}" if given else f"add one of {', '.join(f'`{name}`' for name in names)}"
    return _build_finding("SK104", f"{here} must have {expected}, but has {observed}", at, observed, expected, fix)


def _find_duplicates(data: Any, schema: dict[str, Any], place: Place, positions: Positions) -> Iterator[Finding]:
    """Report entries of a keyed list with the same key, which the API server rejects but JSON Schema cannot express."""
    if isinstance(data, dict):
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name, value in data.items():
            part = fields.get(name, others)
            if isinstance(part, dict):
                yield from _find_duplicates(value, part, (*place, name), positions)
    elif isinstance(data, list) and "items" in schema:
        keys = schema.get("x-kubernetes-list-map-keys", ())
        seen: dict[tuple[str, ...], int] = {}
        for i, item in enumerate(data):
            yield from _find_duplicates(item, schema["items"], (*place, i), positions)
            if keys and isinstance(item, dict):
                key = tuple(str(item.get(k)) for k in keys)
                if key in seen and None not in [item.get(k) for k in keys]:
                    message = (
                        f"{quote_place((*place, i))} has the same {keys[0]} as entry {seen[key]}: "
                        f"'{shorten_text(key[0])}'"
                    )
                    yield _build_finding(
                        "SK106", message, positions.value(*place, i, keys[0]), fix="give it another name"
                    )
                seen.setdefault(key, i)


def _describe_field(schema: dict[str, Any], name: str) -> str:
    return str(schema.get("properties", {}).get(name, {}).get("description", "its value"))


def _format_value(value: Any) -> str:
    if isinstance(value, str):
        return f"the text '{shorten_text(value)}'"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "empty"}[value]
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    return f"{value}"


def _limit(rule: str, desired: Any) -> str:
    texts = {
        "minimum": "be at least {}", "maximum": "be at most {}", "exclusiveMinimum": "be above {}",
        "minLength": "have at least {} characters", "maxLength": "have at most {} characters",
        "minProperties": "have at least {} fields", "maxProperties": "have at most {} fields",
        "minItems": "have at least {} entries", "maxItems": "have at most {} entries",
    }  # fmt: skip
    return texts.get(rule, rule + " {}").format(desired)


def _build_finding(
    code: str, message: str, at: Position, observed: str = "", expected: str = "", fix: str = ""
) -> Finding:
    return Finding(
        code=code, severity=Severity.ERROR, message=message, position=at, observed=observed, expected=expected, fix=fix
    )

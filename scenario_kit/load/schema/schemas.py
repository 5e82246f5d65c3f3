"""Validate untrusted JSON Schemas (of a fault's parameters and an app's options), and values by them.

jsonschema follows any reference, matches patterns with `re`, and compares all pairs of list entries. So schemas are
restricted, and the work of validation is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scenario_kit.load.schema.fast_validation import fits
from scenario_kit.load.yaml.document import Positions
from scenario_kit.model import Finding, Severity
from scenario_kit.model.authored.parameter_lookup import KEYWORD, LOOKUPS
from scenario_kit.model.json_document import Place
from scenario_kit.model.re2 import compile_pattern

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

#: Maximum size of a schema or a value, and of the product of both.
MOST_PARTS: Final = 1_000
MOST_PAIRS: Final = 200_000
#: Maximum number of reported errors.
MOST: Final = 20
#: Maximum length of a message of jsonschema, which repeats the value.
_REPORTED: Final = 200
#: Keywords that refer to other schemas or dialects, or validate a value repeatedly.
_REFUSED: Final = frozenset({"patternProperties", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas"})
_HARMLESS: Final = frozenset({"$comment"})


class Violation(NamedTuple):
    """A validation error: its place, message, and the invalid part of the value."""

    place: Place
    message: str
    instance: Any


def find_violations(value: Any, schema: dict[str, Any]) -> list[Violation]:
    """Return up to ``MOST`` errors of a value by a valid schema."""
    if reported := explain_too_much(value, schema):
        return [Violation((), reported, None)]
    if fits(value, schema):
        return []
    return [
        Violation(tuple(e.absolute_path), _describe(e), e.instance)
        for e in islice(build_validator()(schema).iter_errors(value), MOST)
    ]


def _describe(error: ValidationError) -> str:
    """Return the message of an error, with a value of a wrong type as YAML and JSON write it."""
    if error.validator == "type":
        return f"{json.dumps(error.instance)[:_REPORTED]} is not of type {error.validator_value!r}"
    return str(error.message[:_REPORTED])


def explain_too_much(value: Any, schema: dict[str, Any]) -> str:
    """Explain that a value is too large for its schema; empty if it is not."""
    parts = _count_parts(value)
    most = min(MOST_PARTS, MOST_PAIRS // _count_parts(schema))
    return f"the value has {parts} parts; with this schema, at most {most} can be validated" if parts > most else ""


@lru_cache(maxsize=1)
def build_validator() -> Any:
    """Build a jsonschema validator with RE2 patterns and strict integers."""
    from jsonschema import Draft202012Validator  # slow to import, and rarely needed
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def matched(_: Any, desired: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not compile_pattern(desired).found_in(instance):
            yield ValidationError(f"{instance[:_REPORTED]!r} does not match {desired!r}")

    # JSON does not distinguish 480 and 480.0; integer fields accept only the former.
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return extend(Draft202012Validator, {"pattern": matched}, type_checker=types)


def check_schema(schema: Any, positions: Positions, place: Place) -> list[Finding]:
    """Return the errors of a schema of parameters or options."""
    if not schema:
        return []
    size = _count_parts(schema)
    if size > MOST_PARTS:
        reported = f"`{place[-1]}` has {size} values; a schema may have {MOST_PARTS}"
        return [_build_error(positions, place, reported, "simplify the schema")]
    judge = build_validator()
    broken = [
        _build_error(
            positions, (*place, *e.absolute_path), f"`{place[-1]}` is not a JSON Schema: {e.message[:_REPORTED]}",
            "see json-schema.org, draft 2020-12",
        )
        for e in islice(judge(judge.META_SCHEMA).iter_errors(schema), MOST)
    ]  # fmt: skip
    for name, part in (schema.get("properties") or {}).items() if not broken and isinstance(schema, dict) else ():
        if not isinstance(part, dict):
            at = (*place, "properties", name)
            broken.append(_build_error(positions, at, f"`{name}` has no schema", "write type and default"))
    return [*broken, *islice(_check_keywords(schema, positions, place), MOST)]


def _check_keywords(schema: Any, positions: Positions, place: Place, names: bool = False) -> Iterator[Finding]:
    """Report unsupported keywords and invalid patterns; with ``names``, keys are field names."""
    if isinstance(schema, list):
        for i, part in enumerate(schema):
            yield from _check_keywords(part, positions, (*place, i))
    if not isinstance(schema, dict):
        return
    for name, part in schema.items():
        at = (*place, name)
        if names:
            yield from _check_keywords(part, positions, at)
        elif name == KEYWORD and part not in LOOKUPS:
            yield _build_error(positions, at, f"there is no lookup '{part}'", f"one of {', '.join(LOOKUPS)}")
        elif name in DATA_KEYWORDS:
            continue
        elif name == "pattern" and isinstance(part, str):
            try:
                compile_pattern(part)
            except ValueError as error:
                yield _build_error(positions, at, f"invalid pattern: {error}", "use RE2 syntax")
        elif name in _REFUSED or (name.startswith("$") and name not in _HARMLESS):
            reported = f"`{name}` is not available in parameters and options"
            yield _build_error(positions, at, reported, "use other keywords")
        else:
            yield from _check_keywords(part, positions, at, names=name in ("properties", "$defs"))


#: Keywords with values instead of schemas.
DATA_KEYWORDS: Final = ("default", "enum", "const", "examples", "x-choices", "x-lookup", "x-requires")


def _count_parts(value: Any) -> int:
    """Count the values of which a value consists, including itself and field names."""
    count, left = 0, [value]
    while left:
        part = left.pop()
        count += 1
        if isinstance(part, dict):
            count += len(part)
            left += part.values()
        elif isinstance(part, list):
            left += part
    return count


def _build_error(positions: Positions, place: Place, message: str, fix: str) -> Finding:
    return Finding(code="SK104", severity=Severity.ERROR, message=message, position=positions.value(*place), fix=fix)

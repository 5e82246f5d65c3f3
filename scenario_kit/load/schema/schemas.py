"""JSON Schemas that a stranger wrote, of a fault's parameters and an app's options: judged, and judged by.

The library follows references to anywhere, matches patterns with Python's matcher, and compares every entry of a list
with every other. So what a schema may say is bounded, and the work of judging a value by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scenario_kit.load.schema.fast_validation import fits
from scenario_kit.load.yaml.document import Path_, Positions
from scenario_kit.model import Finding, Severity
from scenario_kit.model.authored.parameter_lookup import KEYWORD, LOOKUPS
from scenario_kit.model.kubernetes.re2 import compile_pattern

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

#: Values that a schema or what it judges may consist of, and the pairs of one of these and one of those.
MOST_PARTS: Final = 1_000
MOST_PAIRS: Final = 200_000
#: Mistakes that are told of one schema, or of one value.
MOST: Final = 20
#: Characters of the library's message that are told: it repeats the value.
_REPORTED: Final = 200
#: Keywords that reach other schemas, name another dialect, or judge the same value again and again.
_REFUSED: Final = frozenset({"patternProperties", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas"})
_HARMLESS: Final = frozenset({"$comment"})


class Violation(NamedTuple):
    """Where a value does not fit a schema, and why; ``instance`` is the part that does not."""

    place: Path_
    message: str
    instance: Any


def find_violations(value: Any, schema: dict[str, Any]) -> list[Violation]:
    """Find why a value does not fit a schema that has no mistakes: at most ``MOST`` reasons; none where it fits."""
    if reported := explain_too_much(value, schema):
        return [Violation((), reported, None)]
    if fits(value, schema):
        return []
    return [
        Violation(tuple(e.absolute_path), e.message[:_REPORTED], e.instance)
        for e in islice(build_validator()(schema).iter_errors(value), MOST)
    ]


def explain_too_much(value: Any, schema: dict[str, Any]) -> str:
    """Explain why a value is not judged by a schema at all; empty where it can be."""
    parts = _count_parts(value)
    most = min(MOST_PARTS, MOST_PAIRS // _count_parts(schema))
    return f"{parts} values are too many: by this schema, at most {most} can be judged" if parts > most else ""


@lru_cache(maxsize=1)
def build_validator() -> Any:
    """Build the library's validator, whose patterns are RE2's, and whose integers are written as such."""
    from jsonschema import Draft202012Validator  # slow to import, and most values fit
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def matched(_: Any, desired: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        if isinstance(instance, str) and not compile_pattern(desired).found_in(instance):
            yield ValidationError(f"{instance[:_REPORTED]!r} does not match {desired!r}")

    # JSON knows no difference between 480 and 480.0; a field that is read as an integer takes only the former.
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return extend(Draft202012Validator, {"pattern": matched}, type_checker=types)


def check_schema(schema: Any, positions: Positions, place: Path_) -> list[Finding]:
    """Return what is wrong with the schema of parameters or options, which stands at ``place``."""
    if not schema:
        return []
    size = _count_parts(schema)
    if size > MOST_PARTS:
        reported = f"`{place[-1]}` has {size} values; a schema may have {MOST_PARTS}"
        return [_build_error(positions, place, reported, "describe fewer, or more simply")]
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
            broken.append(
                _build_error(positions, at, f"`{name}` is not described by a schema", "write type and default")
            )
    return [*broken, *islice(_check_keywords(schema, positions, place), MOST)]


def _check_keywords(schema: Any, positions: Positions, place: Path_, names: bool = False) -> Iterator[Finding]:
    """Check for keywords that cannot be used, and patterns that are none; ``names``: keys are names of fields, not
    keywords.
    """
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
            yield _build_error(positions, at, f"there is no look-up '{part}'", f"one of {', '.join(LOOKUPS)}")
        elif name in _DATA:
            continue
        elif name == "pattern" and isinstance(part, str):
            try:
                compile_pattern(part)
            except ValueError as error:
                yield _build_error(
                    positions, at, f"the pattern cannot be used: {error}", "write it in the syntax of RE2"
                )
        elif name in _REFUSED or (name.startswith("$") and name not in _HARMLESS):
            reported = f"`{name}` is not available in parameters and options"
            yield _build_error(positions, at, reported, "write the schema out, with other keywords")
        else:
            yield from _check_keywords(part, positions, at, names=name in ("properties", "$defs"))


#: Keywords that hold values, not schemas.
_DATA: Final = ("default", "enum", "const", "examples", "x-choices", "x-lookup", "x-requires")


def _count_parts(value: Any) -> int:
    """Count of how many values one consists, itself and the names of its fields included."""
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


def _build_error(positions: Positions, place: Path_, message: str, fix: str) -> Finding:
    return Finding(code="SK104", severity=Severity.ERROR, message=message, position=positions.value(*place), fix=fix)

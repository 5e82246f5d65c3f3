"""Label selectors in text form (queries, annotations) and as objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

_KEY = r"(?P<key>[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?)"
_SET = re.compile(rf"\s*{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)\s*")
_EQUAL = re.compile(rf"\s*{_KEY}\s*(?P<operator>==|=|!=)\s*(?P<values>[-A-Za-z0-9_./]*)\s*")
_EXISTS = re.compile(rf"\s*(?P<operator>!?)\s*{_KEY}\s*")


class Requirement(NamedTuple):
    """One requirement. ``values`` is None if only the key matters; ``desired`` is False for an exclusion."""

    key: str
    values: frozenset[str] | None
    desired: bool

    def admits(self, fields: Mapping[str, str]) -> bool:
        """Return whether labels meet it; a missing key meets an exclusion by value."""
        found = self.key in fields and (self.values is None or fields[self.key] in self.values)
        return found == self.desired


Selector = frozenset[Requirement]

#: Valid label values and keys.
_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_NAME: Final = re.compile(
    r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def parse(text: str) -> Selector:
    """Parse a selector in text form.

    Raises:
        ValueError: it is invalid.
    """
    found = []
    rest = text.strip()
    while rest:
        match = _SET.match(rest) or _EQUAL.match(rest) or _EXISTS.match(rest)
        end = match.end() if match else 0
        if match is None or (end < len(rest) and rest[end] != ","):
            raise ValueError(f"unable to parse requirement: {rest!r}")
        found.append(_parse_requirement(match))
        rest = rest[end + 1 :].strip()
    return frozenset(found)


def parse_object(selector: Mapping[str, Any]) -> Selector:
    """Parse ``matchLabels`` and ``matchExpressions``.

    Raises:
        ValueError: the API server would reject a key, an operator or a value.
    """
    found = [
        Requirement(check_key(key), frozenset((check_value(value),)), True)
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for each in selector.get("matchExpressions") or ():
        key, operator, values = check_key(each.get("key", "")), each.get("operator"), each.get("values") or ()
        if operator not in _OPERATORS:
            raise ValueError(f'"{operator}" is not a valid label selector operator')
        listed = operator in ("In", "NotIn")
        if listed != bool(values):
            desired = "for 'in', 'notin' operators, values set can't be empty"
            raise ValueError(desired if listed else "values set must be empty for exists and does not exist")
        chosen = frozenset(check_value(value) for value in values) if listed else None
        found.append(Requirement(key, chosen, operator in ("In", "Exists")))
    return frozenset(found)


def check_value(value: Any) -> str:
    """Validate a label value.

    Raises:
        ValueError: it is invalid.
    """
    if not isinstance(value, str) or _VALUE.fullmatch(value) is None:
        raise ValueError(f"a valid label must be an empty string or consist of alphanumeric characters: {value!r}")
    return value


def check_key(key: Any) -> str:
    """Validate a label key.

    Raises:
        ValueError: it is invalid.
    """
    if not isinstance(key, str) or _NAME.fullmatch(key) is None:
        raise ValueError(f"name part must consist of alphanumeric characters, '-', '_' or '.': {key!r}")
    return key


def admits(selector: Selector, fields: Mapping[str, str]) -> bool:
    """Return whether labels meet every requirement."""
    return all(requirement.admits(fields) for requirement in selector)


def _parse_requirement(match: re.Match[str]) -> Requirement:
    key, operator = match["key"], match["operator"]
    if operator in ("in", "notin"):
        return Requirement(key, frozenset(v.strip() for v in match["values"].split(",")), operator == "in")
    if operator in ("=", "==", "!="):
        return Requirement(key, frozenset((match["values"],)), operator != "!=")
    return Requirement(key, None, not operator)

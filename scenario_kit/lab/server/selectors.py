"""Label and field selectors as they stand in the query of a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_KEY = r"(?P<key>[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?)"
_SET = re.compile(rf"\s*{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)\s*")
_EQUAL = re.compile(rf"\s*{_KEY}\s*(?P<operator>==|=|!=)\s*(?P<values>[-A-Za-z0-9_./]*)\s*")
_EXISTS = re.compile(rf"\s*(?P<operator>!?)\s*{_KEY}\s*")


class Requirement(NamedTuple):
    """One part of a selector. ``values`` are None where only the key matters; ``wanted`` is False for an exclusion."""

    key: str
    values: frozenset[str] | None
    wanted: bool

    def admits(self, fields: Mapping[str, str]) -> bool:
        """Whether the fields meet it. What lacks the key is not excluded by a value."""
        found = self.key in fields and (self.values is None or fields[self.key] in self.values)
        return found == self.wanted


Selector = frozenset[Requirement]


def parse(text: str) -> Selector:
    """The requirements of a selector; none for an empty one.

    Raises:
        ValueError: it cannot be read.
    """
    found = []
    rest = text.strip()
    while rest:
        match = _SET.match(rest) or _EQUAL.match(rest) or _EXISTS.match(rest)
        end = match.end() if match else 0
        if match is None or (end < len(rest) and rest[end] != ","):
            raise ValueError(f"unable to parse requirement: {rest!r}")
        found.append(_requirement(match))
        rest = rest[end + 1 :].strip()
    return frozenset(found)


def admits(selector: Selector, fields: Mapping[str, str]) -> bool:
    """Whether the fields meet every requirement."""
    return all(requirement.admits(fields) for requirement in selector)


def _requirement(match: re.Match[str]) -> Requirement:
    key, operator = match["key"], match["operator"]
    if operator in ("in", "notin"):
        return Requirement(key, frozenset(v.strip() for v in match["values"].split(",")), operator == "in")
    if operator in ("=", "==", "!="):
        return Requirement(key, frozenset((match["values"],)), operator != "!=")
    return Requirement(key, None, not operator)

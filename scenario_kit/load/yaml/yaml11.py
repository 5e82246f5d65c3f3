"""Parse plain scalars as kubectl does, by YAML 1.1; the project reads files as YAML 1.2."""

from __future__ import annotations

import math
import re
from typing import Any, Final

_NULLS: Final = ("", "~", "null", "Null", "NULL")
_TRUTHS: Final = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_WORDS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_BEYOND: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
#: Longer numbers are out of range.
_LONGEST: Final = 66
#: Quick check for numbers.
_NUMBER: Final = re.compile(r"[-+]?[0-9][-+.0-9A-Fa-fxXoObB_]*")
_WHOLE: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<binary>[01]+)|0[oO]?(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))"
)
_BASES: Final = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def explain_yaml11(text: str, value: Any) -> str:
    """Describe how kubectl reads a plain scalar that means ``value`` in YAML 1.2; empty if it is the same."""
    if text in _WORDS:
        return str(_WORDS[text]).lower()
    if _BEYOND.fullmatch(text):
        return "a number that JSON cannot represent"
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return ""
    yaml11 = _parse_number(text.replace("_", ""))
    return "" if yaml11 is None or yaml11 == value else f"{yaml11:g}" if isinstance(yaml11, float) else str(yaml11)


def parse_yaml11(text: str) -> Any:
    """Parse a plain scalar as kubectl does, whose parser knows neither sexagesimal numbers nor times; a number that
    JSON cannot represent stays text.
    """
    if text in _NULLS:
        return None
    if text in _TRUTHS or text in _WORDS:
        return _TRUTHS.get(text, _WORDS.get(text))
    number = _parse_number(text.replace("_", "")) if len(text) <= _LONGEST and _NUMBER.match(text) else None
    return text if number is None else number


def _parse_number(plain: str) -> int | float | None:
    if whole := _WHOLE.fullmatch(plain):
        base = next(name for name in _BASES if whole[name] is not None)
        if abs(number := int(whole["sign"] + whole[base], _BASES[base])) < 2**64:
            return number
    if _FLOAT.fullmatch(plain) and math.isfinite(broken := float(plain)):
        return broken
    return None

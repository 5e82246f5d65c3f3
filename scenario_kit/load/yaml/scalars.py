"""Values of YAML scalars, by their tags or by the core schema of YAML 1.2."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import yaml

from scenario_kit.load.yaml.nodes import TAG, UNDECIDED
from scenario_kit.model.shortening import shorten_text

#: The types of scalars by tag (YAML 1.2, 10.3.2); a timestamp, which is not of the core schema, stays text.
_TYPES: Final[dict[str, type]] = {
    "null": type(None), "bool": bool, "int": int, "float": float, "str": str, "timestamp": str,
}  # fmt: skip
_WORDS: Final[dict[str, Any]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER: Final = re.compile(r"[-+]?[0-9]+$")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")

#: Reports what is wrong with a node, and the fix; it may raise an error.
ReportMistake = Callable[[yaml.Node, str, str], object]


def parse_scalar(text: str) -> Any:
    """Parse a plain scalar by the core schema of YAML 1.2; numbers out of range stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text) and len(text) <= 19:
        return int(text)
    if _FLOAT.match(text) and math.isfinite(number := float(text)):
        return number
    return text


def convert_scalar(node: yaml.ScalarNode, parse: Callable[[str], Any], report: ReportMistake) -> Any:
    """Return the value of a scalar: as its tag says, else text where it is quoted, else as ``parse`` reads it."""
    text: str = node.value
    if node.tag == UNDECIDED:
        return text if node.style else parse(text)
    name = node.tag.removeprefix(TAG)
    if name not in _TYPES or name == node.tag:
        refuse_tag(node, report)
        return text
    if _TYPES[name] is str:
        return text
    value = parse(text)
    if _TYPES[name] is float and type(value) is int:
        return float(value)
    if type(value) is not _TYPES[name]:
        message = f"'{shorten_text(text)}' is not of the type that its tag `!!{name}` gives it"
        report(node, message, "remove the tag, or correct the value")
    return value


def refuse_tag(node: yaml.Node, report: ReportMistake) -> None:
    """Report the tag of a node, which is none of JSON's types."""
    report(node, f"the tag '{shorten_text(node.tag)}' is not allowed", "remove the tag")

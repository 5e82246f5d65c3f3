"""The subset of kubectl's JSONPath that selects fields.

Names, ``['quoted names']``, ``[0]``, ``[*]`` and one filter: ``.spec.ports[?(@.name=="http")].port``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scenario_kit.model.kubernetes import quantity

_STEP = re.compile(
    r"""\.?(?:(?P<name>(?:\\.|[\w/-])+|\*)
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \[(?P<quote>['"])(?P<quoted>.*?)(?P=quote)\]
      | \[\?\(@\.(?P<field>[\w./\\-]+)\s*(?P<operator>==|!=)\s*(?P<value>"[^"]*"|'[^']*'|-?\d+|true|false)\)\])""",
    re.VERBOSE,
)
_LITERALS = {"true": True, "false": False}

_Step = Callable[[Any], list[Any]]


def find(document: Any, path: str) -> list[Any]:
    """Find the values at ``path``; null counts as absent. The empty path is the document itself.

    Raises:
        ValueError: ``path`` is not in this subset.
    """
    values = [document]
    for step in _parse_steps(path):
        values = [found for value in values for found in step(value)]
    return [v for v in values if v is not None]


def _parse_steps(path: str) -> list[_Step]:
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    text = text.removeprefix("$")
    steps: list[_Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if not match:
            raise ValueError(f"'{path}' is not a path at '{text[position:]}'; expected e.g. .spec.ports[0].port")
        steps.append(_parse_step(match.groupdict()))
        position = match.end()
    return steps


def _parse_step(parts: dict[str, str | None]) -> _Step:
    if parts["all"] or parts["name"] == "*":
        return _list_everything
    if (index := parts["index"]) is not None:
        return lambda value: _get_at(value, int(index))
    if (operator := parts["operator"]) is not None:
        return _filter(str(parts["field"]), operator == "==", str(parts["value"]))
    name = parts["quoted"] if parts["quoted"] is not None else re.sub(r"\\(.)", r"\1", str(parts["name"]))
    return lambda value: [value[name]] if isinstance(value, dict) and name in value else []


def _filter(field: str, equal: bool, literal: str) -> _Step:
    desired: Any = literal[1:-1] if literal[0] in "\"'" else _LITERALS.get(literal)
    if desired is None:
        desired = int(literal)

    def select(value: Any) -> list[Any]:
        items = value if isinstance(value, list) else []
        return [item for item in items if matches(find(item, field)) is equal]

    def matches(found: list[Any]) -> bool:
        return len(found) == 1 and quantity.is_same_quantity(found[0], desired)

    return select


def _list_everything(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _get_at(value: Any, index: int) -> list[Any]:
    fits = isinstance(value, list) and -len(value) <= index < len(value)
    return [value[index]] if fits else []

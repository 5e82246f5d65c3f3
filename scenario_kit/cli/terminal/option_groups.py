"""Groups of options that commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from inspect import Parameter
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")


def expand_groups(command: Callable[..., _T]) -> Callable[..., _T]:
    """Return a command in which each parameter of a ``NamedTuple`` type is replaced by one option per field."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, type[tuple[Any, ...]]] = {}
    parameters: list[Parameter] = []
    for parameter in signature.parameters.values():
        if _is_group(parameter.annotation):
            groups[parameter.name] = parameter.annotation
            parameters += _list_options(parameter.annotation)
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def expanded(**values: Any) -> _T:
        for name, group in groups.items():
            values[name] = group(**{option.name: values.pop(option.name) for option in _list_options(group)})
        return command(**values)

    # Typer reads both.
    expanded.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    return expanded


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_field_defaults")


def _list_options(group: Any) -> list[Parameter]:
    hints, defaults = get_type_hints(group, include_extras=True), group._field_defaults
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name, Parameter.empty), annotation=hints[name])
        for name in group._fields
    ]

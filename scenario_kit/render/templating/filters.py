"""Filters and tests of templates: Jinja's own where their results are bounded, else bounded replacements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from itertools import islice
from typing import Any, Final

from jinja2 import Environment, pass_environment, pass_eval_context
from jinja2 import filters as jinja
from jinja2.filters import FILTERS
from jinja2.tests import TESTS

from scenario_kit.render.templating.render_budget import MAX_OUTPUT, check_room, spend, spend_size, weigh

_Function = Callable[..., Any]

#: Base cost of a call.
_CALL: Final = 10
#: Filters whose result is no larger than their input and that do not inspect entries.
_SHALLOW: Final = (
    "abs", "capitalize", "count", "d", "default", "first", "float", "int", "items", "last", "length", "list", "lower",
    "reject", "rejectattr", "reverse", "select", "selectattr", "trim", "upper", "wordcount",
)  # fmt: skip
#: Filters that compare, convert or create entries.
_DEEP: Final = ("dictsort", "groupby", "map", "max", "min", "sort", "title", "truncate", "unique")
_INDENT: Final = 40
_DIGITS: Final = 15


def build_filters() -> dict[str, _Function]:
    """Build the filters by name."""
    jinja_filters: Mapping[str, Any] = FILTERS
    known = {name: _charge(jinja_filters[name], deep=False) for name in _SHALLOW}
    known |= {name: _charge(jinja_filters[name], deep=True) for name in _DEEP}
    own: Mapping[str, Any] = {
        "indent": _indent_text, "join": _join, "keyed": _build_keyed, "replace": _replace, "round": _round,
        "string": convert_to_text,
        "sum": _sum, "tojson": _dump_json,
    }  # fmt: skip
    return known | {name: _charge(function, deep=True) for name, function in own.items()}


def build_tests() -> dict[str, Any]:
    """Build the tests by name, each charged for its arguments."""
    jinja_tests: Mapping[str, Any] = TESTS
    return {name: _charge(function, deep=True) for name, function in jinja_tests.items()}


def _charge(function: _Function, *, deep: bool) -> _Function:
    hidden = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def charged(*args: Any, **kwargs: Any) -> Any:
        spend(_CALL)
        for value in (*args[hidden:], *kwargs.values()):
            if deep:
                weigh(value)
            else:
                spend_size(value)
        result = function(*args, **kwargs)
        if isinstance(result, Iterator):
            result = list(islice(result, MAX_OUTPUT))
        return weigh(result) if deep else result

    return charged


def convert_to_text(value: Any) -> str:
    """Convert a value to text after charging for its size."""
    return value if type(value) is str else str(weigh(value))


def concatenate(pieces: Iterable[str]) -> str:
    """Concatenate pieces within the size limit."""
    pieces, size = list(pieces), 0
    for piece in pieces:
        size += len(piece)
    check_room(size)
    spend_size(pieces)
    result = "".join(pieces)
    spend_size(result)
    return result


def add_values(left: Any, right: Any) -> Any:
    """Add two numbers, or concatenate two strings or lists."""
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        check_room(len(left) + len(right))
        return weigh(left + right)  # type: ignore[operator]
    return left + right


@pass_environment
def _sum(environment: Environment, values: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    for value in _list_parts(environment, values, attribute):
        start = add_values(start, value)
    return start


@pass_environment
def _join(environment: Environment, values: Iterable[Any], d: str = "", attribute: Any = None) -> str:
    pieces = [convert_to_text(value) for value in _list_parts(environment, values, attribute)]
    check_room(len(convert_to_text(d)) * len(pieces) + sum(len(piece) for piece in pieces))
    return convert_to_text(d).join(pieces)


def _list_parts(environment: Environment, values: Iterable[Any], attribute: Any) -> Iterable[Any]:
    return values if attribute is None else map(jinja.make_attrgetter(environment, attribute), values)


def _build_keyed(keys: Iterable[Any], value: Any) -> dict[Any, Any]:
    """Map all keys to the same value: ``['a', 'b'] | keyed(1)``; Jinja has no such filter."""
    return dict.fromkeys(keys, value)


def _replace(value: Any, old: Any, new: Any, count: int = -1) -> str:
    whole, old, new = convert_to_text(value), convert_to_text(old), convert_to_text(new)
    times = whole.count(old) if count is None or count < 0 else min(count, whole.count(old))
    check_room(len(whole) + times * max(0, len(new) - len(old)))
    return whole.replace(old, new, times)


def _round(value: Any, precision: int = 0, method: Any = "common") -> Any:
    if abs(precision) > _DIGITS:
        raise ValueError(f"round() to at most {_DIGITS} digits")
    return jinja.do_round(value, precision, method)


def _indent_text(value: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    wide = len(width) if isinstance(width, str) else width
    if wide > _INDENT:
        raise ValueError(f"indent() by at most {_INDENT} characters")
    check_room(len(value) + (value.count("\n") + 1) * wide)
    return jinja.do_indent(value, width, first, blank)


@pass_eval_context
def _dump_json(context: Any, value: Any, indent: int | None = None) -> str:
    if indent is not None and not 0 <= indent <= 8:
        raise ValueError("tojson() indents by at most 8 characters")
    weigh(value, MAX_OUTPUT // 10)
    return jinja.do_tojson(context, value, indent)

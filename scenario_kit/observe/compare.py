"""The comparisons of object checks. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenario_kit.model.authored.check import ObjectCheck
from scenario_kit.model.kubernetes import quantity
from scenario_kit.model.re2 import compile_pattern
from scenario_kit.observe.jsonpath import find


def matches_object(check: ObjectCheck, obj: Any) -> bool:
    """Return whether an object (None: it does not exist) satisfies a check.

    Every value at the path must satisfy the comparison. A missing value counts as 0 for numeric bounds and as false for
    booleans, because the API omits these; it satisfies no other comparison except ``exists: false``.

    Raises:
        ValueError: the check's path or pattern is malformed.
    """
    values = [] if obj is None else find(obj, check.path)
    if check.exists is not None:
        return bool(values) is check.exists
    if obj is not None and not values:
        if check.at_least is not None or check.at_most is not None:
            values = [0]
        elif isinstance(check.equals, bool) or isinstance(check.not_equals, bool):
            values = [False]
    compare = _build_comparison(check)
    return bool(values) and all(compare(v) for v in values)


def describe_expectation(check: ObjectCheck) -> str:
    """Describe the expectation of a check."""
    where = check.path or "it"
    if check.exists is not None:
        return f"{where} {'exists' if check.exists else 'does not exist'}"
    bounds = [
        ("is", check.equals), ("is not", check.not_equals), ("contains", check.contains),
        ("does not contain", check.not_contains),
        ("is at least", check.at_least), ("is at most", check.at_most), ("matches", check.matches),
    ]  # fmt: skip
    desired = [f"{words} {bound!r}" for words, bound in bounds if bound is not None]
    return f"{where} {' and '.join(desired) or 'exists'}"


def _build_comparison(check: ObjectCheck) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        return (
            (check.equals is None or _is_same(value, check.equals))
            and (check.not_equals is None or not _is_same(value, check.not_equals))
            and (check.contains is None or _contains(value, check.contains))
            and (check.not_contains is None or not _contains(value, check.not_contains))
            and (check.at_least is None or _parse_number(value) >= check.at_least)
            and (check.at_most is None or _parse_number(value) <= check.at_most)
            and (check.matches is None or compile_pattern(check.matches).found_in(str(value)))
        )

    return holds


def _is_same(value: Any, desired: Any) -> bool:
    """Return whether two values have the same type and are equal; quantities are compared by amount."""
    return type(value) is type(desired) and quantity.is_same_quantity(value, desired)


def _contains(value: Any, desired: Any) -> bool:
    if isinstance(value, str):
        return str(desired) in value
    if isinstance(value, dict) and isinstance(desired, dict):
        return all(k in value and _contains_or_same(value[k], w) for k, w in desired.items())
    if isinstance(value, dict):
        return desired in value
    return isinstance(value, list) and any(_contains_or_same(v, desired) for v in value)


def _contains_or_same(value: Any, desired: Any) -> bool:
    return (
        _contains(value, desired) if isinstance(value, dict) and isinstance(desired, dict) else _is_same(value, desired)
    )


def _parse_number(value: Any) -> float:
    if isinstance(value, list | dict):
        return len(value)
    try:
        return quantity.parse_quantity(value) if isinstance(value, str) else float(value)
    except ValueError as error:
        raise ValueError(f"'{value}' is not a number") from error

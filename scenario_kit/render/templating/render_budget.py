"""Budget of a rendering: work units and value sizes.

Every template operation that can loop or grow a value is charged before it runs, so that hostile templates fail fast
and in bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

#: Maximum number of characters and entries of a value or a rendered document.
MAX_OUTPUT: Final = 2_000_000
#: Work units of one rendering; evaluating a name costs about one.
MAX_WORK: Final = 500_000
#: Maximum number of entries of a value, nested ones included.
MAX_ENTRIES: Final = 100_000
#: Maximum nesting depth of a value.
MAX_NESTED: Final = 50
#: Cost of a look-up, which scans part of the app.
LOOKUP_WORK: Final = 50
#: Characters copied or compared per unit.
_CHARACTERS: Final = 100

_left: ContextVar[list[int] | None] = ContextVar("_left", default=None)


@contextmanager
def meter_rendering() -> Iterator[None]:
    """Open a work budget for one rendering; a nested call shares the outer budget."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([MAX_WORK])
    try:
        yield
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Charge for work before it is done.

    Raises:
        ValueError: the budget is exhausted, or no rendering is active.
    """
    left = _left.get()
    if left is None:
        raise ValueError("templates can only be rendered within a work budget")
    left[0] -= units
    if left[0] < 0:
        raise ValueError("the template needs too much work")


def spend_size(value: Any) -> None:
    """Charge for one pass over a value's characters or entries, not nested ones."""
    if isinstance(value, str):
        spend(len(value) // _CHARACTERS)
    elif isinstance(value, list | tuple | dict | set | range):
        spend(len(value))


def weigh(value: Any, most: int = MAX_OUTPUT) -> Any:
    """Return the value after charging for all of it; shared parts count at each occurrence.

    Raises:
        ValueError: it has more than ``most`` characters and entries, or is nested too deeply.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    total, entries, stack = 0, 0, [(value, 0)]
    while stack:
        part, depth = stack.pop()
        entries += 1
        total += 1
        if isinstance(part, str):
            total += len(part)
        elif isinstance(part, dict | list | tuple | set | frozenset):
            if depth > MAX_NESTED:
                raise ValueError(f"a value is nested deeper than {MAX_NESTED} levels")
            check_room(entries + len(part) + len(stack), MAX_ENTRIES)
            stack += [(child, depth + 1) for child in part]
            if isinstance(part, dict):
                stack += [(child, depth + 1) for child in part.values()]
        if total > most:
            check_room(total, most)
    spend(entries // 2 + total // _CHARACTERS)
    return value


def check_room(size: int, most: int = MAX_OUTPUT) -> None:
    """Check the size of a value before it is created.

    Raises:
        ValueError: it is too large.
    """
    if size > most:
        raise ValueError(f"a value exceeds {most} characters and entries")

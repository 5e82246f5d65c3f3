"""What one rendering may spend: work, and the size of the values that it makes.

Every operation of a template that can repeat or grow something pays here first, so a hostile template ends soon and
small, whatever it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

#: Characters and entries that one value, or one rendered document, may have.
MAX_OUTPUT: Final = 2_000_000
#: Units of work of one rendering; one is about the evaluation of a name.
MAX_WORK: Final = 500_000
#: Entries that one value may have, those of its parts included.
MAX_ENTRIES: Final = 100_000
#: Lists in lists that a template may build.
MAX_NESTED: Final = 50
#: Units for one look-up of a template, which goes through a part of the app once.
LOOKUP_WORK: Final = 50
#: Characters that are copied or compared for one unit.
_CHARACTERS: Final = 100

_left: ContextVar[list[int] | None] = ContextVar("_left", default=None)


@contextmanager
def meter_rendering() -> Iterator[None]:
    """Return one rendering: what is inside shares one allowance of work. An inner one spends from the outer."""
    if _left.get() is not None:
        yield
        return
    token = _left.set([MAX_WORK])
    try:
        yield
    finally:
        _left.reset(token)


def spend(units: int) -> None:
    """Pay for work before it is done.

    Raises:
        ValueError: nothing is left.
    """
    left = _left.get()
    if left is None:
        raise ValueError("templates are rendered within an allowance of work only")
    left[0] -= units
    if left[0] < 0:
        raise ValueError("the template needs too much work")


def spend_size(value: Any) -> None:
    """Pay for going through a value once: its characters or entries, not what is inside of them."""
    if isinstance(value, str):
        spend(len(value) // _CHARACTERS)
    elif isinstance(value, list | tuple | dict | set | range):
        spend(len(value))


def weigh(value: Any, most: int = MAX_OUTPUT) -> Any:
    """Return the value, after paying for going through all of it; shared parts count as often as they are met.

    Raises:
        ValueError: it has more than ``most`` characters and entries, or nests too deep.
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
                raise ValueError(f"a value nests deeper than {MAX_NESTED} levels")
            check_room(entries + len(part) + len(stack), MAX_ENTRIES)
            stack += [(child, depth + 1) for child in part]
            if isinstance(part, dict):
                stack += [(child, depth + 1) for child in part.values()]
        if total > most:
            check_room(total, most)
    spend(entries // 2 + total // _CHARACTERS)
    return value


def check_room(size: int, most: int = MAX_OUTPUT) -> None:
    """Refuse a value of that many characters or entries before it is made.

    Raises:
        ValueError: it is too large.
    """
    if size > most:
        raise ValueError(f"a value grows beyond {most} characters and entries")

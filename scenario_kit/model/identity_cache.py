"""Cache what is computed from immutable values, such as a loaded app, by their identity.

Comparing or hashing an app takes longer than most of what is computed from it. An entry holds its arguments, so that no
other value can get their identity while it is cached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

_T = TypeVar("_T")
#: Types that are compared by value.
_BY_VALUE: Final = (str, int, type(None))


class _Identity:
    """A value that equals itself alone."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value


def cache_by_identity(maxsize: int) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Cache the results of a function of unmodified values by their identity.

    Texts and numbers are compared by value and type, other arguments by identity. Errors are not cached. Results are
    shared by all callers, in whichever thread, who must not modify them either.

    Args:
        maxsize: maximum number of results; the least recently used are dropped first.
    """

    def decorate(compute: Callable[..., _T]) -> Callable[..., _T]:
        @lru_cache(maxsize, typed=True)
        def compute_once(*keys: object) -> _T:
            return compute(*(key.value if isinstance(key, _Identity) else key for key in keys))

        @wraps(compute)
        def find_or_compute(*values: object) -> _T:
            return compute_once(*(value if isinstance(value, _BY_VALUE) else _Identity(value) for value in values))

        return find_or_compute

    return decorate

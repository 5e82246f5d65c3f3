"""Cache what is computed from immutable values, such as a loaded app, by their identity.

Comparing or hashing an app takes longer than most of what is computed from it. An entry holds its arguments, so that no
other value can get their identity while it is cached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

_T = TypeVar("_T")
#: Types that are compared by value.
_BY_VALUE: Final = (str, int, type(None))


def cache_by_identity(maxsize: int) -> Callable[[Callable[..., _T]], Callable[..., _T]]:
    """Cache the results of a function of unmodified values by their identity.

    Texts and numbers are compared by value, other arguments by identity. Errors are not cached. Results are shared by
    all callers, who must not modify them either.

    Args:
        maxsize: maximum number of results; the oldest are dropped first.
    """

    def decorate(compute: Callable[..., _T]) -> Callable[..., _T]:
        kept: dict[tuple[object, ...], tuple[tuple[object, ...], _T]] = {}

        @wraps(compute)
        def find_or_compute(*values: object) -> _T:
            key = tuple((type(v), v) if isinstance(v, _BY_VALUE) else id(v) for v in values)
            entry = kept.get(key)
            if entry is None:
                entry = kept[key] = (values, compute(*values))
                while len(kept) > maxsize:
                    kept.pop(next(iter(kept)), None)
            return entry[1]

        return find_or_compute

    return decorate

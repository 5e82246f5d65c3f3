"""HTTP method and path, parsed from span names and log lines such as ``GET /api/cart``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ROUTE: Final = re.compile(r"\b(GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS) (/[^\s?]*)")


class HttpRoute(NamedTuple):
    """A request's method and path, without the query."""

    method: str
    path: str


def find_route(*texts: str) -> HttpRoute | None:
    """Return the route in the first of these texts that contains one; None if none does."""
    found = next((m for text in texts if (m := _ROUTE.search(text))), None)
    return HttpRoute(found[1], found[2]) if found else None

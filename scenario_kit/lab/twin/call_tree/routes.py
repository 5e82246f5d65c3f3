"""Method and path of an HTTP request, as the names of spans and lines of logs tell them: ``GET /api/cart``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ROUTE: Final = re.compile(r"\b(GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS) (/[^\s?]*)")


class HttpRoute(NamedTuple):
    """A request as routers see it: without the query."""

    method: str
    path: str


def route(*texts: str) -> HttpRoute | None:
    """Return the route that the first of these texts names which names one; None where none does."""
    found = next((m for text in texts if (m := _ROUTE.search(text))), None)
    return HttpRoute(found[1], found[2]) if found else None

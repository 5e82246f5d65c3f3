"""Translation of API server errors: HTTP status and ``Status`` body to our exceptions. Pure."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from scenario_kit.errors import (
    AlreadyExists,
    ClusterError,
    Conflict,
    EvictionRefused,
    Forbidden,
    NotFound,
    Rejected,
    Unreachable,
)

#: The authoriser's messages. Admission plugins (quota, terminating namespaces, webhooks) return 403 with others.
_UNAUTHORISED = re.compile(r'User "[^"]*" cannot |no RBAC policy matched', re.IGNORECASE)

#: The eviction API returns 500 permanently if two budgets select a pod.
_TWO_BUDGETS = "more than one PodDisruptionBudget"

#: The message of a 404 for a path of a group that is served in other versions (``NewGenericServerResponse``).
_UNKNOWN_PATH = "the server could not find the requested resource"

_FIXES: dict[type[ClusterError], str] = {
    Unreachable: "check that the API server runs ('scenario-kit lab status', or kubectl cluster-info)",
    Forbidden: "use credentials with this permission, or grant the permission that the message names",
}


class NotServed(NotFound):
    """404 for the path itself: the API server does not serve that kind; the object is unknown."""


def build_error(status: int, body: bytes, doing: str) -> ClusterError:
    """Build the exception for a response with ``status`` >= 300; ``doing`` describes the request."""
    answer = _parse_status_object(body)
    reason = str(answer.get("reason", "")) if answer else ""
    text = str(answer.get("message", "")) if answer else body[:300].decode("utf-8", "replace").strip()
    if answer and _is_budget_refusal(status, answer):
        return EvictionRefused(" ".join((text, *_read_causes(answer, "message"))), status=status)
    kind = _choose_error_type(status, reason, text, served=answer is not None)
    return kind(f"{doing}: {text or 'no explanation'} (HTTP {status})", status=status, fix=_FIXES.get(kind, ""))


def is_own(body: bytes) -> bool:
    """Return whether a response is from the API server itself, not from a proxied program."""
    return _parse_status_object(body) is not None


def _is_budget_refusal(status: int, answer: dict[str, Any]) -> bool:
    named = "DisruptionBudget" in _read_causes(answer, "reason")
    return (status == 429 and named) or (status == 500 and _TWO_BUDGETS in str(answer.get("message", "")))


def _read_causes(answer: dict[str, Any], part: str) -> list[str]:
    return [str(cause.get(part, "")) for cause in (answer.get("details") or {}).get("causes") or ()]


def _choose_error_type(status: int, reason: str, text: str, *, served: bool) -> type[ClusterError]:
    if status == 404:
        return NotFound if served and text != _UNKNOWN_PATH else NotServed
    if status == 409:
        return AlreadyExists if reason == "AlreadyExists" else Conflict
    if status in (410, 412):  # an expired version, or a failed precondition: read again and retry
        return Conflict
    if status == 401:
        return Forbidden
    if status == 403:
        return Forbidden if not text or _UNAUTHORISED.search(text) or not served else Rejected
    if status in (408, 425, 429) or status >= 500 or status < 400:
        return Unreachable
    return Rejected


def _parse_status_object(body: bytes) -> dict[str, Any] | None:
    try:
        answer = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None  # a proxy's page, or Go's plain "404 page not found"
    return answer if isinstance(answer, dict) and answer.get("kind") == "Status" else None

"""Statuses of objects: deletion, and the containers of a pod."""

from __future__ import annotations

from scenario_kit.model.base import Object


def is_terminating(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def list_container_statuses(status: Object) -> list[Object]:
    """List the container statuses in a pod's status, init containers first."""
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]

"""Container statuses of a pod."""

from __future__ import annotations

from scenario_kit.model.base import Object


def list_container_statuses(status: Object) -> list[Object]:
    """List the container statuses in a pod's status, init containers first."""
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]

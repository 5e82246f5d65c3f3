"""What the status of a pod says of its containers, and the times in which Kubernetes writes."""

from __future__ import annotations

from datetime import datetime

from scenario_kit.model.base import Object


def list_container_statuses(status: Object) -> list[Object]:
    """List the statuses of all containers of a pod, those of init containers first; ``status`` is the pod's."""
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def parse_time(text: str) -> float:
    """Read a time of an object (RFC 3339) as seconds since the epoch."""
    return datetime.fromisoformat(text).timestamp()

"""Statuses of objects: revision, deletion, and the containers of a pod."""

from __future__ import annotations

from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.pod_spec import list_sidecars


def read_revision(obj: Object) -> int:
    """Return the revision that wrote an object, in one sequence for all kinds; 0 if it has none."""
    return int(obj["metadata"].get("resourceVersion") or 0)


def is_terminating(obj: Object) -> bool:
    """Return whether an object is being deleted."""
    return bool(obj["metadata"].get("deletionTimestamp"))


def is_stopping(pod: Object) -> bool:
    """Return whether a deleted pod is in its grace period: its containers may still be running."""
    meta = pod["metadata"]
    return bool(pod["spec"].get("nodeName")) and meta.get("deletionGracePeriodSeconds", 0) > 0


def rank_by_age(pod: Object) -> tuple[str, str, str, str]:
    """Return the key that sorts pods by age, oldest first, in the same order in every run of a trial.

    A start is a time of the trial's clock, but a creation is one of the wall clock: which of two pods that start
    together was created in the earlier second depends on the machine's load. It only counts between pods of one owner,
    before the random parts of their names.
    """
    meta = pod["metadata"]
    owner = str(meta.get("generateName") or "")
    created = str(meta.get("creationTimestamp") or "") if owner else ""
    return str((pod.get("status") or {}).get("startTime") or ""), owner, created, str(meta.get("name") or "")


def list_container_statuses(status: Object) -> list[Object]:
    """List the container statuses in a pod's status, init containers first."""
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def list_serving_statuses(pod: Object) -> list[Object]:
    """List the statuses of the containers that run as long as the pod does: its containers, and its sidecars."""
    status, sidecars = pod.get("status") or {}, {each["name"] for each in list_sidecars(pod.get("spec") or {})}
    started = (each for each in status.get("initContainerStatuses") or () if each["name"] in sidecars)
    return [*(status.get("containerStatuses") or ()), *started]

"""Deployments: the scaling arithmetic of a rolling update, to tell whether the controller would scale anything.

Source: ``pkg/controller/deployment`` of Kubernetes 1.34 (``rolling.go``, ``recreate.go``, ``sync.go``). A rollout
that is stuck because its new pods never become ready is settled: the controller has no work left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from scenario_kit.lab.settle.checks.settle_context import Facts, Reason, find_condition
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import is_terminating

#: The reason of ``Progressing`` once a rollout is complete; no deadline applies from then on.
COMPLETE = "NewReplicaSetAvailable"
_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"
_DESIRED = "deployment.kubernetes.io/desired-replicas"


def check_deployments(facts: Facts) -> Iterator[Reason]:
    """Yield Deployments whose counts differ from their ReplicaSets', or that have scaling due."""
    for name, deployment in facts.of("Deployment").items():
        sets = facts.owned("ReplicaSet", deployment)
        current = find_newest(deployment, sets)
        if current is None:
            if not deployment["spec"].get("paused") and not is_terminating(deployment):
                yield Reason("Rollout", "Deployment", name, "its ReplicaSet does not exist yet")
            continue
        yield from _check_counts(name, deployment, sets, current)
        if is_terminating(deployment):
            continue  # only its status follows
        if name in facts.overdue and _can_progress(deployment):
            yield Reason(
                "Deadline", "Deployment", name, "its progress deadline has passed, and its condition does not show it"
            )
        due = find_due_scaling(deployment, current, [rs for rs in sets if rs is not current])
        if due and not _awaits_old_pods(facts, deployment, sets):
            yield Reason("Rollout", "Deployment", name, due)


def _awaits_old_pods(facts: Facts, deployment: Object, sets: list[Object]) -> bool:
    """Return whether a Deployment that recreates its pods waits for the old ones to end."""
    if (deployment["spec"].get("strategy") or {}).get("type") != "Recreate" or sum(map(_read_desired, sets)):
        return False
    old = [rs for rs in sets if not _has_template(rs, deployment)]
    return any(facts.is_stopping(pod) for rs in old for pod in facts.owned("Pod", rs))


def find_newest(deployment: Object, sets: list[Object]) -> Object | None:
    """Find the ReplicaSet with the Deployment's revision, i.e. of the current template."""
    revision = _read_annotation(deployment, _REVISION)
    return next((rs for rs in sets if revision and _read_annotation(rs, _REVISION) == revision), None)


def find_due_scaling(deployment: Object, new: Object, old: list[Object]) -> str:
    """Describe what the controller would scale next; empty if nothing."""
    desired = int(deployment["spec"].get("replicas", 1))
    for rs in (new, *old):
        if _read_desired(rs) > 0 and _read_annotation(rs, _DESIRED) not in ("", str(desired)):
            return f"ReplicaSet {rs['metadata']['name']} is scaled for a replica count other than {desired}"
    if deployment["spec"].get("paused"):
        return ""
    strategy = deployment["spec"].get("strategy") or {}
    old_total = sum(map(_read_desired, old))
    if strategy.get("type") == "Recreate":
        if old_total:
            return f"{old_total} old replicas remain"
        return (
            ""
            if _read_desired(new) == desired
            else f"the new ReplicaSet has {_read_desired(new)} desired replicas, expected {desired}"
        )
    surge, unavailable = compute_fenceposts(strategy.get("rollingUpdate") or {}, desired)
    total = _read_desired(new) + old_total
    if _read_desired(new) > desired or (_read_desired(new) < desired and total < desired + surge):
        return f"the new ReplicaSet has {_read_desired(new)} desired replicas, expected {desired}"
    if not old_total:
        return ""
    minimum = desired - min(unavailable, desired)
    if total - minimum - (_read_desired(new) - _read_available(new)) <= 0:
        return ""
    unhealthy = sum(max(_read_desired(rs) - _read_available(rs), 0) for rs in old)
    spare = _read_available(new) + sum(map(_read_available, old)) - minimum
    return f"{old_total} old replicas remain" if unhealthy or spare > 0 else ""


def compute_fenceposts(rolling: Object, desired: int) -> tuple[int, int]:
    """Compute maxSurge (rounded up) and maxUnavailable (rounded down); never both zero."""
    surge = _resolve(rolling.get("maxSurge", "25%"), desired, up=True)
    unavailable = _resolve(rolling.get("maxUnavailable", "25%"), desired, up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def _can_progress(deployment: Object) -> bool:
    progressing = find_condition(deployment, "Progressing")
    return progressing is not None and progressing["status"] == "True" and progressing["reason"] != COMPLETE


def _resolve(value: int | str, desired: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%")) * desired / 100
    return math.ceil(share) if up else math.floor(share)


def _check_counts(name: str, deployment: Object, sets: list[Object], new: Object) -> Iterator[Reason]:
    status = deployment.get("status") or {}
    summed = ("replicas", "readyReplicas", "availableReplicas")
    expected = {field: sum(_read_status(rs, field) for rs in sets) for field in summed}
    # A paused Deployment gets no ReplicaSet for a new template, so none of its pods is up to date.
    expected["updatedReplicas"] = _read_status(new, "replicas") if _is_of(new, deployment) else 0
    for field, number in expected.items():
        if int(status.get(field, 0)) != number:
            yield Reason("Counts", "Deployment", name, f"{field} is {status.get(field, 0)}, expected {number}")


def _is_of(rs: Object, deployment: Object) -> bool:
    """Return whether a ReplicaSet has the current template; it may differ only while the Deployment is paused."""
    return not deployment["spec"].get("paused") or _has_template(rs, deployment)


def _has_template(rs: Object, deployment: Object) -> bool:
    """Compare templates without the hash of the pod template (``EqualIgnoreHash`` of the controller)."""
    template, desired = rs["spec"].get("template") or {}, deployment["spec"].get("template") or {}
    metadata = template.get("metadata") or {}
    labels = {k: v for k, v in (metadata.get("labels") or {}).items() if k != _HASH}
    return {**template, "metadata": {**metadata, "labels": labels}} == desired


def _read_desired(rs: Object) -> int:
    return int(rs["spec"].get("replicas", 1))


def _read_available(rs: Object) -> int:
    return _read_status(rs, "availableReplicas")


def _read_status(rs: Object, field: str) -> int:
    return int((rs.get("status") or {}).get(field, 0))


def _read_annotation(obj: Object, name: str) -> str:
    return str((obj["metadata"].get("annotations") or {}).get(name, ""))

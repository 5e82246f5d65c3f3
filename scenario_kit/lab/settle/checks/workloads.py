"""Workload controllers are at their fixed point: status counts match the pods, and missing pods were refused.

Of a workload that is being deleted, they neither make nor delete pods, and only its status follows (a DaemonSet's does
not).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lab.settle.checks.settle_context import (
    LEFT_ALONE_SECONDS,
    Facts,
    Reason,
    find_last_refuser_change,
    is_active,
    is_condition_true,
)
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.status import is_terminating, read_revision

#: The code of a controller that backs off although the cause of its refusal has changed.
STALE_REFUSAL: Final = "StaleRefusal"
_STALE: Final = "its pods were refused before an object that may refuse them last changed"
_JOB_CONTROLLER: Final = "kubernetes.io/job-controller"


def check_observed(facts: Facts) -> Iterator[Reason]:
    """Yield workloads whose latest spec is not observed."""
    for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"):
        for name, obj in facts.of(kind).items():
            if kind == "DaemonSet" and is_terminating(obj):
                continue
            generation = obj["metadata"].get("generation", 0)
            seen = (obj.get("status") or {}).get("observedGeneration", 0)
            if seen < generation:
                yield Reason("Generation", kind, name, f"generation {generation} is not observed, but {seen}")


def check_replica_sets(facts: Facts) -> Iterator[Reason]:
    """Yield wrong counts, and missing pods without a refusal that is newer than what could lift it."""
    lifted = find_last_refuser_change(facts)
    for name, rs in facts.of("ReplicaSet").items():
        pods = [p for p in facts.owned("Pod", rs) if is_active(p)]
        yield from _check_counts("ReplicaSet", name, rs, pods)
        if is_terminating(rs):
            continue
        desired = int(rs["spec"].get("replicas", 1))
        if len(pods) > desired:
            yield Reason("Surplus", "ReplicaSet", name, f"has {len(pods)} pods, expected {desired}")
        elif len(pods) < desired and not is_condition_true(rs, "ReplicaFailure"):
            yield Reason("Missing", "ReplicaSet", name, f"has {len(pods)} pods, expected {desired}")
        elif len(pods) < desired and facts.refused.get(rs["metadata"]["uid"], read_revision(rs)) < lifted:
            yield Reason(STALE_REFUSAL, "ReplicaSet", name, _STALE)


def check_stateful_sets(facts: Facts) -> Iterator[Reason]:
    """Yield wrong counts, missing pods whose predecessors are ready, and pods of an old revision.

    A pod that is stopping still counts, and its name is taken.
    """
    for name, owner in facts.of("StatefulSet").items():
        own = facts.owned("Pod", owner)
        pods = [p for p in own if is_active(p)]
        present = [p for p in own if is_active(p) or facts.is_stopping(p)]
        yield from _check_counts("StatefulSet", name, owner, present, available=False)
        if is_terminating(owner):
            continue
        desired = int(owner["spec"].get("replicas", 1))
        blocked = len(own) > len(pods) or any(not is_condition_true(p, "Ready") for p in pods)
        parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
        awaited = parallel and len(pods) < desired <= len(present)
        if len(pods) != desired and (parallel or not blocked) and not awaited:
            yield from _check_missing(facts, "StatefulSet", owner, f"has {len(pods)} pods, expected {desired}")
        strategy = owner["spec"].get("updateStrategy") or {}
        revision = (owner.get("status") or {}).get("updateRevision")
        partition = int((strategy.get("rollingUpdate") or {}).get("partition", 0))
        old = [p for p in pods if _label(p, "controller-revision-hash") != revision and _parse_ordinal(p) >= partition]
        if old and strategy.get("type", "RollingUpdate") == "RollingUpdate" and not blocked:
            yield Reason("Rollout", "StatefulSet", name, f"{len(old)} pods are of an old revision")


def check_daemon_sets(facts: Facts) -> Iterator[Reason]:
    """Yield missing pods (one per eligible node), and a status that differs from the pods.

    A node whose pod is stopping gets another one afterwards.
    """
    for name, owner in facts.of("DaemonSet").items():
        if is_terminating(owner):
            continue
        status = owner.get("status") or {}
        own = facts.owned("Pod", owner)
        pods = [p for p in own if is_active(p)]
        present = [p for p in own if is_active(p) or facts.is_stopping(p)]
        desired = int(status.get("desiredNumberScheduled", 0))
        ready = sum(is_condition_true(p, "Ready") for p in present)
        if len(pods) != desired and not len(pods) < desired <= len(present):
            yield from _check_missing(facts, "DaemonSet", owner, f"has {len(pods)} pods, expected {desired}")
        if int(status.get("numberReady", 0)) != ready:
            text = f"numberReady is {status.get('numberReady', 0)}, expected {ready}"
            yield Reason("Counts", "DaemonSet", name, text)


def check_jobs(facts: Facts) -> Iterator[Reason]:
    """Yield unfinished Jobs with fewer pods than they need, and finished ones without a final condition."""
    for name, job in facts.of("Job").items():
        spec, status = job["spec"], job.get("status") or {}
        if is_condition_true(job, "Complete") or is_condition_true(job, "Failed") or spec.get("suspend"):
            continue
        if spec.get("managedBy", _JOB_CONTROLLER) != _JOB_CONTROLLER:
            continue
        pods = facts.owned("Pod", job)
        active = sum(is_active(p) for p in pods)
        stopping = any(facts.is_stopping(p) for p in pods)
        if int(status.get("active", 0)) != active:
            yield Reason("Counts", "Job", name, f"active is {status.get('active', 0)}, expected {active}")
        left = int(spec.get("completions") or spec.get("parallelism", 1)) - int(status.get("succeeded", 0))
        desired = min(int(spec.get("parallelism", 1)), left)
        if is_terminating(job) or (stopping and (left <= 0 or _awaits_ended_pods(job))):
            continue
        if active < desired and not _is_backing_off(facts, job):
            yield from _check_missing(facts, "Job", job, f"has {active} running pods, expected {desired}")
        elif left <= 0 and not active:
            yield Reason("Counts", "Job", name, "all of its pods succeeded, but it is not Complete yet")


def _check_missing(facts: Facts, kind: str, owner: Object, text: str) -> Iterator[Reason]:
    """Yield missing pods unless the refusal is newer than the last change of what may have refused them."""
    name, refused = owner["metadata"]["name"], facts.refused.get(owner["metadata"]["uid"])
    if refused is None:
        yield Reason("Missing", kind, name, text)
    elif refused < find_last_refuser_change(facts):
        yield Reason(STALE_REFUSAL, kind, name, _STALE)


def _awaits_ended_pods(job: Object) -> bool:
    """Return whether a Job replaces no pods before they have ended, or is about to end itself."""
    if job["spec"].get("podReplacementPolicy") == "Failed":
        return True
    return any(is_condition_true(job, type_) for type_ in ("FailureTarget", "SuccessCriteriaMet"))


def _is_backing_off(facts: Facts, job: Object) -> bool:
    """Return whether a Job backs off before it replaces a failed pod: ten seconds or more of wall time."""
    failed = int((job.get("status") or {}).get("failed") or 0)
    return failed > 0 and facts.quiet(job) >= LEFT_ALONE_SECONDS


def check_quotas(facts: Facts) -> Iterator[Reason]:
    """Yield quotas whose status has other limits, or another pod count."""
    pods = sum((p.get("status") or {}).get("phase") not in ("Succeeded", "Failed") for p in facts.of("Pod").values())
    for name, quota in facts.of("ResourceQuota").items():
        spec, status = quota.get("spec") or {}, quota.get("status") or {}
        if (status.get("hard") or {}) != (spec.get("hard") or {}):
            yield Reason("Generation", "ResourceQuota", name, "its limits are not observed yet")
        scoped = spec.get("scopes") or spec.get("scopeSelector")
        used = (status.get("used") or {}).get("pods")
        if used is not None and not scoped and used != str(pods):
            yield Reason("Counts", "ResourceQuota", name, f"used.pods is {used}, expected {pods}")


def _check_counts(
    kind: str, name: str, owner: Object, pods: list[Object], *, available: bool = True
) -> Iterator[Reason]:
    status = owner.get("status") or {}
    ready = sum(is_condition_true(p, "Ready") for p in pods)
    expected = {"replicas": len(pods), "readyReplicas": ready}
    if available and not owner["spec"].get("minReadySeconds"):
        expected["availableReplicas"] = ready
    for field, number in expected.items():
        if int(status.get(field, 0)) != number:
            yield Reason("Counts", kind, name, f"{field} is {status.get(field, 0)}, expected {number}")


def _label(obj: Object, name: str) -> str:
    return str((obj["metadata"].get("labels") or {}).get(name, ""))


def _parse_ordinal(pod: Object) -> int:
    tail = pod["metadata"]["name"].rpartition("-")[2]
    return int(tail) if tail.isdecimal() else 0

"""Controllers of pods have done what they can: status says what the pods say, and no pod is missing unexplained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lab.settle.settled.settle_context import (
    LEFT_ALONE_SECONDS,
    Facts,
    Reason,
    find_last_refuser_change,
    holds,
    is_active,
    read_revision,
)
from scenario_kit.model.base import Object

#: The code of a controller that waits to ask again although what refused it has changed.
STALE_REFUSAL: Final = "StaleRefusal"
_STALE: Final = "was refused pods before the last change of something that may have refused them"
_JOB_CONTROLLER: Final = "kubernetes.io/job-controller"


def check_observed(facts: Facts) -> Iterator[Reason]:
    """Check that every controller has seen the latest spec."""
    for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"):
        for name, obj in facts.of(kind).items():
            generation = obj["metadata"].get("generation", 0)
            seen = (obj.get("status") or {}).get("observedGeneration", 0)
            if seen < generation:
                yield Reason("Generation", kind, name, f"generation {generation} is not observed, but {seen}")


def check_replica_sets(facts: Facts) -> Iterator[Reason]:
    """Check that counts agree with the pods; missing pods are refused, by a refusal newer than what could lift it."""
    lifted = find_last_refuser_change(facts)
    for name, rs in facts.of("ReplicaSet").items():
        pods = [p for p in facts.owned("Pod", rs) if is_active(p)]
        yield from _counts("ReplicaSet", name, rs, pods)
        desired = int(rs["spec"].get("replicas", 1))
        if len(pods) > desired:
            yield Reason("Surplus", "ReplicaSet", name, f"has {len(pods)} pods, expected {desired}")
        elif len(pods) < desired and not holds(rs, "ReplicaFailure"):
            yield Reason("Missing", "ReplicaSet", name, f"has {len(pods)} pods, expected {desired}")
        elif len(pods) < desired and facts.refused.get(rs["metadata"]["uid"], read_revision(rs)) < lifted:
            yield Reason(STALE_REFUSAL, "ReplicaSet", name, _STALE)


def check_stateful_sets(facts: Facts) -> Iterator[Reason]:
    """Return pods exist in order as far as their predecessors allow, in the wanted revision."""
    for name, owner in facts.of("StatefulSet").items():
        own = facts.owned("Pod", owner)
        pods = [p for p in own if is_active(p)]
        yield from _counts("StatefulSet", name, owner, pods, available=False)
        desired = int(owner["spec"].get("replicas", 1))
        blocked = len(own) > len(pods) or any(not holds(p, "Ready") for p in pods)
        parallel = owner["spec"].get("podManagementPolicy") == "Parallel"
        if len(pods) != desired and (parallel or not blocked):
            yield from _check_missing(facts, "StatefulSet", owner, f"has {len(pods)} pods, expected {desired}")
        strategy = owner["spec"].get("updateStrategy") or {}
        revision = (owner.get("status") or {}).get("updateRevision")
        partition = int((strategy.get("rollingUpdate") or {}).get("partition", 0))
        old = [p for p in pods if _label(p, "controller-revision-hash") != revision and _parse_ordinal(p) >= partition]
        if old and strategy.get("type", "RollingUpdate") == "RollingUpdate" and not blocked:
            yield Reason("Rollout", "StatefulSet", name, f"{len(old)} pods are of an old revision")


def check_daemon_sets(facts: Facts) -> Iterator[Reason]:
    """Check that there are as many pods as nodes that want one, and the status says what the pods say."""
    for name, owner in facts.of("DaemonSet").items():
        status = owner.get("status") or {}
        pods = [p for p in facts.owned("Pod", owner) if is_active(p)]
        desired, ready = int(status.get("desiredNumberScheduled", 0)), sum(holds(p, "Ready") for p in pods)
        if len(pods) != desired:
            yield from _check_missing(facts, "DaemonSet", owner, f"has {len(pods)} pods, expected {desired}")
        if int(status.get("numberReady", 0)) != ready:
            text = f"numberReady is {status.get('numberReady', 0)}, expected {ready}"
            yield Reason("Counts", "DaemonSet", name, text)


def check_jobs(facts: Facts) -> Iterator[Reason]:
    """Check that unfinished jobs run as many pods as they want; those with nothing left to run say how they ended."""
    for name, job in facts.of("Job").items():
        spec, status = job["spec"], job.get("status") or {}
        if holds(job, "Complete") or holds(job, "Failed") or spec.get("suspend"):
            continue
        if spec.get("managedBy", _JOB_CONTROLLER) != _JOB_CONTROLLER:
            continue
        pods = facts.owned("Pod", job)
        active = sum(is_active(p) for p in pods)
        if int(status.get("active", 0)) != active:
            yield Reason("Counts", "Job", name, f"active is {status.get('active', 0)}, expected {active}")
        left = int(spec.get("completions") or spec.get("parallelism", 1)) - int(status.get("succeeded", 0))
        desired = min(int(spec.get("parallelism", 1)), left)
        if active < desired and not _is_backing_off(facts, job):
            yield from _check_missing(facts, "Job", job, f"has {active} running pods, expected {desired}")
        elif left <= 0 and not active:
            yield Reason("Counts", "Job", name, "all of its pods succeeded, but it is not Complete yet")


def _check_missing(facts: Facts, kind: str, owner: Object, text: str) -> Iterator[Reason]:
    """Check for missing pods, unless they were refused after everything that may have refused them last changed."""
    name, refused = owner["metadata"]["name"], facts.refused.get(owner["metadata"]["uid"])
    if refused is None:
        yield Reason("Missing", kind, name, text)
    elif refused < find_last_refuser_change(facts):
        yield Reason(STALE_REFUSAL, kind, name, _STALE)


def _is_backing_off(facts: Facts, job: Object) -> bool:
    """Check whether a Job waits before it replaces a pod that failed: ten seconds and more, by the wall clock."""
    failed = int((job.get("status") or {}).get("failed") or 0)
    return failed > 0 and facts.quiet(job) >= LEFT_ALONE_SECONDS


def check_quotas(facts: Facts) -> Iterator[Reason]:
    """Return the status repeats the limits, and counts the pods that exist."""
    pods = sum((p.get("status") or {}).get("phase") not in ("Succeeded", "Failed") for p in facts.of("Pod").values())
    for name, quota in facts.of("ResourceQuota").items():
        spec, status = quota.get("spec") or {}, quota.get("status") or {}
        if (status.get("hard") or {}) != (spec.get("hard") or {}):
            yield Reason("Generation", "ResourceQuota", name, "its limits are not observed yet")
        scoped = spec.get("scopes") or spec.get("scopeSelector")
        used = (status.get("used") or {}).get("pods")
        if used is not None and not scoped and used != str(pods):
            yield Reason("Counts", "ResourceQuota", name, f"used.pods is {used}, expected {pods}")


def _counts(kind: str, name: str, owner: Object, pods: list[Object], *, available: bool = True) -> Iterator[Reason]:
    status = owner.get("status") or {}
    ready = sum(holds(p, "Ready") for p in pods)
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

"""Pods are scheduled or refused, deletions are finished, orphans are collected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenario_kit.lab.settle.checks.settle_context import LEFT_ALONE_SECONDS, SCHEDULER, Facts, Reason, find_condition
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.reference import read_group

#: The code of work that the scheduler or the volume binder does once its back-off ends.
DUE: Final = "Due"
#: Kinds that have a controller for deletion, and may own other objects; with their API groups.
_OWNERS = {
    "Pod": "", "Service": "", "Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps", "DaemonSet": "apps",
    "Job": "batch",
}  # fmt: skip
#: Finalizers that controllers of the cluster remove themselves.
_FOREGROUND = "foregroundDeletion"
_COLLECTED = (_FOREGROUND, "orphan", "batch.kubernetes.io/job-tracking")
#: Objects that controllers create in every namespace.
_EVERYWHERE = (("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"))


def check_unplaced(facts: Facts) -> Iterator[Reason]:
    """Yield pods without a scheduling decision; those of another scheduler never get one."""
    for name, pod in facts.of("Pod").items():
        if pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            continue
        if pod["spec"].get("schedulerName", SCHEDULER) != SCHEDULER:
            continue
        verdict = find_condition(pod, "PodScheduled")
        if verdict is None or verdict.get("status") != "False":
            yield Reason("Unscheduled", "Pod", name, "waits for the scheduler")


def check_due(facts: Facts) -> Iterator[Reason]:
    """Yield pods about to be scheduled and claims about to be bound."""
    for each in facts.due:
        yield Reason(DUE, each.kind, each.name, each.text)


def check_deleting(facts: Facts) -> Iterator[Reason]:
    """Yield deletions in progress, except stopping pods and what waits for them."""
    waiting = _find_waiting(facts)
    for kind in sorted(_OWNERS):
        for name, obj in facts.of(kind).items():
            meta = obj["metadata"]
            if "deletionTimestamp" in meta and meta["uid"] not in waiting and not _is_held(facts, obj):
                finalizers = meta.get("finalizers")
                text = f"is being deleted, finalizers {', '.join(finalizers)}" if finalizers else "is being deleted"
                yield Reason("Deleting", kind, name, text)


def _find_waiting(facts: Facts) -> set[str]:
    """Return the UIDs of stopping pods, and of owners that are deleted in the foreground, after their dependents."""
    owners = {obj["metadata"]["uid"]: obj for kind in _OWNERS for obj in facts.of(kind).values()}
    found, waiting = set(facts.stopping), [owners[uid] for uid in facts.stopping if uid in owners]
    while waiting:
        for reference in waiting.pop()["metadata"].get("ownerReferences") or ():
            owner = owners.get(reference["uid"])
            if owner is None or reference["uid"] in found or not reference.get("blockOwnerDeletion"):
                continue
            if "deletionTimestamp" in owner["metadata"] and _FOREGROUND in (owner["metadata"].get("finalizers") or ()):
                found.add(reference["uid"])
                waiting.append(owner)
    return found


def check_orphaned(facts: Facts) -> Iterator[Reason]:
    """Yield objects whose owners are all gone: garbage collection is pending."""
    alive = {obj["metadata"]["uid"] for kind in _OWNERS for obj in facts.of(kind).values()}
    for kind in sorted(facts.kinds):
        for name, obj in facts.of(kind).items():
            owners = obj["metadata"].get("ownerReferences") or ()
            if _is_held(facts, obj) or facts.is_stopping(obj):  # what is stopping has been collected
                continue
            if owners and all(_is_known(o) and o["uid"] not in alive for o in owners):
                lost = f"{owners[0]['kind']}/{owners[0]['name']}"
                yield Reason("Orphaned", kind, name, f"awaits garbage collection: its owner {lost} is gone")


def _is_known(owner: Object) -> bool:
    """Return whether an owner's kind is one of ``_OWNERS``; another group may have a kind of the same name."""
    group = read_group(owner)
    kind = owner["kind"]
    return kind in _OWNERS and ("apiVersion" not in owner or group == _OWNERS[kind])


def _is_held(facts: Facts, obj: Object) -> bool:
    """Return whether a deleted object waits for a finalizer that no controller of the cluster removes."""
    held = set(obj["metadata"].get("finalizers") or ()) - {*_COLLECTED}
    return "deletionTimestamp" in obj["metadata"] and bool(held) and facts.quiet(obj) >= LEFT_ALONE_SECONDS


def check_namespace(facts: Facts) -> Iterator[Reason]:
    """Yield missing standard objects of a namespace; in a terminating one, any other object that is not stopping.

    The namespace controller deletes pods first, and anything else only once no pod is left. It takes five seconds or
    more to delete the standard objects.
    """
    own = facts.namespace
    if own is None or "deletionTimestamp" in own["metadata"]:
        state = "gone" if own is None else "Terminating"
        stops = own is not None and any(map(facts.is_stopping, facts.of("Pod").values()))
        for kind in ["Pod"] if stops else sorted(facts.kinds):
            held = {name: obj for name, obj in facts.of(kind).items() if not facts.is_stopping(obj)}
            names = sorted(name for name in held if (kind, name) not in _EVERYWHERE)
            if names:
                text = f"the namespace is {state} and still holds {len(names)} of this kind"
                yield Reason("Ending", kind, names[0], text)
        return
    name = own["metadata"]["name"]
    for kind, desired in _EVERYWHERE:
        if desired not in facts.of(kind):
            yield Reason("Beginning", "Namespace", name, f"its {kind} {desired} does not exist yet")

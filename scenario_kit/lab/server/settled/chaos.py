"""Chaos records are stationary: every record has reached the desired phase, or keeps failing to.

Phases are compared by full equality (``Not Injected/Wait`` is not ``Not Injected``). The manager writes conditions one
pass before the records, so they are judged together with them.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lab.server.kinds import CHILD_KINDS
from scenario_kit.lab.server.settled.facts import Facts, Reason, holds
from scenario_kit.model.base import Object

#: Failures in a row after which a record counts as failing: the manager retries from 5 ms on, doubling.
_FAILURES = 3
#: A verdict that the manager does not revisit (nothing selected, a failed child) counts once it is this old (wall).
_FINAL_SECONDS = 1.0
_ONE_SHOT = ("pod-kill", "container-kill")
_PAUSE = "experiment.chaos-mesh.org/pause"


def experiments(facts: Facts) -> Iterator[Reason]:
    """Experiments that the manager is still working on."""
    for obj in facts.experiments:
        problem = _experiment(obj, facts)
        if problem:
            yield Reason("Chaos", obj["kind"], obj["metadata"]["name"], problem)


def children(facts: Facts) -> Iterator[Reason]:
    """Per-pod children that are not programmed yet."""
    for kind in sorted(CHILD_KINDS):
        for name, child in facts.of(kind).items():
            status = child.get("status") or {}
            if int(status.get("observedGeneration", 0)) >= int(child["metadata"].get("generation", 0)):
                continue
            if not (status.get("failedMessage") and facts.quiet(child) >= _FINAL_SECONDS):
                yield Reason("Chaos", kind, name, "its generation is not observed by the manager yet")


def selects(obj: Object, namespace: str) -> bool:
    """Whether an experiment concerns a namespace: it lives there, or selects pods there."""
    if obj["metadata"].get("namespace") == namespace:
        return True
    spec = obj.get("spec") or {}
    selectors = [spec.get("selector") or {}, (spec.get("target") or {}).get("selector") or {}]
    return any(namespace in (s.get("namespaces") or ()) or namespace in (s.get("pods") or {}) for s in selectors)


def _experiment(obj: Object, facts: Facts) -> str:
    status = obj.get("status") or {}
    records = (status.get("experiment") or {}).get("containerRecords") or []
    deleted = "deletionTimestamp" in obj["metadata"]
    stop = deleted or (obj["metadata"].get("annotations") or {}).get(_PAUSE) == "true"
    if (obj.get("spec") or {}).get("action") in _ONE_SHOT:
        stop = False
    if not records:
        if not deleted and status.get("conditions") and facts.quiet(obj) >= _FINAL_SECONDS:
            return ""
        return "is being deleted" if deleted else "has not selected any target yet"
    wanted = "Not Injected" if stop else "Injected"
    moving = [r for r in records if r.get("phase") != wanted and not _failing(r)]
    if moving:
        return f"record {moving[0].get('id')} is {moving[0].get('phase')!r}, expected {wanted!r}"
    if any(_failing(r) for r in records):
        return ""
    if deleted:
        return "is being deleted"
    expected = {"AllInjected": not stop, "AllRecovered": stop}
    late = [type_ for type_, value in expected.items() if holds(obj, type_) != value]
    return f"condition {late[0]} does not say yet what the records say" if late else ""


def _failing(record: Object) -> bool:
    events = record.get("events") or ()
    return len(events) >= _FAILURES and all(event.get("type") == "Failed" for event in list(events)[-_FAILURES:])

"""Chaos experiments are stationary: each record has reached its desired phase or keeps failing to.

Phases are compared by equality (``Not Injected/Wait`` is not ``Not Injected``). The manager writes conditions one
reconcile before the records, so both are checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenario_kit.lab.informers.watched_kinds import CHILD_KINDS
from scenario_kit.lab.settle.chaos_lengths import is_expired, is_paused
from scenario_kit.lab.settle.checks.settle_context import Facts, Reason, is_condition_true, read_controller_uid
from scenario_kit.model.base import Object
from scenario_kit.model.chaos.kinds import ONE_SHOT, SCHEDULE, read_period
from scenario_kit.model.chaos.reach import list_namespaces

#: A failure is final once nothing has changed for this long (wall clock): the manager retries from 5 ms on with a
#: doubling back-off, about eight times by then. Also for what it does not retry (nothing selected).
_FINAL_SECONDS = 1.0
#: The manager reports in an event that it selected nothing. If the event is lost, no change for this long (wall clock)
#: counts as well: the API server delays the first child of a newly installed kind by two seconds.
_SILENT_SECONDS = 10.0
#: A Schedule counts as left alone after this long (wall clock): its manager gives up after four conflicting writes, but
#: one that is only slow, on a busy machine, must not lose a start.
_SCHEDULE_SILENT_SECONDS = 30.0


def check_experiments(facts: Facts) -> Iterator[Reason]:
    """Yield experiments and Schedules that the manager is still working on."""
    for obj in facts.experiments:
        check = _check_schedule if obj["kind"] == SCHEDULE else _check_experiment
        problem = check(obj, facts)
        if problem:
            yield Reason("Chaos", obj["kind"], obj["metadata"]["name"], problem)


def check_children(facts: Facts) -> Iterator[Reason]:
    """Yield per-pod children that are not programmed yet."""
    for kind in sorted(CHILD_KINDS):
        for name, child in facts.of(kind).items():
            status = child.get("status") or {}
            if int(status.get("observedGeneration", 0)) >= int(child["metadata"].get("generation", 0)):
                continue
            if not _has_failed(child, facts):
                yield Reason("Chaos", kind, name, "the manager has not observed its generation yet")


def affects_namespace(obj: Object, namespace: str) -> bool:
    """Return whether an experiment lives in a namespace or selects pods there."""
    return obj["metadata"].get("namespace") == namespace or namespace in list_namespaces(obj)


def _check_schedule(obj: Object, facts: Facts) -> str:
    if "deletionTimestamp" in obj["metadata"]:
        return "is being deleted"
    if read_period(obj) is None:
        return f"starts at {obj['spec'].get('schedule')!r}, and a trial's clock can only play '@every' with a duration"
    started = [e for e in facts.experiments if read_controller_uid(e) == obj["metadata"]["uid"]]
    listed = {each.get("name") for each in (obj.get("status") or {}).get("active") or ()}
    if listed != {each["metadata"]["name"] for each in started} and facts.quiet(obj) < _SCHEDULE_SILENT_SECONDS:
        return "does not list its experiments yet"
    if not is_expired(obj, facts.wall) or is_paused(obj) or facts.quiet(obj) >= _SCHEDULE_SILENT_SECONDS:
        return ""
    forbidden = obj["spec"].get("concurrencyPolicy", "Forbid") == "Forbid"
    if forbidden and any(not _has_finished(each, facts) for each in started):
        return ""
    return "has not started its experiment yet"


def _has_finished(obj: Object, facts: Facts) -> bool:
    """Return whether an experiment counts as finished for its Schedule: ``IsChaosFinished`` in Chaos Mesh."""
    records = ((obj.get("status") or {}).get("experiment") or {}).get("containerRecords") or []
    if (obj.get("spec") or {}).get("action") in ONE_SHOT:
        return bool(records) and all(r.get("phase") == "Injected" for r in records)
    return is_expired(obj, facts.wall) and all(r.get("phase") == "Not Injected" for r in records)


def _is_orphan(obj: Object, facts: Facts) -> bool:
    """Return whether an experiment was started by a Schedule that is gone."""
    owner = read_controller_uid(obj)
    return bool(owner) and all(each["metadata"]["uid"] != owner for each in facts.experiments)


def _check_experiment(obj: Object, facts: Facts) -> str:
    if "deletionTimestamp" not in obj["metadata"] and _is_orphan(obj, facts):
        return "its Schedule is gone, and it is not collected yet"
    status = obj.get("status") or {}
    records = (status.get("experiment") or {}).get("containerRecords") or []
    deleted = "deletionTimestamp" in obj["metadata"]
    stop = deleted or is_paused(obj) or is_expired(obj, facts.wall)
    if (obj.get("spec") or {}).get("action") in ONE_SHOT:
        stop = False
    if not records:
        if deleted:
            return "is being deleted"
        answered = status.get("conditions") and obj["metadata"].get("uid") in facts.refused
        enough = facts.quiet(obj) >= (_FINAL_SECONDS if answered else _SILENT_SECONDS)
        return "" if enough else "has not selected targets yet"
    desired = "Not Injected" if stop else "Injected"
    failing = [r for r in records if r.get("phase") != desired and _is_failing(obj, r, facts)]
    moving = [r for r in records if r.get("phase") != desired and r not in failing]
    if moving:
        return f"record {moving[0].get('id')} is {moving[0].get('phase')!r}, expected {desired!r}"
    if failing:
        return ""
    if deleted:
        return "is being deleted"
    expected = {"AllInjected": not stop, "AllRecovered": stop}
    late = [type_ for type_, value in expected.items() if is_condition_true(obj, type_) != value]
    return f"condition {late[0]} does not match the records yet" if late else ""


def _is_failing(obj: Object, record: Object, facts: Facts) -> bool:
    """Return whether a record's last attempt, or that of its pod's child, failed for good."""
    events = record.get("events") or ()
    if events and events[-1].get("type") == "Failed" and facts.quiet(obj) >= _FINAL_SECONDS:
        return True
    pod = str(record.get("id", "")).partition("/")[2]
    children_of_pod = (facts.of(kind).get(pod) for kind in CHILD_KINDS)
    return any(child is not None and _has_failed(child, facts) for child in children_of_pod)


def _has_failed(child: Object, facts: Facts) -> bool:
    message = (child.get("status") or {}).get("failedMessage")
    return bool(message) and facts.quiet(child) >= _FINAL_SECONDS

"""Limits on pods and disks that a change may request, as clusters are shared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenario_kit.admission.breach import Breach
from scenario_kit.admission.claims import find_claims
from scenario_kit.model import Object
from scenario_kit.model.chaos.kinds import SCHEDULE, read_period
from scenario_kit.model.json_document import Place
from scenario_kit.model.kubernetes.quantity import parse_quantity
from scenario_kit.model.kubernetes.reference import make_object_reference

#: Maximum number of pods, as for the operation `scale`.
MAX_PODS: Final = 1000
#: Maximum disk size; larger claims would provision costly disks.
MAX_DISK: Final = "1Ti"
_SCALED: Final = (
    "Deployment", "HorizontalPodAutoscaler", "ReplicaSet", "ReplicationController", "StatefulSet",
)  # fmt: skip
_FIELDS: Final = ("replicas", "minReplicas", "maxReplicas", "parallelism", "completions")
#: Jobs of a CronJob that may overlap if it starts one a minute, for the hour that a trial watches.
_OVERLAP: Final = 60
#: A part of the minutes of a schedule: a range or all of them, and a step.
_MINUTES: Final = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?")
#: Schedules that start no more than one Job an hour.
_NAMED: Final = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
#: Experiments that a Schedule may keep, and the shortest period in seconds in which it starts them.
MAX_HISTORY: Final = 100
MIN_PERIOD: Final = 10


def check_amounts(obj: Object) -> Iterator[Breach]:
    """Check the number of pods, the disk size and the experiments that an object requests."""
    for keys, spec in _list_specs(obj):
        for field in _FIELDS:
            count = _count(spec.get(field))
            if count > MAX_PODS:
                note = f"requests {count} pods (`{field}`)"
                yield Breach("SK226", (*keys, field), count, note, expected=f"at most {MAX_PODS}")
    for keys, claim in find_claims(obj):
        size = ((claim.get("resources") or {}).get("requests") or {}).get("storage")
        if size is not None and _parse_size(size) > parse_quantity(MAX_DISK):
            note = f"requests a disk of {size}"
            place: Place = (*keys, "resources", "requests", "storage")
            yield Breach("SK226", place, size, note, expected=f"at most {MAX_DISK}")
    if obj["kind"] == SCHEDULE:
        yield from _check_schedule(obj)


def check_totals(objects: Sequence[Object], before: Sequence[Object]) -> Iterator[tuple[Object, Breach]]:
    """Check what objects request together, beyond those ``before``; yield each breach with the object that adds most.

    A CronJob whose Jobs may overlap requests the pods of all that start in an hour.
    """
    kept = {id(o) for o in before}  # most objects, as changes copy only what they write
    written = [o for o in objects if id(o) not in kept]
    names = {make_object_reference(o) for o in written}
    replaced = [o for o in before if make_object_reference(o) in names] if names else []
    for count, most, unit in ((count_pods, float(MAX_PODS), "pods"), (count_disk, 1.0, "Ti of disk")):
        former = {make_object_reference(o): count(o) for o in replaced}
        added = [(count(o) - former.get(make_object_reference(o), 0), o) for o in written]
        total = sum(number for number, _ in added)
        if total > most:
            number, obj = max(added, key=lambda each: each[0])
            note = f"requests {number:g} {unit}"
            note += f", with the other changes {total:g}" if total > number else ""
            yield (
                obj,
                Breach("SK226", _find_amount(obj), f"{number:g}", note, expected=f"at most {most:g} {unit} together"),
            )


def count_pods(obj: Object) -> float:
    """Count the pods that an object may have at the same time."""
    found = obj.get("spec")
    spec: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    if obj["kind"] == "Pod":
        return 1
    if obj["kind"] == "CronJob":
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        overlap = 1 if spec.get("concurrencyPolicy") in ("Forbid", "Replace") else count_starts(spec.get("schedule"))
        return overlap * _count(job.get("parallelism"), 1)
    if obj["kind"] == "Job":
        return _count(spec.get("parallelism"), 1)
    return max(_count(spec.get("replicas"), 1), _count(spec.get("maxReplicas"))) if obj["kind"] in _SCALED else 0


def count_starts(schedule: Any) -> int:
    """Count the minutes of an hour in which a CronJob's schedule starts a Job (crontab(5)); 60 if it cannot be read."""
    text = str(schedule or "").strip()
    if text in _NAMED:
        return 1
    minutes: set[int] = set()
    for part in (text.split() or [""])[0].split(","):
        match = _MINUTES.fullmatch(part)
        if match is None or match[3] in ("0", "00"):
            return _OVERLAP
        first = int(match[1] or 0)
        last = int(match[2] or first) if match[1] and not (match[3] and not match[2]) else _OVERLAP - 1
        minutes |= set(range(first, last + 1, int(match[3] or 1)))
    return max(len(minutes), 1)


def count_disk(obj: Object) -> float:
    """Count the Ti of disk that an object requests, one claim for each of its pods."""
    sizes = (((c.get("resources") or {}).get("requests") or {}).get("storage") for _, c in find_claims(obj))
    claims = sum(_parse_size(size) for size in sizes if size is not None)
    return (
        claims / parse_quantity(MAX_DISK) * (1 if obj["kind"] == "PersistentVolumeClaim" else max(count_pods(obj), 1))
    )


def _check_schedule(obj: Object) -> Iterator[Breach]:
    spec: Mapping[str, Any] = obj.get("spec") or {}
    history = _count(spec.get("historyLimit"))
    if history > MAX_HISTORY:
        note = f"keeps {history} experiments (`historyLimit`)"
        yield Breach("SK226", ("spec", "historyLimit"), history, note, expected=f"at most {MAX_HISTORY}")
    period = read_period(obj)
    if period is not None and period < MIN_PERIOD:
        note = f"starts an experiment every {period:g} s"
        yield Breach("SK226", ("spec", "schedule"), spec["schedule"], note, expected=f"at least {MIN_PERIOD} s")


def _count(value: Any, missing: int = 0) -> int:
    """Read a number of objects; text that is no number, which the API server rejects, counts as none."""
    if value is None:
        return missing
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return 0


def _parse_size(size: Any) -> float:
    try:
        return parse_quantity(size)
    except (TypeError, ValueError):
        return 0  # the API server rejects such a quantity


def _find_amount(obj: Object) -> Place:
    """Return the place of the number that an object requests."""
    for keys, spec in _list_specs(obj):
        for field in _FIELDS:
            if field in spec:
                return (*keys, field)
    return ("kind",)


def _list_specs(obj: Object) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    spec = obj.get("spec")
    if isinstance(spec, Mapping):
        yield ("spec",), spec
        inner = (spec.get("jobTemplate") or {}).get("spec")
        if isinstance(inner, Mapping):
            yield ("spec", "jobTemplate", "spec"), inner

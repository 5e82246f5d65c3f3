"""Runs the simulated kubelet on one case with a virtual clock, without a cluster."""

from __future__ import annotations

from scenario_kit.lab.kubelet.image.images import ImageCache
from scenario_kit.lab.kubelet.pod.events import EventRecorder
from scenario_kit.lab.kubelet.pod.pod_state import PodMemory
from scenario_kit.lab.kubelet.status import SyncInputs, compute_pod_status
from scenario_kit.model.base import Object
from scenario_kit.model.kubernetes.timestamp import format_timestamp
from tools.reality.cases import ABSENT, HAS, IMAGE, Case
from tools.reality.program import Programs
from tools.reality.recording import PodView, Recording, drop_repeats, read_event, read_view

START = 1_767_225_600.0
NODE: Object = {
    "metadata": {"name": "simulated-1"},
    "status": {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "allocatable": {"cpu": "2", "memory": "16Gi", "pods": "110"},
    },
}
_DEFAULT_GRACE = 30


class _Objects:
    """The objects of a case that exist at a given time."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.now = 0.0

    def find(self, kind: str, name: str) -> Object | None:
        """See ``Lookup``."""
        late = self._case.later if self.now >= self._case.later_at else ()
        for obj in (*self._case.objects, *late):
            if obj["kind"] == kind and obj["metadata"]["name"] == name:
                return obj
        return None


def replay(case: Case, pod: Object) -> Recording:
    """Run the simulated kubelet on ``pod``, as stored by the API server, for the case's time."""
    objects, images, recorder = _Objects(case), ImageCache(), EventRecorder()
    processes = Programs({case.name: dict(case.programs)}, frozenset({ABSENT}), HAS)
    images.add("case", IMAGE, START)
    views: list[PodView] = [PodView(at=0, phase="Pending")]
    events: dict[str, Object] = {}
    status: Object = {"phase": "Pending"}
    memory: PodMemory | None = None
    at: float | None = 0.0
    gone: float | None = None
    while at is not None and at <= case.seconds and gone is None:
        deleted = case.delete_at is not None and at >= case.delete_at
        if deleted and case.grace == 0:
            gone = at
            break
        objects.now = at
        now = {**(_mark_deleted(case, pod) if deleted else pod), "status": status}
        done = compute_pod_status(
            now, SyncInputs(NODE, objects, processes, images.of("case")), START + at, ip="10.244.0.7", memory=memory
        )
        status, memory = done.status, done.memory
        views.append(read_view({**now, "status": status}, at))
        for reported in done.events:
            obj = recorder.record(now, reported)
            if obj is not None:
                events[obj["metadata"]["name"]] = obj
        gone = at if done.gone else None
        at = _find_next_instant(case, at, None if done.next_wakeup is None else done.next_wakeup - START)
    return Recording(
        case=case.name,
        seconds=case.seconds,
        views=drop_repeats(views),
        events=tuple(read_event(obj, START) for obj in events.values()),
        gone=gone,
    )


def _find_next_instant(case: Case, at: float, wakeup: float | None) -> float | None:
    planned = [case.delete_at] if case.delete_at is not None and case.delete_at > at else []
    due = [*planned, *([] if wakeup is None else [max(wakeup, at + 0.001)])]
    return min(due, default=None)


def _mark_deleted(case: Case, pod: Object) -> Object:
    own = pod["spec"].get("terminationGracePeriodSeconds", _DEFAULT_GRACE)
    grace = own if case.grace is None else case.grace
    ends = format_timestamp(START + (case.delete_at or 0) + grace)
    meta = {**pod["metadata"], "deletionTimestamp": ends, "deletionGracePeriodSeconds": grace}
    return {**pod, "metadata": meta}

"""The observable behavior of one pod: status views in order, events and removal. Pure."""

from __future__ import annotations

import re

from scenario_kit.model.base import Object, Value
from scenario_kit.model.kubernetes.timestamp import parse_timestamp

_PATTERNS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<id>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?=[:/ ]|$)"), "<ip>"),
    (re.compile(r"\bin [\d.ms]+ \([\d.ms]+ including waiting\)"), "in <time>"),
    (re.compile(r"\bImage size: \d+ bytes"), "Image size: <n> bytes"),
)


class ContainerView(Value, frozen=True, kw_only=True):
    """A container's status. ``last`` is reason and exit code of the previous instance."""

    state: str
    reason: str = ""
    code: int | None = None
    message: str = ""
    restarts: int = 0
    ready: bool = False
    started: bool = False
    last: str = ""

    @property
    def word(self) -> str:
        """State, reason and exit code."""
        return " ".join([self.state, self.reason, *([] if self.code is None else [str(self.code)])]).strip()


class PodView(Value, frozen=True, kw_only=True):
    """A pod's status. ``at`` is in seconds; conditions combine status, reason and message."""

    at: float
    phase: str
    reason: str = ""
    message: str = ""
    conditions: dict[str, str] = {}
    containers: dict[str, ContainerView] = {}


class Event(Value, frozen=True, kw_only=True):
    """Equal events with their count; ``first`` and ``last`` are in seconds."""

    type: str
    reason: str
    message: str
    where: str = ""
    count: int = 1
    first: float = 0.0
    last: float = 0.0


class Recording(Value, frozen=True, kw_only=True):
    """One pod, with times as in ``Case``. ``gone`` is when it was removed, if it was."""

    case: str
    seconds: float
    views: tuple[PodView, ...]
    events: tuple[Event, ...] = ()
    gone: float | None = None


def normalise_text(text: str, namespace: str) -> str:
    """Replace what differs from pod to pod in a message: identities, addresses, durations, the namespace."""
    for pattern, word in _PATTERNS:
        text = pattern.sub(word, text)
    return re.sub(rf"(?<![A-Za-z0-9.-]){re.escape(namespace)}(?![A-Za-z0-9.-])", "<namespace>", text)


def read_view(pod: Object, at: float) -> PodView:
    """Read the pod's status at that time."""
    status, space = pod.get("status") or {}, pod["metadata"]["namespace"]
    entries = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return PodView(
        at=round(at, 1),
        phase=status.get("phase", ""),
        reason=status.get("reason", ""),
        message=normalise_text(status.get("message", ""), space),
        conditions={
            c["type"]: normalise_text(
                ": ".join([f"{c['status']} {c.get('reason', '')}".strip(), *_list_messages(c)]), space
            )
            for c in status.get("conditions") or ()
        },
        containers={e["name"]: _read_container(e, space) for e in entries},
    )


def has_begun(pod: Object) -> bool:
    """Return whether the kubelet has got to the pod's first container: it runs, has ended, or is refused."""
    status = pod.get("status") or {}
    entries = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    states = [e.get("state") or {} for e in entries]
    early = ("ContainerCreating", "PodInitializing")
    return any(s and (s.get("waiting") or {}).get("reason") not in early for s in states)


def read_event(obj: Object, began: float) -> Event:
    """Read an Event object, of a pod that began at ``began`` (seconds since the epoch)."""
    path = obj["involvedObject"].get("fieldPath", "")
    return Event(
        type=obj["type"],
        reason=obj["reason"],
        message=normalise_text(obj["message"], obj["involvedObject"]["namespace"]),
        where=path[path.find("{") + 1 : -1] if "{" in path else "",
        count=obj.get("count") or 1,
        first=round(parse_timestamp(obj["firstTimestamp"]) - began, 1),
        last=round(parse_timestamp(obj["lastTimestamp"]) - began, 1),
    )


def drop_repeats(views: list[PodView]) -> tuple[PodView, ...]:
    """Drop views that differ from the one before in nothing but time."""
    kept: list[PodView] = []
    for one in views:
        if not kept or kept[-1].to_json() | {"at": 0} != one.to_json() | {"at": 0}:
            kept.append(one)
    return tuple(kept)


def _read_container(entry: Object, namespace: str) -> ContainerView:
    states: dict[str, Object] = entry.get("state") or {"waiting": {}}
    state, inner = next(iter(states.items()))
    last = (entry.get("lastState") or {}).get("terminated")
    return ContainerView(
        state=state,
        reason=inner.get("reason", ""),
        code=inner.get("exitCode"),
        message=normalise_text(inner.get("message", ""), namespace),
        restarts=entry.get("restartCount", 0),
        ready=bool(entry.get("ready")),
        started=bool(entry.get("started")),
        last=f"{last.get('reason', '')} {last['exitCode']}" if last else "",
    )


def _list_messages(condition: Object) -> list[str]:
    return [condition["message"]] if condition.get("message") else []

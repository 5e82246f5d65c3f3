"""What shows the effect of a fault beside its own checks: programs that end, work that fails or stops. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.judge.alerts.propagation_traffic import compute_chance
from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.status import list_container_statuses
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.runtime.observation import Work

#: Smaller changes are drift: of the share of requests that fail, and of the rate, as a share of what it was.
_FAILING: Final = 0.05
_LEFT: Final = 0.5
#: How likely chance alone may be.
_CHANCE: Final = 0.001


def list_affected(app: App, components: Iterable[str]) -> list[str]:
    """Return the components in which trouble of the given ones can show.

    These are the components themselves, whoever calls them, directly or through others, and the other side of a message
    broker: its consumers starve when a producer cannot send.
    """
    found = list(dict.fromkeys(components))
    for name in found:  # it grows meanwhile
        queues = [c.name for c in app.components if c.role == "Queue" and name in (c.name, *app.producers(c.name))]
        reached = [*app.dependants(name), *(consumer for queue in queues for consumer in app.consumers(queue))]
        found += [each for each in dict.fromkeys(reached) if each not in found]
    return found


def describe_crashes(pods: Iterable[tuple[str, Object]], since: float) -> list[str]:
    """Describe the containers that ended by themselves since then; each pod comes with its workload."""
    found = set()
    for workload, pod in pods:
        for container in list_container_statuses(pod.get("status") or {}):
            for state in (container.get("state") or {}, container.get("lastState") or {}):
                ended = state.get("terminated") or {}
                at = ended.get("finishedAt")
                if ended.get("exitCode") and at and parse_timestamp(at) >= since:
                    reason = ended.get("reason") or "Error"
                    found.add(f"container {container['name']} of {workload} ended: {reason}, code {ended['exitCode']}")
    return sorted(found)


def describe_losses(names: Iterable[str], before: Mapping[str, Work], during: Mapping[str, Work]) -> list[str]:
    """Describe which components fail more requests than before, or have less than half of their work left."""
    if not during:
        return []  # nothing was measured, which may be the doing of whoever measures
    nothing = Work(seconds=next(iter(during.values())).seconds, requests=0.0)
    found = []
    for name in names:
        was = before.get(name)
        if was is None or was.requests <= 0:
            continue
        now = during.get(name, nothing)
        if _fails_more(was, now):
            found.append(f"{name} fails {_compute_share(now):.0%} of its requests, {_compute_share(was):.0%} before")
        elif _has_less(was, now):
            found.append(f"{name} has {_rate(now):.3g} requests/s, {_rate(was):.3g} before")
    return found


def _fails_more(was: Work, now: Work) -> bool:
    rises = now.requests > 0 and _compute_share(now) - _compute_share(was) >= _FAILING
    return rises and compute_chance(was.errors, now.errors, was.requests, now.requests) < _CHANCE


def _has_less(was: Work, now: Work) -> bool:
    falls = _rate(now) < _LEFT * _rate(was)
    return falls and compute_chance(was.requests, now.requests, was.seconds, now.seconds) < _CHANCE


def _compute_share(work: Work) -> float:
    return work.errors / work.requests if work.requests > 0 else 0.0


def _rate(work: Work) -> float:
    return work.requests / max(work.seconds, 1.0)

"""Find effects of a fault beyond its own checks: crashed containers, failed requests, lost traffic. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from scenario_kit.judge.alerts.propagation_traffic import compute_chance, compute_error_ratio, compute_rate
from scenario_kit.model import App, Object
from scenario_kit.model.kubernetes.status import list_container_statuses
from scenario_kit.model.kubernetes.timestamp import parse_timestamp
from scenario_kit.model.runtime.observation import Work

#: Minimum rise of the error ratio, and maximum remaining share of the request rate.
_ERROR_RISE: Final = 0.05
_RATE_LEFT: Final = 0.5
#: Significance level.
_ALPHA: Final = 0.001


def list_affected(app: App, components: Iterable[str]) -> list[str]:
    """List the components in which effects of faults on the given ones can show.

    These are the components themselves, their direct and indirect callers, and the consumers of a message broker whose
    producer fails.
    """
    found = list(dict.fromkeys(components))
    for name in found:  # the list grows during the loop
        queues = [c.name for c in app.components if c.role == "Queue" and name in (c.name, *app.producers(c.name))]
        reached = [*app.dependants(name), *(consumer for queue in queues for consumer in app.consumers(queue))]
        found += [each for each in dict.fromkeys(reached) if each not in found]
    return found


def describe_crashes(pods: Iterable[tuple[str, Object]], since: float) -> list[str]:
    """Describe containers that exited with an error since ``since``; each pod comes with the name of its workload."""
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
    """Describe components whose error ratio rose or whose request rate fell below half."""
    if not during:
        return []  # without any measurement, telemetry itself may be down
    nothing = Work(seconds=next(iter(during.values())).seconds, requests=0.0)
    found = []
    for name in names:
        was = before.get(name)
        if was is None or was.requests <= 0:
            continue
        now = during.get(name, nothing)
        if _fails_more(was, now):
            found.append(
                f"{name} fails {compute_error_ratio(now):.0%} of its requests, {compute_error_ratio(was):.0%} before"
            )
        elif _has_less(was, now):
            found.append(f"{name} has {compute_rate(now):.3g} requests/s, {compute_rate(was):.3g} before")
    return found


def _fails_more(was: Work, now: Work) -> bool:
    rises = now.requests > 0 and compute_error_ratio(now) - compute_error_ratio(was) >= _ERROR_RISE
    return rises and compute_chance(was.errors, now.errors, was.requests, now.requests) < _ALPHA


def _has_less(was: Work, now: Work) -> bool:
    falls = compute_rate(now) < _RATE_LEFT * compute_rate(was)
    return falls and compute_chance(was.requests, now.requests, was.seconds, now.seconds) < _ALPHA

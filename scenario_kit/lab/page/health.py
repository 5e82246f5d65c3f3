"""The health of an app's components, from pods, spans and alerts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from scenario_kit.model import AlertTimeline, App, Object, Value
from scenario_kit.model.kubernetes.status import list_container_statuses, list_serving_statuses
from scenario_kit.model.runtime.trace import SERVED_SPANS
from scenario_kit.observe.entities import find_by_name
from scenario_kit.ports import Series

#: Good, degraded, broken, or unknown.
Tone = Literal["good", "open", "bad", "plain"]

#: Thresholds: the default alert pack's, and those for a warning.
ERRORS, SOME_ERRORS, SLOW_MS = 0.05, 0.005, 1500.0
#: Requests per second below which an error ratio is not meaningful.
_FLOOR: Final = 0.1
CALLS: Final = f"sum by (service_name, status_code) (rate(traces_span_metrics_calls_total{{{SERVED_SPANS}}}[2m]))"
LATENCY: Final = (
    "histogram_quantile(0.95, sum by (service_name, le) "
    f"(rate(traces_span_metrics_duration_milliseconds_bucket{{{SERVED_SPANS}}}[2m])))"
)


class ServedTraffic(NamedTuple):
    """Requests served in the last two minutes: rate per second, error ratio, p95 in milliseconds."""

    rate: float
    errors: float
    p95: float | None


class Pods(NamedTuple):
    """The pods of a workload. ``desired`` is None if the workload does not exist."""

    desired: int | None
    ready: int
    restarts: int
    reason: str


class ComponentHealth(Value, frozen=True, kw_only=True, omit_defaults=False):
    """One component. ``word`` is its state, ``detail`` its traffic; ``firing`` are its alerts."""

    name: str
    workload: str
    role: str
    tone: Tone
    word: str
    detail: str
    ready: str
    restarts: int
    firing: tuple[str, ...] = ()


def summarise_served(calls: Iterable[Series], latency: Iterable[Series]) -> dict[str, ServedTraffic]:
    """Summarise the results of ``CALLS`` and ``LATENCY`` by component."""
    total: dict[str, float] = {}
    failed: dict[str, float] = {}
    for series in calls:
        name, value = series.labels.get("service_name", ""), _read_last(series)
        total[name] = total.get(name, 0.0) + value
        if series.labels.get("status_code") == "STATUS_CODE_ERROR":
            failed[name] = failed.get(name, 0.0) + value
    p95 = {s.labels.get("service_name", ""): value for s in latency if math.isfinite(value := _read_last(s))}
    return {
        name: ServedTraffic(rate, failed.get(name, 0.0) / rate if rate > 0 else 0.0, p95.get(name))
        for name, rate in total.items()
    }


def group_pods(workloads: Iterable[Object], pods: Iterable[Object], app: App) -> dict[str, Pods]:
    """Group pods by workload reference (``Deployment/cart``), by their names."""
    members: dict[str, list[Object]] = {}
    for pod in pods:
        ref = find_by_name(pod["metadata"]["name"], app)
        members.setdefault(f"{ref.kind}/{ref.name}", []).append(pod)
    found = {}
    for workload in workloads:
        name = f"{workload['kind']}/{workload['metadata']['name']}"
        own = members.get(name, [])
        desired = workload.get("spec", {}).get("replicas")
        if workload["kind"] == "DaemonSet":
            desired = workload.get("status", {}).get("desiredNumberScheduled", 0)
        found[name] = Pods(
            desired=1 if desired is None else int(desired),
            ready=sum(1 for pod in own if is_ready(pod)),
            restarts=sum(_count_restarts(pod) for pod in own),
            reason=next((text for pod in own if not is_ready(pod) and (text := find_reason(pod))), ""),
        )
    return found


def assess_components(
    app: App, pods: Mapping[str, Pods], traffic: Mapping[str, ServedTraffic], timelines: Sequence[AlertTimeline]
) -> list[ComponentHealth]:
    """Return the health of every component, in the order of the app's definition."""
    firing: dict[str, set[str]] = {}
    for timeline in timelines:
        if any(interval.end is None for interval in timeline.firing) and timeline.entity:
            firing.setdefault(f"{timeline.entity.kind}/{timeline.entity.name}", set()).add(timeline.name)
    result = []
    for component in app.components:
        bare = f"{component.workload.kind}/{component.workload.name}"
        own = pods.get(bare, Pods(None, 0, 0, ""))
        answered = traffic.get(component.name)
        tone, word = judge(own, answered)
        about = tuple(sorted(firing.get(bare, ())))
        if about and tone == "good":
            tone = "open"
        result.append(
            ComponentHealth(
                name=component.name,
                workload=bare,
                role=component.role,
                tone=tone,
                word=word,
                detail=format_traffic(answered),
                ready="" if own.desired is None else f"{own.ready}/{own.desired}",
                restarts=own.restarts,
                firing=about,
            )
        )
    return result


def judge(pods: Pods, served: ServedTraffic | None) -> tuple[Tone, str]:
    """Return tone and word of a component; the worst problem first."""
    if pods.desired is None:
        return "plain", "not there"
    if pods.desired == 0:
        return "bad", "scaled to 0"
    count = f"{pods.ready}/{pods.desired} {pods.reason or 'ready'}"
    if pods.ready == 0:
        return "bad", count
    if served and served.rate <= 0 and pods.ready == pods.desired:
        return "open", "no requests"  # it served some before, or there would be no series
    busy = served is not None and served.rate > _FLOOR
    if served and busy and served.errors > ERRORS:
        return "bad", f"{served.errors:.0%} fail"
    if pods.ready < pods.desired:
        return "open", count
    if served and busy and served.p95 is not None and served.p95 > SLOW_MS:
        return "open", f"slow, p95 {format_milliseconds(served.p95)}"
    if served and busy and served.errors > SOME_ERRORS:
        return "open", f"{served.errors:.1%} fail"
    return "good", "works"


def format_traffic(served: ServedTraffic | None) -> str:
    """Format traffic in a few characters; empty for a component that serves no spans."""
    if served is None:
        return ""
    if served.rate <= 0:
        return "no requests"
    rate = f"{served.rate:.0f}/s" if served.rate >= 10 else f"{served.rate:.1f}/s"
    return rate if served.p95 is None else f"{rate}, p95 {format_milliseconds(served.p95)}"


def format_milliseconds(value: float) -> str:
    """Format milliseconds in a suitable unit."""
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"


def is_ready(pod: Object) -> bool:
    """Return whether a pod is ready and not being deleted."""
    conditions = pod.get("status", {}).get("conditions") or ()
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def find_reason(pod: Object) -> str:
    """Return why a pod is not ready, in kubectl's word; empty if unknown."""
    status = pod.get("status", {})
    if "deletionTimestamp" in pod["metadata"]:
        return "Terminating"
    for each in list_container_statuses(status):
        state = each.get("state", {})
        text = state.get("waiting", {}).get("reason") or state.get("terminated", {}).get("reason")
        if text and text != "Completed":
            return str(text)
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("reason", "Unscheduled"))
    return str(status.get("reason") or ("" if status.get("phase") == "Running" else status.get("phase", "")))


def _count_restarts(pod: Object) -> int:
    return sum(int(c.get("restartCount", 0)) for c in list_serving_statuses(pod))


def _read_last(series: Series) -> float:
    return series.points[-1][1] if series.points else 0.0

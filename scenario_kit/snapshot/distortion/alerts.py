"""Evaluate alert rules on distorted telemetry, and verify with a control run that it raises no alert by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from scenario_kit.errors import AuthoringError
from scenario_kit.model import AlertHistory, Reference
from scenario_kit.model.grid import GRID_SECONDS
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.observe import AlertEvaluator
from scenario_kit.observe.alert_evaluator import AlertScope
from scenario_kit.snapshot.canonical.names import NameMap
from scenario_kit.snapshot.canonical.pods import PodDirectory
from scenario_kit.snapshot.canonical.times import keep_times
from scenario_kit.snapshot.distortion.apply import Distortion
from scenario_kit.snapshot.recording import Recording

_KINDS: Final = ("Deployment", "StatefulSet", "DaemonSet", "Job")


class SeriesSink(Protocol):
    """Takes ticks with their complete sets of series."""

    def write(self, batch: Sequence[tuple[float, Mapping[SeriesId, float]]]) -> None:
        """Write ticks."""

    def close(self) -> None:
        """Close the connection."""


def distort_recording(
    recording: Recording, distortion: Distortion, copies: Mapping[str, str], sink_of: Callable[[], SeriesSink]
) -> Recording:
    """Distort the log lines, spans and samples of a recording, and recompute its alerts.

    ``copies`` maps the app's namespaces to those under which distorted series are written for the rules.

    Raises:
        MetricsError: Prometheus does not answer, or rejects the copy.
    """
    pods = read_pods(recording)
    names = {name: pod.service for (_, name), pod in pods.pods.items()}
    changed = replace(
        recording,
        read_ticks=lambda: distortion.distort_ticks(recording.read_ticks(), names),
        store=distortion.show_series,
        disorder=distortion.disorder,
    )
    if not distortion.touches_metrics:
        return changed
    copy_series(recording, distortion, copies, sink_of)
    alerted = tuple(copies[namespace] for namespace in recording.runbook.everywhere)
    return replace(changed, history=evaluate_alerts(recording, alerted, pods), alerted=alerted)


def check_control(plain: Recording, distorted: Recording, policies: str) -> None:
    """Check with a control run that distortion alone raises no alert.

    Raises:
        AuthoringError: it raises alerts, which the message lists.
    """
    known = {(t.name, t.entity or "") for t in plain.history.timelines if t.firing}
    raised = sorted({(t.name, t.entity or "") for t in distorted.history.timelines if t.firing} - known)
    if raised:
        alerts = ", ".join(f"{name} on {entity or 'the app'}" for name, entity in raised)
        raise AuthoringError(
            f"{policies}: without any fault, these policies raise {alerts}",
            fix="shorten or weaken them: telemetry defects must not look like an incident",
        )


def copy_series(
    recording: Recording, distortion: Distortion, copies: Mapping[str, str], sink_of: Callable[[], SeriesSink]
) -> None:
    """Write distorted copies of the app's series, metric by metric."""
    where = f'namespace=~"{"|".join(copies)}"'
    window = (recording.start, recording.handover, float(GRID_SECONDS))
    counted = recording.metrics.range(f"count by (__name__) ({{{where}}})", *window)
    for name in sorted(series.labels["__name__"] for series in counted):
        found = recording.metrics.range(f'{{__name__="{name}",{where}}}', *window)
        ticks: dict[float, dict[SeriesId, float]] = defaultdict(dict)
        for series in distortion.distort_series(found):
            labels = {**series.labels, "namespace": copies[series.labels["namespace"]]}
            identity = (name, tuple(sorted((k, v) for k, v in labels.items() if k != "__name__")))
            for at, value in series.points:
                ticks[at][identity] = value
        if ticks:
            sink = sink_of()
            sink.write([*sorted(ticks.items()), (recording.handover + GRID_SECONDS, {})])
            sink.close()


def evaluate_alerts(recording: Recording, namespaces: Sequence[str], pods: PodDirectory) -> AlertHistory:
    """Evaluate the rules on the series of these namespaces."""
    owners = {
        name: Reference(kind, owner, namespace)
        for (namespace, name), pod in pods.pods.items()
        for kind in _KINDS
        if (owner := pod.resource.get(f"k8s.{kind.lower()}.name"))
    }
    runbook = recording.runbook
    scope = AlertScope(runbook.app, namespaces[0], tuple(namespaces[1:]))
    evaluator = AlertEvaluator(recording.metrics, runbook.rules, scope, owners.get, start=recording.start)
    return evaluator.advance(recording.handover)


def read_pods(recording: Recording) -> PodDirectory:
    """Read the pods of a recording, by real names."""
    pods = PodDirectory(recording.runbook.app, NameMap({}, {}, keep_times(recording.start, recording.handover)))
    for tick in recording.read_ticks():
        pods.advance(tick)
    return pods

"""Telemetry of the lab: series as from kube-state-metrics and cAdvisor, scraped or written remotely to Prometheus.

Each tick, a producer returns the complete current set of series as ``dict[SeriesId, float]``; a series missing from it
has ended.
"""

from scenario_kit.lab.telemetry.containers import ContainerMetrics
from scenario_kit.lab.telemetry.exposition import CONTENT_TYPE, format_exposition
from scenario_kit.lab.telemetry.kube_state import KubeState
from scenario_kit.lab.telemetry.remote_write import SeriesWriter
from scenario_kit.lab.telemetry.resource_metrics import Measured

__all__ = [
    "CONTENT_TYPE", "ContainerMetrics", "KubeState", "Measured", "SeriesWriter", "format_exposition",
]  # fmt: skip

"""Series of store exporters, derived from the state of processes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from scenario_kit.lab.twin.process.process import Process, ProcessKey
from scenario_kit.model.runtime.process import SeriesId
from scenario_kit.model.twin.telemetry import Exporter, Signal


def build_samples(
    exporter: Exporter,
    process: Process,
    connections: Mapping[ProcessKey, int],
    memory: float,
    namespace: str,
    now: float,
) -> dict[SeriesId, float]:
    """Build the series of one process. Counters start at 0 with the process, as in the store itself."""
    common = tuple(exporter.labels.items())
    return {
        _parse_series(spelled, common, namespace): _read_value(
            signal, process, connections.get(process.key, 0), memory, now
        )
        * signal.factor
        + signal.offset
        for spelled, signal in exporter.series.items()
    }


_LABEL = re.compile(r'(\w+)="([^"]*)"')


@lru_cache(maxsize=1024)
def _parse_series(spelled: str, common: tuple[tuple[str, str], ...], namespace: str) -> SeriesId:
    """Parse ``metric`` or ``metric{label="value"}`` in Prometheus notation, and add the common labels."""
    metric, _, own = spelled.partition("{")
    return metric, tuple(sorted({**dict(common), **dict(_LABEL.findall(own)), "namespace": namespace}.items()))


def _read_value(signal: Signal, process: Process, connections: int, memory: float, now: float) -> float:
    if signal.measure == "Uptime":
        return max(now - process.ready_at, 0.0)
    if signal.measure == "Connections":
        return float(connections)
    if signal.measure == "Memory":
        return memory
    if signal.measure == "Keys":
        return float(round(sum(process.held.values())))
    if signal.measure == "Constant":
        return 1.0
    column = 0 if signal.measure == "Calls" else 1
    chosen = signal.operations or tuple(process.operations)
    return sum(process.operations[name][column] for name in chosen if name in process.operations)

"""The Prometheus text format, version 0.0.4."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from scenario_kit.model.runtime.process import SeriesId

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_HISTOGRAM_PART = re.compile(r"_(bucket|sum|count)$")
_GAUGES = ("kube_", "container_", "kafka_", "redis_", "postgresql_", "memcached_", "mongodb_")


def format_exposition(samples: Mapping[SeriesId, float]) -> str:
    """Format samples, grouped and sorted by metric name, with a TYPE line where the type is known."""
    names = {name for name, _ in samples}
    groups: dict[str, list[SeriesId]] = {}
    for series in samples:
        groups.setdefault(find_family(series[0], names), []).append(series)
    lines: list[str] = []
    for base in sorted(groups):
        if kind := infer_metric_type(base, names):
            lines.append(f"# TYPE {base} {kind}")
        lines += [f"{_format_series(id_)} {_format_value(samples[id_])}" for id_ in sorted(groups[base], key=_order)]
    return "\n".join(lines) + "\n" if lines else ""


def find_family(name: str, names: Iterable[str]) -> str:
    """Find the metric family of a series: the parts of a histogram share the name without their suffix."""
    base = _HISTOGRAM_PART.sub("", name)
    return base if base != name and f"{base}_bucket" in names else name


def infer_metric_type(name: str, names: Iterable[str] = ()) -> str | None:
    """Infer the type of a metric from its name; None if the name does not show it."""
    if f"{name}_bucket" in names:
        return "histogram"
    if name.endswith("_total"):
        return "counter"
    return "gauge" if name.startswith(_GAUGES) else None


def _order(series: SeriesId) -> tuple[str, tuple[tuple[str, str], ...], float]:
    name, labels = series
    bound = next((float(value) for key, value in labels if key == "le"), 0.0)
    # Buckets of one histogram stay together, in the order of their bounds.
    return name, tuple(pair for pair in labels if pair[0] != "le"), bound


def _format_series(series: SeriesId) -> str:
    name, labels = series
    inside = ",".join(f'{key}="{value.translate(_ESCAPES)}"' for key, value in labels)
    return f"{name}{{{inside}}}" if inside else name


def _format_value(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(float(value))

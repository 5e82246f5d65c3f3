"""What receivers that cannot be had here publish, as OTLP: names, types, units and attributes of their metadata."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

#: What a consumer's own client reports by OTLP: the Java agent's bridge of Kafka's metrics, which has no units.
CLIENT_METRICS: Mapping[str, Mapping[str, Any]] = {"kafka.consumer.connection_close_rate": {"type": "gauge"}}


def build_request(
    published: Mapping[str, Mapping[str, Any]],
    resource: Mapping[str, str],
    attributes: Mapping[str, str],
    values: Mapping[str, float],
) -> dict[str, Any]:
    """Build an OTLP request with one point of each metric; ``attributes`` give those that a point has a value."""
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": list(_serialize(resource))},
                "scopeMetrics": [
                    {
                        "scope": {"name": "receiver"},
                        "metrics": [
                            _build_metric(name, facts, attributes, values.get(name, 1.0))
                            for name, facts in published.items()
                        ],
                    }
                ],
            }
        ]
    }


def _build_metric(name: str, facts: Mapping[str, Any], attributes: Mapping[str, str], value: float) -> dict[str, Any]:
    own = {key: attributes.get(key, "some") for key in facts.get("attributes", ())}
    now = time.time_ns()
    point = {
        "attributes": list(_serialize(own)),
        "startTimeUnixNano": str(now - 10**9),
        "timeUnixNano": str(now),
        "asDouble": value,
    }
    if facts["type"] == "gauge":
        data: dict[str, Any] = {"gauge": {"dataPoints": [point]}}
    else:
        data = {"sum": {"dataPoints": [point], "aggregationTemporality": 2, "isMonotonic": facts["type"] == "counter"}}
    return {"name": name, "unit": facts.get("unit", ""), **data}


def _serialize(attributes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for key, value in attributes.items():
        yield {"key": key, "value": {"stringValue": value}}

"""Amounts with units, in fields whose names say in which unit they count."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.load.schema.units import convert_to_unit


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("latencyMilliseconds", "90s", 90_000),
        ("latencyMilliseconds", "1m30s", 90_000),
        ("latencyMilliseconds", "250ms", 250),
        ("latencyMilliseconds", "0.5s", 500),
        ("latencyMilliseconds", "500us", None),
        ("withinSeconds", "1h", 3600),
        ("withinSeconds", "2 minutes", 120),
        ("withinSeconds", "1 hour", 3600),
        ("withinSeconds", "1500ms", None),
        ("withinSeconds", "soon", None),
        ("withinSeconds", "", None),
        ("lossPercent", "40%", 40),
        ("lossPercent", "40 %", 40),
        ("lossPercent", "0.4", None),
        ("lossPercent", "12.5%", None),
        ("memoryMebibytes", "1.5Gi", 1536),
        ("memoryMebibytes", "512Mi", 512),
        ("memoryMebibytes", "1k", None),
        ("memoryMebibytes", "0.5", None),
        ("cpuMillicores", "500m", 500),
        ("cpuMillicores", "2k", 2_000_000),
        ("cpuMillicores", "0.1", None),
        ("queueBytes", "1Mi", 1_048_576),
        ("queueBytes", "1M", 1_000_000),
        ("workers", "20", 20),
        ("workers", " -3 ", -3),
        ("workers", "20m", None),
        ("workers", 1e3, 1000),
        ("workers", 1.5, None),
        ("workers", True, None),
        ("workers", None, None),
    ],
)  # fmt: skip
def test_amount_with_a_unit_is_read_where_its_meaning_is_certain(name: str, written: Any, meant: int | None) -> None:
    assert convert_to_unit(name, written) == meant

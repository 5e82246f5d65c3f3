from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scenario_kit.lab.telemetry import format_exposition
from scenario_kit.lab.telemetry.series import make_series_id

SAMPLES = {
    make_series_id("kube_pod_info", {"namespace": "n", "pod": 'a"b\\c\nd'}): 1,
    make_series_id("calls_total", {"namespace": "n"}): 12,
    make_series_id("d_bucket", {"le": "+Inf", "s": "x"}): 3.0,
    make_series_id("d_bucket", {"le": "10", "s": "x"}): 2.0,
    make_series_id("d_bucket", {"le": "5", "s": "x"}): 1.0,
    make_series_id("d_sum", {"s": "x"}): 20.5,
    make_series_id("d_count", {"s": "x"}): 3.0,
    make_series_id("queue_count", {}): math.inf,
    make_series_id("other", {"x": ""}): math.nan,
}
TEXT = """\
# TYPE calls_total counter
calls_total{namespace="n"} 12.0
# TYPE d histogram
d_bucket{le="5",s="x"} 1.0
d_bucket{le="10",s="x"} 2.0
d_bucket{le="+Inf",s="x"} 3.0
d_count{s="x"} 3.0
d_sum{s="x"} 20.5
# TYPE kube_pod_info gauge
kube_pod_info{namespace="n",pod="a\\"b\\\\c\\nd"} 1.0
other NaN
queue_count +Inf
"""


def test_text() -> None:
    assert format_exposition(SAMPLES) == TEXT
    assert format_exposition({}) == ""
    assert format_exposition({make_series_id("x", {}): -math.inf}) == "x -Inf\n"


@pytest.mark.lab
def test_exposition_passes_promtool(binary: Callable[[str], Path]) -> None:
    command = [binary("promtool"), "check", "metrics"]
    checked = subprocess.run(command, input=TEXT, capture_output=True, text=True, check=False)
    assert "error while linting" not in checked.stderr
    assert checked.returncode in (0, 3), checked.stderr  # 3: style remarks, such as missing help

"""Harbor's own model of ATIF reads a trajectory of a run: tests/solver/test_trajectory.py builds the same one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("harbor", reason="Harbor is not installed here: ci/peers does")

from harbor.models.trajectories.trajectory import Trajectory

EXAMPLE = Path(__file__).resolve().parents[1] / "solver" / "trajectory.json"


def test_harbor_reads_a_trajectory() -> None:
    read = Trajectory.model_validate_json(EXAMPLE.read_text())
    assert [step.source for step in read.steps] == ["user", "agent", "agent", "agent", "agent"]
    assert read.final_metrics is not None
    assert read.final_metrics.total_steps == len(read.steps)

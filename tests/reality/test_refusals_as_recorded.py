"""The twin refuses dials of a Service without endpoints as a kernel was recorded to refuse the same dials."""

from __future__ import annotations

import numpy as np
import pytest

from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.requests.rejections import Rejections
from tools.reality.refusals import DIALLINGS, Refusals, read_refusals

RECORDED = read_refusals()
TICK = 15.0


def replay(at: Floats, patience: float, steps: int) -> Floats:
    """The twin's delays of these dials, which several steps of a program make by turns."""
    rejections, found = Rejections(), np.full(at.size, np.inf)
    turn = np.arange(at.size) % steps
    for start in np.arange(0.0, float(at.max()) + TICK, TICK):
        rejections.begin(start, start + TICK, {"pod"})
        for step in range(steps):
            mine = (at >= start) & (at < start + TICK) & (turn == step)
            if mine.any():
                found[mine] = rejections.delays("pod", step, at[mine], patience)
    return found


def shares(delays: Floats) -> tuple[float, float, float]:
    """Which shares are refused at once, refused later, and not at all."""
    at_once, never = float((delays < 0.5).mean()), float(np.isinf(delays).mean())
    return at_once, 1.0 - at_once - never, never


def test_every_dialling_is_recorded() -> None:
    assert tuple(each.dialling for each in RECORDED) == DIALLINGS


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: f"{each.dialling.per_second:g} a second")
def test_twin_refusals_match_the_kernel(recorded: Refusals, steps: int) -> None:
    patience = recorded.dialling.patience
    at = np.array([begun for begun, _ in recorded.dials])
    real = np.array([np.inf if delay is None else delay for _, delay in recorded.dials])
    twin = replay(at, patience, steps)
    assert shares(twin) == pytest.approx(shares(real), abs=0.09)
    assert shares(twin)[2] == pytest.approx(shares(real)[2], abs=0.03)
    assert np.minimum(twin, patience).mean() == pytest.approx(np.minimum(real, patience).mean(), rel=0.08, abs=0.05)

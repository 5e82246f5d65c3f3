"""A Service without endpoints does not always refuse: a kernel answers few of many dials."""

from __future__ import annotations

import numpy as np
import pytest

from scenario_kit.lab.twin.requests.rejections import Rejections
from tests.lab.twin import tiny


@pytest.mark.parametrize(
    ("per_second", "seconds", "patience", "least", "most"),
    [
        (50, 16.6, 1.0, 20, 28),  # as a real kernel was seen: 26 of 831
        (0.5, 60, 1.0, 30, 30),
        (1, 60, 1.0, 60, 60),
        (5, 1, 1.0, 5, 5),  # a burst
        (2, 60, 1.0, 64, 70),
        (50, 10, 1.0, 14, 18),
    ],
)
def test_how_many_dials_are_refused(per_second: float, seconds: float, patience: float, least: int, most: int) -> None:
    at = np.arange(0, seconds, 1 / per_second)
    delays = Rejections().delays("pod", at, patience)
    assert least <= np.isfinite(delays).sum() <= most
    assert (delays[np.isfinite(delays)] == 0.0).all()


def test_each_address_has_answers_of_its_own() -> None:
    rejections = Rejections()
    at = np.arange(0, 10, 0.02)
    first = np.isfinite(rejections.delays("one", at, 1.0)).sum()
    assert np.isfinite(rejections.delays("two", at, 1.0)).sum() == first
    assert np.isfinite(rejections.delays("one", at[:5] + 10.0, 1.0)).sum() <= 1, "what one Service used is gone"


def test_a_dial_that_goes_on_is_refused_later() -> None:
    delays = Rejections().delays("pod", np.zeros(8), 10.0)
    assert sorted(delays[:6]) == [0.0] * 6
    assert set(delays[6:]) == {1.0, 3.0}


def said(users: int) -> dict[str, int]:
    """How often the api said which words of a store whose Service has no endpoints, within two minutes."""
    cluster = tiny.started()
    cluster.env("users", "USERS", str(users))
    cluster.run(60)
    cluster.scale("box", 0)
    cluster.run(60)
    cluster.logs.clear()
    cluster.run(120)
    texts = [line.text for line in cluster.logs if line.pod.startswith("api")]
    return {word: sum(word in text for text in texts) for word in ("connection refused", "deadline exceeded")}


def test_few_calls_are_refused_and_many_wait() -> None:
    few, many = said(1), said(200)
    assert few["connection refused"] > 0
    assert few["deadline exceeded"] == 0
    assert many["deadline exceeded"] > 0, "the limit of the caller, two seconds"

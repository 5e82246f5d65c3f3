"""A Service without endpoints does not always refuse: a kernel answers few of many dials."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from scenario_kit.lab.twin.numeric.arrays import Floats
from scenario_kit.lab.twin.requests.rejections import Rejections
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

#: Seconds of a tick, as in a world.
TICK = 15.0


def delays_of(rejections: Rejections, at: Floats, patience: float, pod: str = "pod", step: int = 1) -> Floats:
    """The delays of dials of one step, tick by tick."""
    found = np.full(at.size, np.inf)
    for start in np.arange(0.0, float(at.max()) + TICK, TICK):
        rejections.begin(start, start + TICK, {"pod", "one", "two"})
        mine = (at >= start) & (at < start + TICK)
        if mine.any():
            found[mine] = rejections.delays(pod, step, at[mine], patience)
    return found


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
def test_refused_dials_are_rate_limited(
    per_second: float, seconds: float, patience: float, least: int, most: int
) -> None:
    delays = delays_of(Rejections(), np.arange(0, seconds, 1 / per_second), patience)
    assert least <= np.isfinite(delays).sum() <= most
    assert (delays[np.isfinite(delays)] == 0.0).all()


@pytest.mark.parametrize(
    ("dials", "patience", "refused", "later"),
    [
        (1, 0.5, 1, []),
        (6, 10.0, 6, []),
        (8, 0.9, 6, []),
        (8, 1.5, 6, [1]),
        (8, 10.0, 6, [1, 2]),
        (9, 10.0, 6, [1, 2, 3]),
        (12, 10.0, 6, [1, 2, 3, 4, 5, 7]),
        (14, 4.5, 6, [1, 2, 3, 4]),
        (20, 30.0, 6, [1, 2, 3, 4, 5, 7, 7, *[11] * 4, *[19] * 3]),
        (40, 1000.0, 6, [1, 2, 3, 4, 5, 7, 7, *[11] * 4, *[19] * 6, *[35] * 6, *[67] * 6]),
    ],
)
def test_concurrent_dials_are_refused_at_retransmissions(
    dials: int, patience: float, refused: int, later: list[int]
) -> None:
    """As Linux retransmits: after one, two, three, four and five seconds, and then after twice as long each time."""
    rejections = Rejections()
    rejections.begin(0.0, 1000.0, {"pod"})
    delays = rejections.delays("pod", 1, np.zeros(dials), patience)
    finite = sorted(delays[np.isfinite(delays)])
    assert finite[:refused] == [0.0] * refused
    assert finite[refused:] == pytest.approx(later, rel=0.02)


def test_rejection_budgets_are_per_address() -> None:
    rejections, at = Rejections(), np.arange(0, 10, 0.02)
    rejections.begin(0.0, TICK, {"one", "two"})
    first = np.isfinite(rejections.delays("one", 1, at, 1.0)).sum()
    assert np.isfinite(rejections.delays("two", 1, at, 1.0)).sum() == first
    assert np.isfinite(rejections.delays("one", 2, at[:5] + 10.0, 1.0)).sum() <= 1, "what one Service used is gone"


def test_removed_pod_releases_its_rejection_state() -> None:
    rejections = Rejections()
    for alive, refused in (({"pod"}, 6), ({"pod"}, 0), (set(), 0), ({"pod"}, 6)):
        rejections.begin(0.0, TICK, alive)
        if alive:
            assert np.isfinite(rejections.delays("pod", 1, np.zeros(9), 0.5)).sum() == refused


def test_rejection_rate_is_limited_across_ticks() -> None:
    """Retransmissions of earlier dials take errors from later dials, in total never more than one a second."""
    rejections = Rejections()
    at = np.arange(0, 60, 0.5)
    delays = delays_of(rejections, at, 10.0)
    answered = np.sort((at + delays)[np.isfinite(delays)])
    for first in range(answered.size):
        inside = np.arange(1, answered.size - first + 1)
        assert (inside <= 6.0 + (answered[first:] - answered[first]) + 1e-6).all()
    for start in np.arange(15, 60, 15):
        tick = delays[(at >= start) & (at < start + 15)]
        assert (tick == 0.0).sum() >= 3, "dials of every tick are refused at once, too"


def test_steps_of_a_program_share_its_rejection_budget() -> None:
    """Whichever step is computed first: from the second tick on, each has its share of the errors."""
    rejections, shares = Rejections(), []
    for start in np.arange(0.0, 150.0, TICK):
        rejections.begin(start, start + TICK, {"pod"})
        refused = [
            np.isfinite(rejections.delays("pod", step, start + np.arange(offset, TICK, 0.31), 1.0)).sum()
            for step, offset in enumerate((0.0, 0.1, 0.2))
        ]
        shares.append(refused)
    total = np.array(shares[1:]).sum(axis=0)
    assert 0.9 <= total.sum() / 135 <= 1.1
    assert total.min() >= 0.15 * total.sum()


@pytest.mark.parametrize(
    ("at", "attempts", "patience", "held"),
    [
        ([0.0], 1, 5.0, [0.0]),
        ([0.0], 6, 5.0, [0.0]),
        ([0.0], 30, 5.0, [24.0]),
        ([0.0], 30, 0.1, [2.4]),
        ([0.0, 1.0], 30, 5.0, [24.0, 30.0]),
        ([0.0, 40.0], 30, 5.0, [24.0, 24.0]),  # free for 16 seconds: the burst is back
        ([0.0, 27.5], 30, 5.0, [24.0, 27.0]),
        ([float(t) for t in range(10)], 1, 5.0, [0.0] * 10),
        ([0.0] * 8, 1, 5.0, [0.0] * 6 + [1.0] * 2),
        ([5.0, 0.0], 8, 5.0, [5.0, 2.0]),
    ],
)
def test_serialised_attempts_add_up(at: list[float], attempts: int, patience: float, held: list[float]) -> None:
    assert Rejections().hold("pod", 0, np.array(at), attempts, patience) == pytest.approx(held)


def without_box(users: int = 2, **edge: Any) -> TwinCluster:
    """The application a minute after its store was scaled to zero; ``edge`` is how the api calls the store."""
    *edges, store = deepcopy(tiny.TWIN["edges"])
    store |= {name: value for name, value in edge.items() if value is not None}
    components = deepcopy(tiny.TWIN["components"])
    components["box"]["ports"][0]["protocol"] = store["protocol"]
    cluster = tiny.start_cluster(edges=[*edges, store], components=components)
    cluster.env("users", "USERS", str(users))
    cluster.run(60)
    cluster.scale("box", 0)
    cluster.run(60)
    return cluster


def count_errors(users: int, **edge: Any) -> dict[str, int]:
    """Count the error texts of the api within two minutes, for a store whose Service has no endpoints."""
    cluster = without_box(users, **edge)
    cluster.logs.clear()
    cluster.run(120)
    texts = [line.text for line in cluster.logs if line.pod.startswith("api")]
    return {
        word: sum(word in text for text in texts) for word in ("connection refused", "deadline exceeded", "timeout")
    }


def test_high_call_rates_time_out_instead_of_being_refused() -> None:
    few, many = count_errors(1), count_errors(200)
    assert few["connection refused"] > 0
    assert few["deadline exceeded"] == 0
    assert many["deadline exceeded"] > 0, "the limit of the caller, two seconds"


@pytest.mark.parametrize(("connect_per_call", "waits"), [(None, False), (False, False), (True, True)])
def test_clients_without_a_pool_stay_below_the_limit(connect_per_call: bool | None, waits: bool) -> None:
    """By default, a Redis client has one connection, and its calls fail until it dials again."""
    counts = count_errors(200, protocol="redis", connectPerCall=connect_per_call)
    assert (counts["timeout"] > 0) == waits
    assert counts["connection refused"] > 0


@pytest.mark.parametrize(("attempts", "least", "most"), [(1, 0.0, 1_500.0), (30, 9_000.0, 10_000.0)])
def test_attempts_under_a_lock_outlast_the_callers_timeout(attempts: int, least: float, most: float) -> None:
    """Thirty attempts take half a minute; the gate waits ten seconds."""
    cluster = without_box(protocol="redis", serializeConnects=True, connectAttempts=attempts)
    cluster.run(120)
    assert least <= cluster.run(300).quantile(0.5, "api") <= most

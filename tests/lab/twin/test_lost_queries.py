"""Lost DNS queries: how long names take by resolver, and what callers that connect for each call see."""

from typing import Any

import numpy as np
import pytest

from scenario_kit.lab.twin.network.lost_queries import NameResolution, choose, list_resolutions
from scenario_kit.lab.twin.network.name_queries import QueryPath
from scenario_kit.lab.twin.outcome import ConnectionOutcome
from scenario_kit.model.twin.component import Resolver
from tests.lab.twin import tiny
from tests.lab.twin.outcomes import observe

OK, NXDOMAIN, TIMEOUT = ConnectionOutcome.OK, ConnectionOutcome.NXDOMAIN, ConnectionOutcome.DNS_TIMEOUT

#: Of a thousand look-ups of a Service's name: seconds, outcome, and how many, measured with a name server that ignores
#: a share of the queries: glibc 2.36, musl 1.2.3, Go 1.26.
MEASURED: dict[tuple[Resolver, float], list[tuple[float, ConnectionOutcome, int]]] = {
    ("glibc", 0.3): [
        (0, OK, 438), (5, OK, 273), (10, OK, 121), (10, NXDOMAIN, 14), (15, OK, 69), (15, NXDOMAIN, 27),
        (20, OK, 16), (20, NXDOMAIN, 21), (25, NXDOMAIN, 11), (25, TIMEOUT, 5), (30, NXDOMAIN, 3), (30, TIMEOUT, 2),
    ],
    ("glibc", 0.6): [
        (0, OK, 136), (5, OK, 118), (10, OK, 92), (10, NXDOMAIN, 33), (15, OK, 53), (15, NXDOMAIN, 69), (20, OK, 50),
        (20, NXDOMAIN, 63), (20, TIMEOUT, 20), (25, NXDOMAIN, 70), (25, TIMEOUT, 164), (30, NXDOMAIN, 29),
        (30, TIMEOUT, 103),
    ],
    ("musl", 0.3): [(0, OK, 451), (2.5, OK, 355), (5, TIMEOUT, 194)],
    ("go", 0.3): [
        (0, OK, 459), (5, OK, 350), (10, OK, 95), (10, NXDOMAIN, 8), (15, NXDOMAIN, 30), (20, NXDOMAIN, 17),
        (20, TIMEOUT, 3), (25, NXDOMAIN, 15), (25, TIMEOUT, 9), (30, NXDOMAIN, 6), (30, TIMEOUT, 5), (35, NXDOMAIN, 1),
        (35, TIMEOUT, 2),
    ],
    ("go", 0.6): [
        (0, OK, 142), (5, OK, 234), (10, OK, 248), (10, NXDOMAIN, 2), (15, NXDOMAIN, 8), (20, NXDOMAIN, 27),
        (20, TIMEOUT, 9), (25, NXDOMAIN, 37), (25, TIMEOUT, 22), (30, NXDOMAIN, 49), (30, TIMEOUT, 56),
        (35, NXDOMAIN, 26), (35, TIMEOUT, 52), (40, TIMEOUT, 88),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("resolver", "loss"), MEASURED)
def test_names_take_as_long_as_measured(resolver: Resolver, loss: float) -> None:
    computed = {
        (r.seconds, r.outcome): r.share for r in list_resolutions("cart", "shop", resolver, QueryPath(loss=loss))
    }
    assert sum(computed.values()) == pytest.approx(1.0)
    measured = {(seconds, outcome): count / 1000.0 for seconds, outcome, count in MEASURED[resolver, loss]}
    for course in computed.keys() | measured.keys():
        assert computed.get(course, 0.0) == pytest.approx(measured.get(course, 0.0), abs=0.06), course


@pytest.mark.parametrize(
    ("host", "resolver", "path", "prompt", "seconds", "resolved"),
    [
        # The share that resolves without a wait, how long that takes, and the share that resolves at all.
        ("cart", "glibc", QueryPath(loss=0.1), 0.81, 0.0, 0.997),
        ("cart", "musl", QueryPath(loss=0.1), 0.81, 0.0, 0.980),
        ("cart", "go", QueryPath(loss=0.1), 0.81, 0.0, 0.99),
        ("cart", "go", QueryPath(loss=0.1, delay=0.2), 0.81, 0.2, 0.99),
        ("cart.shop", "go", QueryPath(loss=0.1, delay=0.2), 0.81**2, 0.4, 0.99),
        ("cart.shop", "musl", QueryPath(loss=0.1), 0.81**2, 0.0, 0.980**2),
        ("cart.shop.svc.cluster.local.", "go", QueryPath(loss=0.1), 0.81, 0.0, 0.99),
        ("cart.shop.svc.cluster.local.", "glibc", QueryPath(loss=0.1), 0.81, 0.0, 0.997),
        ("cart", "glibc", QueryPath(loss=0.9), 0.01, 0.0, 0.029),
    ],
)
def test_each_name_of_the_search_has_two_queries(
    host: str, resolver: Resolver, path: QueryPath, prompt: float, seconds: float, resolved: float
) -> None:
    found = list_resolutions(host, "shop", resolver, path)
    assert found[0].outcome == OK
    assert (found[0].share, found[0].seconds) == pytest.approx((prompt, seconds))
    assert sum(each.share for each in found if each.outcome == OK) == pytest.approx(resolved, abs=0.01)


def test_shares_decide_which_course_is_taken() -> None:
    courses = (NameResolution(0.25, 0.0, OK), NameResolution(0.5, 5.0, OK), NameResolution(0.25, 5.0, TIMEOUT))
    assert choose(courses, np.array([0.0, 0.24, 0.25, 0.74, 0.75, 0.999999])).tolist() == [0, 0, 1, 1, 2, 2]


def _lose(percent: float, libc: str, **edge: Any) -> tuple[float, float]:
    """The share of failing requests and the median latency, where the caller of the box loses packets."""
    edges = [{**each, **edge} if each["caller"] == "api" else each for each in tiny.TWIN["edges"]]
    components = {**tiny.TWIN["components"]}
    components["api"] = {**components["api"], "dialect": "rust", "libc": libc}
    cluster = tiny.start_cluster(edges=edges, components=components)
    cluster.chaos("api", loss=percent)
    cluster.run(60.0)
    (outcome,) = observe(cluster, "gate", ("GET /read",), 600.0).values()
    return outcome.failed, outcome.seconds


def test_callers_that_connect_for_each_call_meet_lost_queries() -> None:
    shared, _ = _lose(30.0, "glibc")
    own, _ = _lose(30.0, "glibc", reuseConnection=False)
    quick, _ = _lose(30.0, "musl", reuseConnection=False, timeoutSeconds=9)
    slow, _ = _lose(30.0, "glibc", reuseConnection=False, timeoutSeconds=9)
    assert shared < 0.15, "an open connection needs no name"
    assert 0.5 < own < 0.65, "after two seconds; half of the names take five or more"
    assert 0.15 < quick < 0.3
    assert 0.2 < slow < 0.4

"""Latency of a program beside busy threads in its container, against measurements on a real kernel.

Measured on Linux 6.18 with two cores (docs/fidelity.md, "CPU contention"): a Go program in a cgroup with a CPU limit,
Poisson requests of some CPU time in equal parts before, between and after calls to a fast callee, a probe per second.
"""

import math
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

from scenario_kit.catalog import Catalog
from scenario_kit.lab.twin.numeric.cpu_windows import CpuWindows, open_windows
from scenario_kit.lab.twin.runtime.resources import Contention
from scenario_kit.model import ContainerEffect
from tests.lab.twin import tiny
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TICK, TwinCluster

#: Cores of the machine, and CPU of the HTTP server and client beside the work itself, in ms.
CORES, OVERHEAD_MS = 2, 0.4


class Case(NamedTuple):
    """A limit in millicores, busy threads, and requests per second with CPU and calls each."""

    limit: int
    workers: int
    cpu_ms: float
    calls: int
    rate: float


def _stress(cluster: TwinCluster, workers: int, load: int = 100, workload: str = "api") -> None:
    (pod,) = cluster.pods(workload)
    cluster.stress = (
        ContainerEffect(
            pod_uid=pod["metadata"]["uid"],
            container_id=pod["status"]["containerStatuses"][0]["containerID"],
            kind="Stress",
            arguments={"resource": "cpu", "cpu": workers, "cpu-load": load},
        ),
    )
    cluster.version += 1


def _start(case: Case, **fields: Any) -> TwinCluster:
    api = {
        **tiny.TWIN["components"]["api"],
        "cpuMs": case.cpu_ms + OVERHEAD_MS,
        "idleMillicores": 0.5,
        "operations": {
            "Read": {
                "span": "Api/Read",
                "ownMs": case.cpu_ms,
                "steps": [{"call": "box/get", "span": "GET", "times": case.calls}] if case.calls else [],
            }
        },
        **fields,
    }
    components = {**tiny.TWIN["components"], "api": api}
    components["box"] = {**components["box"], "operations": {"get": {"ownMs": 0.1}}}
    edges = [dict(edge, timeoutSeconds=0, connectPerCall=False) for edge in tiny.TWIN["edges"]]
    users = {"env": "USERS", "default": 20}
    load = {**tiny.TWIN["load"], "users": users}
    cluster = TwinCluster(
        tiny.app(components=components, edges=edges, load=load, constants={"nodeCores": CORES}), tiny.objects()
    )
    spec = cluster.get("Deployment", "api")["spec"]["template"]["spec"]["containers"][0]
    spec["resources"] = {"limits": {"cpu": f"{case.limit}m"}}
    cluster.env("users", "USERS", str(round(2 * case.rate)))
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(60.0)
    if case.workers:
        _stress(cluster, case.workers)
    cluster.run(60.0)
    return cluster


def _probe(cluster: TwinCluster, number: int = 60) -> list[float]:
    """Return the sorted latencies of HTTP probes in milliseconds."""
    draws, found = random.Random(1), []
    (pod,) = cluster.pods("api")
    for _ in range(number):
        cluster.run(TICK)
        found.append(1000 * cluster.twin.lag(pod, "api", 9000, "grpc:", cluster.now + TICK * draws.random()).answers)
    return sorted(found)


def _pick(values: list[float], share: float) -> float:
    return values[int(share * (len(values) - 1))]


MEASURED = [
    # limit, workers, ms, calls, rate; p50 and p95 of requests, p95 of probes, in ms
    (Case(20, 0, 0.3, 2, 5), (1.6, 3.6), 2),
    (Case(20, 1, 0.3, 2, 5), (235, 721), 148),
    (Case(20, 20, 0.3, 2, 5), (308, 1128), 570),
    (Case(20, 50, 0.3, 2, 5), (527, 1044), 361),
    (Case(100, 1, 0.3, 2, 5), (23, 110), 91),
    (Case(100, 20, 0.3, 2, 5), (67, 266), 86),
    (Case(200, 20, 0.3, 2, 20), (40, 157), 83),
    (Case(200, 20, 5, 2, 5), (82, 174), 63),
    (Case(200, 20, 20, 0, 2), (226, 451), 79),
]


@pytest.mark.parametrize(("case", "requests", "probe"), MEASURED)
def test_latency_is_near_what_a_kernel_shows(case: Case, requests: tuple[float, float], probe: float) -> None:
    cluster = _start(case)
    latency = cluster.run(300.0)
    for share, measured in zip((0.5, 0.95), requests, strict=True):
        assert measured / 2.5 < latency.quantile(share, "api", span="Api/Read") < measured * 2.5, share
    lags = _probe(cluster)
    assert lags[-1] < 1000, "a probe of one second succeeds"
    assert _pick(lags, 0.95) < probe * 2.5
    assert not case.workers or _pick(lags, 0.95) > probe / 2.5


@pytest.mark.parametrize("case", [Case(20, 20, 0.3, 2, 20), Case(200, 20, 5, 0, 30)])
def test_program_gets_half_beside_any_number_of_busy_threads(case: Case) -> None:
    """It needs 70 to 80 % of the limit. On a real kernel, 13 of 20 and 21 of 30 requests per second were served."""
    cluster = _start(case)
    latency = cluster.run(300.0)
    served = latency.rate("api", kind="SERVER")
    assert case.limit * 0.3 < served * (case.cpu_ms + OVERHEAD_MS) < case.limit * 0.55
    assert 0.4 < served / case.rate < 0.85
    lags = _probe(cluster)
    assert _pick(lags, 0.5) < latency.quantile(0.5, "api", span="Api/Read") * 1.2, "not behind the whole queue"


def test_program_runs_undisturbed_in_what_busy_threads_leave() -> None:
    cluster = _start(Case(1000, 0, 5, 2, 20))
    alone = cluster.run(300.0).quantile(0.95, "api", span="Api/Read")
    _stress(cluster, 2, load=30)
    cluster.run(60.0)
    assert cluster.run(300.0).quantile(0.95, "api", span="Api/Read") == pytest.approx(alone, rel=0.2)
    assert max(_probe(cluster, 10)) == 0.0


def test_single_thread_uses_one_core_at_most() -> None:
    """Two cores and more than one second of work per second: an event loop is overloaded, a pool of threads is not."""
    case = Case(2000, 0, 25, 0, 45)
    several = _start(case).run(300.0).rate("api", kind="SERVER")
    one = _start(case, dialect="node").run(300.0).rate("api", kind="SERVER")
    assert several == pytest.approx(45, rel=0.1)
    assert one < 42
    assert _start(case, dialect="node", threads=2).run(300.0).rate("api", kind="SERVER") == pytest.approx(several)


@pytest.mark.parametrize(
    ("limit", "cores", "busy", "period", "length"),
    [
        (0.2, 2, 2, 0.1, 0.01),
        (0.2, 2, 20, 0.1, 0.01),  # no more cores are busy than there are
        (0.2, 4, 4, 0.1, 0.005),
        (0.5, 4, 1, 0.1, 0.05),
        (0.02, 2, 2, 0.4, 0.004),  # a core runs for a tick before it is stopped, and pays it back
        (0.01, 64, 64, 25.6, 0.004),
        (4.0, 4, 20, 0.1, 0.1),  # without a limit it always runs
    ],
)
def test_windows_spend_the_limit(limit: float, cores: float, busy: float, period: float, length: float) -> None:
    windows = open_windows(limit, cores, busy, phase=0.25)
    assert (windows.period, windows.length) == pytest.approx((period, length))
    assert windows.length * min(busy, cores) / windows.period == pytest.approx(limit)


def test_work_is_done_in_windows() -> None:
    windows = CpuWindows(period=0.1, length=0.01, start=-0.02)
    at = np.array([0.0, 0.079, 0.08, 0.085, 0.0899, 0.17])
    wake = windows.wake(at)
    assert wake == pytest.approx([0.08, 0.08, 0.082, 0.087, 0.1819, 0.18])
    assert windows.finish(wake, 0.005)[:2] == pytest.approx([0.085, 0.085])
    assert windows.finish(np.array([0.08]), 0.025) == pytest.approx([0.285])
    assert windows.finish(np.array([0.5]), math.inf) == pytest.approx([math.inf])
    always = CpuWindows(period=0.1, length=0.1)
    assert always.finish(at, 1.0) == pytest.approx(at + 1.0)
    assert always.wake(at) == pytest.approx(at + 0.002)


@pytest.mark.parametrize(
    ("limit", "threads", "others", "share"),
    [
        (1.0, 4, 0.0, 1.0),
        (1.0, 4, 0.2, 0.8),  # what the others leave
        (1.0, 4, 20.0, 0.5),
        (1.0, 4, 500.0, 0.5),
        (4.0, 1, 0.0, 1.0),
        (4.0, 1, 20.0, 1.0),
        (0.02, 2, 20.0, 0.01),
    ],
)
def test_share_of_a_program(limit: float, threads: float, others: float, share: float) -> None:
    assert Contention(limit=limit, cores=4, threads=threads, others=others).share == pytest.approx(share)


@pytest.mark.parametrize(
    ("target", "slow", "lowest"),
    [
        ("cart", "cart", 1500.0),
        ("product-catalog", "product-catalog", 1500.0),
        ("checkout", "checkout", 1500.0),
        ("currency", "checkout", 1500.0),  # it makes no calls itself: those who call it several times are late
    ],
)
def test_cpu_stress_is_felt_with_its_defaults(target: str, slow: str, lowest: float) -> None:
    """The alert HighRequestLatency begins at 1.5 s; with a limit of 100m, the 95 % quantile of cart was 0.6 s."""
    parameters = Catalog().fault("cpu-stress").parameters["properties"]
    shop = rendered("2.2.0", 50, {}, "", 30.0)
    spec = shop.get("Deployment", target)["spec"]["template"]["spec"]["containers"][0]
    spec.setdefault("resources", {})["limits"] = {"cpu": "20m"}  # they request no CPU
    shop.restart(target)
    shop.run(120.0)
    _stress(shop, parameters["workers"]["default"], parameters["loadPercent"]["default"], target)
    shop.run(60.0)
    assert shop.run(120.0).quantile(0.95, slow) > lowest

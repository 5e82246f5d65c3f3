"""What options of the shipped application do in the twin, which sees only the objects that they make."""

from collections.abc import Callable
from typing import Any

import pytest

from scenario_kit.lab.twin.numeric.load_stages import find_share
from tests.lab.twin.shop import rendered
from tests.lab.twin.twin_cluster import TICK, TwinCluster


@pytest.fixture
def cluster() -> Callable[..., TwinCluster]:
    def make(version: str = "2.2.0", users: int = 50, profile: str = "", **options: Any) -> TwinCluster:
        return rendered(version, users, options, profile, warm=0.0)

    return make


def rates(shop: TwinCluster, minutes: int) -> list[float]:
    """Requests per second at the edge, minute by minute."""
    return [shop.run(60.0).rate("frontend-proxy", kind="SERVER") for _ in range(minutes)]


@pytest.mark.parametrize(("version", "usual"), [("2.2.0", 10.5), ("3.0.0", 10.65)])
def test_load_surge_rises_and_falls(cluster: Callable[..., TwinCluster], version: str, usual: float) -> None:
    shop = cluster(version, profile="surge")
    shop.run(420.0)
    found = rates(shop, 8)  # from about minute 9 on
    high = [r for r in found if r > 1.35 * usual]
    assert 2 <= len(high) <= 3, found
    assert max(found) == pytest.approx(1.6 * usual, rel=0.12)
    assert found[-1] == pytest.approx(usual, rel=0.15)


def test_ramp_rises_and_falls(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(profile="ramp")
    started = shop.now - 90.0  # of the restarts
    shop.run(60.0)
    for _ in range(14):
        begin = shop.now - started
        found = shop.run(120.0).rate("frontend-proxy", kind="SERVER")
        assert found == pytest.approx(10.5 * find_share("60:0 140:900 60:900", begin + 60.0), rel=0.13), begin


def test_tight_resources_sustain_the_usual_load_only(cluster: Callable[..., TwinCluster]) -> None:
    def throttled(shop: TwinCluster) -> float:
        shop.run(240.0)
        assert shop.last is not None
        frontend = shop.pods("frontend")[0]["metadata"]["uid"]
        return shop.last.usage[frontend, "frontend"].throttled_ratio

    usual, crowd = cluster(resources="Tight"), cluster(resources="Tight", users=120)
    assert throttled(usual) < 0.25
    assert throttled(crowd) > 0.5
    hour = usual.run(600.0)
    assert {s for s in hour.services() if hour.calls(s, error=True)} == set()
    assert crowd.run(300.0).quantile(0.95, "frontend") > 2 * hour.quantile(0.95, "frontend")


def test_replicas_share_the_work_of_the_entry(cluster: Callable[..., TwinCluster]) -> None:
    def busy(shop: TwinCluster) -> list[float]:
        shop.run(300.0)
        assert shop.last is not None
        return [shop.last.usage[p["metadata"]["uid"], "frontend-proxy"].cpu_cores for p in shop.pods("frontend-proxy")]

    (alone,) = busy(cluster(users=200))
    together = busy(cluster(users=200, replicasOf={"frontend-proxy": 3}))
    assert len(together) == 3
    assert max(together) < 0.8 * alone


def test_no_oom_kills_with_tight_resources(cluster: Callable[..., TwinCluster]) -> None:
    shop = cluster(resources="Tight")
    killed = []
    for _ in range(80):
        shop.run(TICK)
        assert shop.last is not None
        killed += shop.last.exits
    assert killed == []

"""CPU, memory and the load that closes the loop."""

import re
from typing import Any

import pytest

from scenario_kit.lab.control_plane.nodes import build_stages
from scenario_kit.lab.twin.runtime.resources import Stress, compute_wait, parse_stress_size
from scenario_kit.model import ContainerEffect
from scenario_kit.model.kubernetes.quantity import parse_quantity
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TICK, TwinCluster


def _limit(cluster: TwinCluster, workload: str, **limits: str) -> None:
    spec = cluster.get("Deployment", workload)["spec"]["template"]["spec"]["containers"][0]
    spec["resources"] = {"limits": limits}
    cluster.restart(workload)


def test_usage_is_reported_for_every_running_container() -> None:
    cluster = tiny.start_cluster()
    assert cluster.last is not None
    keys = {(pod["metadata"]["uid"], pod["spec"]["containers"][0]["name"]) for pod in cluster.kinds["Pod"].values()}
    assert set(cluster.last.usage) == keys
    api = next(u for (_, name), u in cluster.last.usage.items() if name == "api")
    assert 0.005 < api.cpu_cores < 0.05
    assert api.memory_bytes == pytest.approx(50 * 2**20, rel=0.03)
    assert api.throttled_ratio == 0.0


def test_tight_cpu_limit_slows_and_throttles() -> None:
    cluster = tiny.start_cluster()
    before = cluster.run(60.0).quantile(0.5, "api")
    _limit(cluster, "api", cpu="14m")
    cluster.run(60.0)
    after = cluster.run(120.0)
    assert after.quantile(0.95, "api") > 2 * before
    assert cluster.last is not None
    assert next(u for (_, name), u in cluster.last.usage.items() if name == "api").throttled_ratio > 0.3


def _with_api(**fields: Any) -> TwinCluster:
    components = tiny.TWIN["components"]
    return tiny.start_cluster(components={**components, "api": {**components["api"], **fields}})


def _slow_to_start(limit: str) -> TwinCluster:
    cluster = _with_api(readySeconds=2, startCpuSeconds=3)
    _limit(cluster, "api", **({"cpu": limit} if limit else {}))
    return cluster


@pytest.mark.parametrize(
    ("limit", "seconds"), [("", 2.0), ("0", 2.0), ("2", 2.0), ("100m", 30.0), ("10m", 300.0), ("1m", 300.0)]
)
def test_cpu_limit_delays_program_start(limit: str, seconds: float) -> None:
    cluster = _slow_to_start(limit)
    cluster.run(TICK)
    (api,) = cluster.twin._process_table.of("api")
    assert seconds <= api.ready_at - api.started_at < seconds + 1  # until the store has answered


def test_coming_up_uses_the_cpu_and_is_throttled() -> None:
    cluster = _slow_to_start("50m")
    cluster.run(45.0)
    assert cluster.last is not None
    coming = next(u for (_, name), u in cluster.last.usage.items() if name == "api")
    assert coming.cpu_cores == pytest.approx(0.05)
    assert coming.throttled_ratio == 1.0
    assert cluster.run(300.0).rate("api", kind="SERVER") > 0
    assert cluster.last is not None
    assert next(u for (_, name), u in cluster.last.usage.items() if name == "api").cpu_cores < 0.05


def test_user_load_is_limited_by_cpu_and_queues() -> None:
    cluster = _with_api(cpuMs=3)
    usual = cluster.run(300.0)
    needed = next(u.cpu_cores for (_, name), u in cluster.last.usage.items() if name == "api") if cluster.last else 0.0
    _limit(cluster, "api", cpu=f"{needed * 500:.0f}m")  # half of what they need
    cluster.run(300.0)
    starved = cluster.run(300.0)
    assert 0.3 < starved.rate("gate", kind="SERVER") / usual.rate("gate", kind="SERVER") < 0.7
    assert starved.quantile(0.95, "api") > 1000 > 10 * usual.quantile(0.95, "api")
    _limit(cluster, "api", cpu="1")
    cluster.run(300.0)
    again = cluster.run(300.0)
    assert again.rate("gate", kind="SERVER") == pytest.approx(usual.rate("gate", kind="SERVER"), rel=0.05)


@pytest.mark.parametrize("dt", [1.0, 15.0])
def test_cpu_queue_grows_with_backlog_and_drains(dt: float) -> None:
    waiting, grown = 0.0, []
    for _ in range(40):
        waiting = compute_wait(waiting, 1.5, dt)
        grown.append(waiting)
    assert grown == sorted(grown)
    assert grown[0] <= 0.5 * dt
    assert compute_wait(59.0, 30.0, dt) == 60.0, "whoever would wait longer has gone"
    for _ in range(200):
        waiting = compute_wait(waiting, 0.5, dt)
    assert waiting == 0.0
    assert compute_wait(0.0, 0.99, dt) == 0.0


def test_stress_takes_cpu_from_the_process() -> None:
    cluster = tiny.start_cluster()
    _limit(cluster, "api", cpu="50m")
    cluster.run(60.0)
    calm = cluster.run(60.0).quantile(0.95, "api")
    pod = cluster.pods("api")[0]
    container = pod["status"]["containerStatuses"][0]["containerID"]
    cluster.stress = (
        ContainerEffect(
            pod_uid=pod["metadata"]["uid"],
            container_id=container,
            kind="Stress",
            arguments={"resource": "cpu", "cpu": 4},
        ),
    )
    cluster.version += 1
    cluster.run(30.0)
    assert cluster.run(60.0).quantile(0.95, "api") > 3 * calm


def test_memory_stress_beyond_the_limit_kills() -> None:
    cluster = tiny.start_cluster()
    _limit(cluster, "api", memory="100Mi")
    cluster.run(60.0)
    pod = cluster.pods("api")[0]
    container = pod["status"]["containerStatuses"][0]["containerID"]
    effect = ContainerEffect(
        pod_uid=pod["metadata"]["uid"],
        container_id=container,
        kind="Stress",
        arguments={"resource": "memory", "workers": 4, "size": "80MB"},
    )
    cluster.stress = (effect,)
    cluster.version += 1
    cluster.run(TICK)
    assert cluster.last is not None
    assert [(e.container, e.code, e.reason) for e in cluster.last.exits] == [("api", 137, "OOMKilled")]
    dead = cluster.run(60.0)
    assert dead.share("gate", span="Api/Read", kind="CLIENT") == 1.0
    assert cluster.last.exits == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("256MB", 256e6),
        ("256MiB", 256 * 2**20),
        ("256M", 256e6),
        ("256mi", 256 * 2**20),
        ("1.5GB", 1.5e9),
        ("1,000kb", 1e6),
        ("512", 512.0),
        ("512B", 512.0),
        ("25%", 8 * 2.0**30),  # of the node's memory, not of the container's limit
        ("0.5%", 0.16 * 2.0**30),
        ("", 0.0),  # the stressor's own default
        ("MB", 0.0),
        ("much", 0.0),
    ],
)
def test_size_of_a_memory_stressor(text: str, size: float) -> None:
    assert parse_stress_size(text) == pytest.approx(size)


def test_share_of_a_memory_stressor_is_of_what_nodes_report() -> None:
    initialize, _ = build_stages(0)
    reported = re.findall(r"memory: (\S+)", initialize["spec"]["next"]["statusTemplate"])
    assert {parse_quantity(each) for each in reported} == {parse_stress_size("100%")}


@pytest.mark.parametrize(
    ("arguments", "cores", "size"),
    [
        ({"resource": "cpu", "cpu": 4}, 4.0, 0.0),
        ({"resource": "cpu", "cpu": 4, "cpu-load": 25}, 1.0, 0.0),
        ({"resource": "cpu", "cpu": 4, "cpu-load": 0}, 0.0, 0.0),
        ({"resource": "memory", "workers": 1, "size": "100MB"}, 0.0, 100e6),
        ({"resource": "memory", "workers": 4, "size": "100MB"}, 0.0, 100e6),  # each takes its part
        ({"resource": "memory", "workers": 2}, 0.0, 0.0),
        ({"resource": "memory", "workers": 1, "size": 64}, 0.0, 64.0),
    ],
)
def test_load_of_stressors(arguments: dict[str, Any], cores: float, size: float) -> None:
    found = Stress([ContainerEffect(pod_uid="p", container_id="c", kind="Stress", arguments=arguments)])
    assert (found.cores, found.bytes) == (cores, size)


def test_users_wait_for_slow_answers_and_not_after_failures() -> None:
    cluster = tiny.start_cluster()
    rate = cluster.run(300.0).rate("gate", kind="SERVER")
    assert rate == pytest.approx(20 / 2.0, rel=0.05)
    cluster.scale("api", 0)
    cluster.run(60.0)
    assert cluster.run(300.0).rate("gate", kind="SERVER") == pytest.approx(rate, rel=0.05)
    cluster.scale("api", 1)
    cluster.run(150.0)
    cluster.chaos("box", delay=1.0)
    cluster.run(60.0)
    assert cluster.run(300.0).rate("gate", kind="SERVER") == pytest.approx(20 / 3.0, rel=0.07)


def test_background_errors_are_a_parameter() -> None:
    components = {**tiny.TWIN["components"]}
    components["api"] = {**components["api"], "backgroundError": 0.05}
    cluster = tiny.start_cluster(components=components)
    assert cluster.run(600.0).share("api", kind="SERVER") == pytest.approx(0.05, abs=0.01)


def test_retries_hide_errors() -> None:
    components = {**tiny.TWIN["components"]}
    components["api"] = {**components["api"], "backgroundError": 0.2}
    edges = [dict(e, retries=3) if e["callee"] == "api" else e for e in tiny.TWIN["edges"]]
    cluster = tiny.start_cluster(components=components, edges=edges)
    after = cluster.run(600.0)
    assert after.share("gate", kind="SERVER") == pytest.approx(0.2**4, abs=0.003)
    assert after.share("gate", span="Api/Read", kind="CLIENT") == pytest.approx(0.2, abs=0.02)

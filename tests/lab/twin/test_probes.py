"""How long the probes of a node wait."""

import pytest

from scenario_kit.lab.twin.definition_checks import find_mistakes
from scenario_kit.model import ContainerEffect
from scenario_kit.model.runtime.process import Lag
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster

HTTP, GRPC, TCP, EXEC = "/live", "grpc:", None, "exec:true"


def _lag(cluster: TwinCluster, path: str | None, workload: str = "api") -> Lag:
    cluster.twin.observe(cluster.view())
    (pod,) = cluster.pods(workload)
    return cluster.twin.lag(pod, workload, {"gate": 80}.get(workload, 9000), path, cluster.now)


@pytest.mark.parametrize("path", [HTTP, GRPC, TCP, EXEC])
def test_probes_have_no_lag_by_default(path: str | None) -> None:
    assert _lag(tiny.start_cluster(60.0), path) == Lag(0.0, 0.0)


@pytest.mark.parametrize(
    ("effect", "tcp", "http"),
    [
        ({"direction": "OUTPUT", "delay": 2.0}, 2.0, 4.0),
        ({"direction": "OUTPUT", "delay": 2.0, "peers": ("10.0.0.9/32",)}, 0.0, 0.0),
        ({"direction": "OUTPUT", "drop": True}, float("inf"), float("inf")),
        ({"direction": "INPUT", "drop": True}, float("inf"), float("inf")),
        ({"direction": "INPUT", "drop": True, "peers": ("10.0.0.9/32",)}, 0.0, 0.0),
        ({"direction": "OUTPUT", "loss": 100.0}, float("inf"), float("inf")),
    ],
)
def test_network_effects_on_a_pod_apply_to_its_probes(effect: dict, tcp: float, http: float) -> None:
    cluster = tiny.start_cluster(60.0)
    cluster.chaos("api", **effect)
    assert _lag(cluster, TCP) == Lag(tcp, tcp)
    assert _lag(cluster, HTTP) == Lag(tcp, http)
    assert _lag(cluster, EXEC) == Lag(0.0, 0.0), "a command runs where the process is"


def test_packet_loss_hits_the_same_probes_per_seed() -> None:
    seen = []
    for _ in range(2):
        cluster = tiny.start_cluster(60.0)
        cluster.chaos("api", direction="OUTPUT", loss=50.0)
        lags = []
        for _ in range(40):
            cluster.run(15.0)
            lags.append(_lag(cluster, TCP).connects)
        seen.append(lags)
    assert seen[0] == seen[1]
    late = sum(lag >= 1.0 for lag in seen[0])
    assert 10 < late < 30, "half of the answers to a handshake are lost, and repeated after a second"


def test_cpu_starved_process_answers_late_but_accepts_connections() -> None:
    cluster = tiny.start_cluster(60.0)
    (pod,) = cluster.pods("api")
    spec = cluster.get("Deployment", "api")["spec"]["template"]["spec"]["containers"][0]
    spec["resources"] = {"limits": {"cpu": "14m"}}
    cluster.restart("api")
    (pod,) = cluster.pods("api")
    instance = pod["status"]["containerStatuses"][0]["containerID"]
    cluster.stress = (
        ContainerEffect(
            kind="Stress",
            pod_uid=pod["metadata"]["uid"],
            container_id=instance,
            arguments={"cpu": "8", "cpu-load": "100"},
        ),
    )
    cluster.version += 1
    cluster.run(120.0)
    for path, late in ((TCP, False), (GRPC, True), (EXEC, True)):
        lags = []
        for _ in range(20):
            cluster.run(15.0)
            lags.append(_lag(cluster, path))
        assert (max(lag.answers for lag in lags) > 0.5) == late
        assert {lag.connects for lag in lags} == {0.0}


def _start_with_health_page(*callees: str) -> TwinCluster:
    """The application with a health check of ``gate`` that calls others, after a minute."""
    gate = {**tiny.TWIN["components"]["gate"]}
    gate["ports"] = [
        {"number": 80, "protocol": "http", "paths": ["/live", "/ready"], "healthChecks": {"/ready": list(callees)}}
    ]
    return tiny.start_cluster(60.0, components={**tiny.TWIN["components"], "gate": gate})


def _answers(cluster: TwinCluster, path: str) -> bool:
    (pod,) = cluster.pods("gate")
    return cluster.twin.answers(pod, "gate", 80, path, cluster.now)


def test_health_page_fails_while_callee_is_down() -> None:
    cluster = _start_with_health_page("api")
    assert _answers(cluster, "/ready")
    cluster.scale("api", 0)
    cluster.run(15.0)
    assert (_answers(cluster, "/ready"), _answers(cluster, "/live")) == (False, True)
    cluster.scale("api", 1)
    cluster.run(150.0)
    assert _answers(cluster, "/ready")


def test_health_check_waits_for_its_callee() -> None:
    cluster = _start_with_health_page("api")
    cluster.chaos("api", direction="OUTPUT", delay=2.0)
    cluster.run(15.0)
    assert _lag(cluster, "/ready", "gate") == Lag(0.0, 2.0)
    assert _lag(cluster, "/live", "gate") == Lag(0.0, 0.0)
    assert _answers(cluster, "/ready"), "late, and past its timeout the kubelet gives up"


def test_new_process_fails_its_health_check_until_first_call() -> None:
    cluster = _start_with_health_page("api")
    cluster.restart("gate")
    assert not _answers(cluster, "/ready")
    cluster.run(30.0)
    assert _answers(cluster, "/ready")


def test_health_check_needs_an_edge_to_its_callee() -> None:
    gate = {
        **tiny.TWIN["components"]["gate"],
        "ports": [{"number": 80, "protocol": "http", "healthChecks": {"/ready": ["box"]}}],
    }
    (found,) = find_mistakes(tiny.app(components={**tiny.TWIN["components"], "gate": gate}))
    assert found.text == "components.gate.ports[0].healthChecks./ready: there is no edge from 'gate' to 'box'"
    assert found.place == ("components", "gate", "ports", 0, "healthChecks", "/ready")

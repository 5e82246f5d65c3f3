"""Failure modes of an edge, their effect on callers, and the survival of live connections."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster


@pytest.fixture
def little() -> TwinCluster:
    cluster = TwinCluster(tiny.app(), tiny.objects())
    cluster.now += 30.0
    cluster.restart("api")  # its first start failed, as the box was still starting
    cluster.run(120.0)
    return cluster


def _port(cluster: TwinCluster) -> None:
    cluster.change("Service", "api", lambda s: s["spec"]["ports"][0].update(targetPort=9999))


def _named_port(cluster: TwinCluster) -> None:
    cluster.change("Service", "api", lambda s: s["spec"]["ports"][0].update(targetPort="absent"))


def _selector(cluster: TwinCluster) -> None:
    cluster.change("Service", "api", lambda s: s["spec"].update(selector={"app": "nobody"}))


def _no_service(cluster: TwinCluster) -> None:
    cluster.delete("Service", "api")


def _unready(cluster: TwinCluster) -> None:
    for endpoint in cluster.kinds["EndpointSlice"]["api"]["endpoints"]:
        endpoint["conditions"]["ready"] = False
    cluster.version += 1


def _external(cluster: TwinCluster) -> None:
    cluster.change(
        "Service", "api", lambda s: s.update(spec={"type": "ExternalName", "externalName": "api.elsewhere.example"})
    )


@pytest.mark.parametrize("fault", [_port, _named_port, _selector, _no_service, _external])
def test_open_channels_survive_service_changes_until_caller_restarts(
    little: TwinCluster, fault: Callable[[TwinCluster], None]
) -> None:
    fault(little)
    assert little.run(300.0).share("gate", kind="SERVER") == 0.0
    little.restart("gate")
    little.run(30.0)
    after = little.run(120.0)
    assert after.share("gate", span="Api/Read", kind="CLIENT") == 1.0
    assert after.silent("api")


def test_live_channels_survive_failing_readiness(little: TwinCluster) -> None:
    _unready(little)
    assert little.run(120.0).share("gate", kind="SERVER") == 0.0


@pytest.mark.parametrize("fault", [_port, _no_service, _selector])
def test_fix_heals_after_the_caller_restarts(little: TwinCluster, fault: Callable[[TwinCluster], None]) -> None:
    saved = copy.deepcopy(little.get("Service", "api"))
    fault(little)
    little.restart("gate")
    little.run(120.0)
    little.put(saved)
    little.restart("gate")
    little.run(30.0)
    assert little.run(120.0).share("gate", kind="SERVER") == 0.0


def test_grpc_channel_recovers_within_two_minutes(little: TwinCluster) -> None:
    _port(little)
    little.restart("gate")
    little.run(600.0)
    little.change("Service", "api", lambda s: s["spec"]["ports"][0].update(targetPort="main"))
    little.run(135.0)
    assert little.run(120.0).share("gate", kind="SERVER") == 0.0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nobody:9000", "UH no_healthy_upstream"),
        ("api.other:9000", "UH no_healthy_upstream"),
        ("", "UH no_healthy_upstream"),
    ],
)
def test_wrong_address_fails_fast_with_reason(little: TwinCluster, address: str, words: str) -> None:
    little.env("gate", "API_ADDR", address)
    little.run(30.0)
    after = little.run(120.0)
    assert after.share("gate", span="Api/Read", kind="CLIENT") == 1.0
    assert after.quantile(0.95, "gate") < 10.0
    assert any(words in line.text for line in little.logs)


@pytest.mark.parametrize(
    ("address", "seconds"),
    [
        pytest.param("10.99.99.99:9000", 10.0, id="nobody has the address"),
        pytest.param("api:9001", 10.0, id="the Service has no such port"),
        pytest.param("{pod}:9001", 0.0, id="the pod listens elsewhere"),
    ],
)
def test_packet_loss_and_refusal_are_distinct_outcomes(little: TwinCluster, address: str, seconds: float) -> None:
    """Packets to unassigned addresses are lost; pods refuse connections to closed ports."""
    little.env("gate", "API_ADDR", address.replace("{pod}", str(little.pods("api")[0]["status"]["podIP"])))
    after = little.run(30.0)
    assert after.share("gate", span="Api/Read", kind="CLIENT") == 1.0
    assert after.quantile(0.95, "gate") == pytest.approx(1000.0 * seconds, abs=100.0, rel=0.5)
    little.run(60.0)
    assert little.run(60.0).share("gate", span="Api/Read", kind="CLIENT") == 1.0


@pytest.mark.parametrize(
    "address",
    [
        "api.shop:9000",
        "api.shop.svc:9000",
        "api.shop.svc.cluster.local:9000",
        "api.shop.svc.cluster.local.:9000",
        "API:9000",
    ],
)
def test_every_form_of_a_service_name_resolves(little: TwinCluster, address: str) -> None:
    little.env("gate", "API_ADDR", address)
    little.run(30.0)
    assert little.run(60.0).share("gate", kind="SERVER") == 0.0


def test_changed_environment_waits_for_a_restart(little: TwinCluster) -> None:
    little.env("gate", "API_ADDR", "nobody:9000", restart=False)
    assert little.run(120.0).share("gate", kind="SERVER") == 0.0


def test_pod_without_cluster_dns_resolves_no_service(little: TwinCluster) -> None:
    little.change("Deployment", "gate", lambda d: d["spec"]["template"]["spec"].update(dnsPolicy="Default"))
    little.restart("gate")
    # It cannot find the collector either, so only the users' side tells.
    assert little.run(60.0).share("users") == 1.0


def _deny(direction: str, workload: str) -> dict[str, Any]:
    spec = {"podSelector": {"matchLabels": {"app": workload}}, "policyTypes": [direction]}
    return {"kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": spec}


def test_denied_call_hangs_until_its_timeout(little: TwinCluster) -> None:
    little.put(_deny("Ingress", "api"))
    little.settle()
    little.run(30.0)
    after = little.run(120.0)
    assert after.share("gate", kind="SERVER") == 1.0
    assert after.quantile(0.5, "gate") == pytest.approx(10_000, rel=0.5)
    assert after.silent("api")


def test_hung_spans_appear_when_the_hang_ends() -> None:
    edges = [dict(edge, timeoutSeconds=0) for edge in tiny.TWIN["edges"]]
    cluster = TwinCluster(tiny.app(edges=edges), tiny.objects())
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(120.0)
    cluster.put(_deny("Ingress", "box"))
    cluster.settle()
    cluster.run(30.0)
    hung = cluster.run(120.0)
    assert hung.calls("api") == hung.calls("gate") == 0.0
    assert hung.rate("users") == 0.0
    cluster.delete("NetworkPolicy", "p")
    assert cluster.run(15.0).quantile(0.95, "api") > 10_000
    cluster.run(60.0)
    assert cluster.run(120.0).rate("gate", kind="SERVER") == pytest.approx(20 / 2.0, rel=0.15)


def test_policy_allows_named_peers(little: TwinCluster) -> None:
    policy = _deny("Ingress", "api")
    policy["spec"]["ingress"] = [
        {"from": [{"podSelector": {"matchLabels": {"app": "gate"}}}], "ports": [{"port": "main"}]}
    ]
    little.put(policy)
    little.settle()
    assert little.run(60.0).share("gate", kind="SERVER") == 0.0


def test_partition_is_felt_on_live_connections(little: TwinCluster) -> None:
    gate = little.pods("gate")[0]["status"]["podIP"]
    little.chaos("api", drop=True, direction="INPUT", peers=(f"{gate}/32",))
    little.run(30.0)
    assert little.run(60.0).share("gate", kind="SERVER") == 1.0
    little.calm()
    little.run(15.0)
    assert little.run(60.0).share("gate", kind="SERVER") == 0.0


def test_delay_applies_to_egress(little: TwinCluster) -> None:
    little.chaos("box", delay=0.3)
    little.run(15.0)
    after = little.run(120.0)
    assert 200 <= after.quantile(0.5, "api") <= 400  # interpolated in the bucket from 200 to 400
    assert after.share("gate") == 0.0


def test_delay_beyond_the_timeout_is_an_error(little: TwinCluster) -> None:
    little.chaos("box", delay=3.0)
    little.run(15.0)
    after = little.run(120.0)
    assert after.share("api", span="GET", kind="CLIENT") == 1.0
    assert after.quantile(0.95, "gate") <= 5000


def test_delay_towards_another_peer_is_not_felt(little: TwinCluster) -> None:
    little.chaos("box", delay=0.3, peers=("192.0.2.1/32",))
    assert little.run(60.0).quantile(0.95, "api") < 50


def test_loss_makes_some_calls_late(little: TwinCluster) -> None:
    little.chaos("api", loss=20.0)
    after = little.run(300.0)
    assert after.quantile(0.5, "gate") < 20
    assert after.quantile(0.95, "gate") > 150


def test_total_loss_hangs(little: TwinCluster) -> None:
    little.chaos("box", loss=100.0)
    little.run(15.0)
    after = little.run(60.0)
    assert after.share("api", span="GET", kind="CLIENT") == 1.0
    assert after.quantile(0.5, "api") >= 1000


def test_narrow_pipe_slows_messages(little: TwinCluster) -> None:
    little.chaos("box", rate=10_000.0)
    assert little.run(60.0).quantile(0.5, "api") > 100


def test_wrong_password_is_refused_by_the_store(little: TwinCluster) -> None:
    little.env("api", "BOX_DSN", "sql://me:guess@box/x")
    status = little.pods("api")[0]["status"]["containerStatuses"][0]["state"]
    assert "waiting" in status, "it does not come up without a working login"
    assert any("password authentication failed" in line.text for line in [*little.logs, *little.twin._startup.lines])


def test_rotated_password_acts_on_new_connections_only(little: TwinCluster) -> None:
    little.env("box", "BOX_PASSWORD", "new", restart=False)
    assert little.run(60.0).share("gate") == 0.0
    little.env("box", "BOX_PASSWORD", "new", restart=True)
    little.run(30.0)
    assert little.run(60.0).share("api", span="GET", kind="CLIENT") == 1.0


def test_foreign_pod_behind_service_answers_wrongly(little: TwinCluster) -> None:
    little.change(
        "Service",
        "api",
        lambda s: s["spec"].update(selector={"app": "box"}, ports=[{"name": "p", "port": 9000, "targetPort": 7000}]),
    )
    little.restart("gate")
    little.run(30.0)
    assert little.run(60.0).share("gate", span="Api/Read", kind="CLIENT") == 1.0


def test_pause_container_does_not_listen(little: TwinCluster) -> None:
    pod = little.pods("api")[0]
    pod["spec"]["containers"][0]["image"] = "gcr.io/google-containers/pause:latest"
    pod["status"]["containerStatuses"][0].update(containerID="containerd://other", restartCount=1)
    little.version += 1
    little.run(15.0)
    after = little.run(60.0)
    assert after.share("gate", span="Api/Read", kind="CLIENT") == 1.0
    assert after.silent("api")


def test_killed_callee_refuses_connections_until_it_listens(little: TwinCluster) -> None:
    little.restart("api")
    hit = little.run(15.0)
    assert 0.0 < hit.share("gate", span="Api/Read", kind="CLIENT") < 1.0
    little.run(15.0)
    assert little.run(60.0).share("gate") == 0.0


def test_channel_uses_one_replica_and_pool_uses_all() -> None:
    cluster = TwinCluster(tiny.app(), tiny.objects())
    cluster.now += 30.0
    cluster.restart("api")
    cluster.run(60.0)
    cluster.scale("api", 2)
    cluster.scale("gate", 2)
    cluster.run(120.0)
    apis, gates = cluster.twin._process_table.of("api"), cluster.twin._process_table.of("gate")
    first = [p.calls for p in (*apis, *gates)]
    cluster.run(60.0)
    used = [now.calls - before for now, before in zip((*apis, *gates), first, strict=True)]
    assert used[2] == pytest.approx(used[3], rel=0.3), "users reach both gates"
    assert used[0] > 0, "the old channel stays where it was"


@pytest.mark.parametrize(("affinity", "one"), [("None", False), ("ClientIP", True)])
def test_session_affinity_keeps_a_client_with_one_replica(affinity: str, one: bool) -> None:
    cluster = TwinCluster(tiny.app(), tiny.objects())
    cluster.change("Service", "gate", lambda s: s["spec"].update(sessionAffinity=affinity))
    cluster.scale("gate", 2)
    cluster.run(120.0)
    gates = cluster.twin._process_table.of("gate")
    first = [p.calls for p in gates]
    cluster.run(60.0)
    used = sorted(now.calls - before for now, before in zip(gates, first, strict=True))
    assert (used[0] == 0.0) is one
    assert used[1] > 0.0


def test_http_pools_meet_a_changed_service_within_a_minute(little: TwinCluster) -> None:
    little.change("Service", "gate", lambda s: s["spec"]["ports"][0].update(targetPort=9999))
    first = little.run(30.0)
    assert 0.0 < first.share("users") < 1.0
    little.run(45.0)
    assert little.run(60.0).share("users") == 1.0

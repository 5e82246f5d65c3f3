"""The daemon as the manager sees it: real gRPC over mutual TLS."""

from __future__ import annotations

import json
import socket
import ssl
from typing import Any

import grpc
import pytest

from scenario_kit.clients.certificates import issue
from scenario_kit.errors import LabError
from scenario_kit.lab.chaos_daemon.endpoints import SERVER_NAME
from scenario_kit.lab.chaos_daemon.server import (
    ChaosDaemonServer,
    ContainerRuntime,
    ServerTls,
    _Refused,
    _require_tls13,
)
from scenario_kit.model import NetworkEffect
from tests.lab.chaos_daemon.conftest import Java, pem

pytestmark = pytest.mark.lab  # the messages come from the installed Chaos Mesh

C1 = "containerd://c1"
PEERS = [
    {"name": "all_tgt", "type": "list:set", "set_names": ["net_tgt", "port_tgt"]},
    {"name": "net_tgt", "type": "hash:net", "cidrs": ["10.0.0.9/32", "10.0.0.7/32"]},
    {"name": "port_tgt", "type": "hash:net,port"},
]
SLEEP = "\nRULE x\nCLASS C\nMETHOD m\nAT ENTRY\nIF true\nDO\n\tThread.sleep(3000);\nENDRULE\n"
LATE = '[{"type": "latency", "path": "", "percent": 100, "latency": "1s"}]'
DELAY = {"type": "NETEM", "netem": {"time": "250ms", "jitter": "10ms"}}


def network(running: Any, sets: Any = (), chains: Any = (), tcs: Any = ()) -> None:
    """Send the manager's calls for a changed PodNetworkChaos."""
    where = {"container_id": C1, "enterNS": True, "pod_uid": "pod-1"}
    running.call("FlushIPSets", ipsets=sets, **where)
    running.call("SetIptablesChains", chains=chains, **where)
    running.call("SetTcs", tcs=tcs, **where)


def list_effects(running: Any) -> Any:
    return running.effect_store.snapshot(["pod-1", "pod-2"])


def only_effect(running: Any) -> Any:
    (effect,) = list_effects(running).containers
    return effect


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"tcs": [DELAY]}, {"delay": 0.25, "jitter": 0.01}),
        ({"sets": PEERS, "tcs": [{**DELAY, "ipset": "all_tgt"}]},
         {"delay": 0.25, "jitter": 0.01, "peers": ("10.0.0.7/32", "10.0.0.9/32")}),
        ({"tcs": [{"type": "NETEM", "netem": {"loss": 12.3, "duplicate": 1, "corrupt": 2}, "device": "eth1"}]},
         {"loss": 12.3, "duplicate": 1.0, "corrupt": 2.0, "device": "eth1"}),
        ({"tcs": [{"type": "BANDWIDTH", "tbf": {"rate": "1mbps", "limit": 9, "buffer": 8}}]},
         {"rate": 1e6, "queue": 9.0, "burst": 8.0}),
        ({"tcs": [{"type": "NETEM", "netem": {"rate": "8kbit"}}]}, {"rate": 1000.0}),
        ({"sets": PEERS,
          "chains": [{"name": "INPUT/x", "direction": "INPUT", "ipsets": ["all_tgt"], "target": "DROP"}]},
         {"drop": True, "direction": "INPUT", "peers": ("10.0.0.7/32", "10.0.0.9/32")}),
        ({"chains": [{"name": "OUTPUT/x", "direction": "OUTPUT", "target": "DROP"}]}, {"drop": True}),
        ({"tcs": [{"type": "NETEM", "netem": {"jitter": "10ms", "loss": 1, "loss_corr": 9}}]},
         {"loss": 1.0, "loss_correlation": 9.0}),
    ],
)  # fmt: skip
def test_network_rules_are_recorded_and_removed(running: Any, sent: Any, expected: dict[str, Any]) -> None:
    network(running, **sent)
    assert list_effects(running).network == (NetworkEffect(**{"pod_uid": "pod-1", "device": "eth0", **expected}),)
    network(running)
    assert list_effects(running).network == ()


def test_rule_with_empty_sets_has_no_effect(running: Any) -> None:
    network(running, [{"name": "all_tgt", "type": "list:set"}], tcs=[{**DELAY, "ipset": "all_tgt"}])
    assert list_effects(running).network == ()


def test_network_call_replaces_all_rules(running: Any) -> None:
    network(running, tcs=[DELAY, DELAY])
    network(running, tcs=[{"type": "NETEM", "netem": {"loss": 50}}])
    assert [(e.delay, e.loss) for e in list_effects(running).network] == [(0.0, 50.0)]


@pytest.mark.parametrize(
    ("call", "fields", "code"),
    [
        ("SetTcs", {"tcs": [{"type": "NETEM"}]}, "INVALID_ARGUMENT"),
        ("SetTcs", {"tcs": [{"type": "BANDWIDTH"}]}, "INVALID_ARGUMENT"),
        ("SetTcs", {"tcs": [{"type": "NETEM", "netem": {"time": "fast"}}]}, "UNKNOWN"),
        ("SetTcs", {"tcs": [{**DELAY, "ipset": "nowhere"}]}, "UNKNOWN"),
        ("SetTcs", {"tcs": [{**DELAY, "protocol": "tcp"}]}, "UNIMPLEMENTED"),
        ("SetIptablesChains", {"chains": [{"name": "x", "target": "ACCEPT"}]}, "INVALID_ARGUMENT"),
        ("FlushIPSets", {"ipsets": [{"name": "x", "type": "hash:ip"}]}, "INVALID_ARGUMENT"),
        ("FlushIPSets", {"ipsets": [{"name": "x", "type": "hash:net", "cidrs": ["here"]}]}, "INVALID_ARGUMENT"),
        ("FlushIPSets",
         {"ipsets": [{"name": "x", "type": "hash:net,port", "cidr_and_ports": [{"cidr": "10.0.0.1/32"}]}]},
         "UNIMPLEMENTED"),
        ("ContainerKill", {"action": {"action": "GETPID"}}, "INVALID_ARGUMENT"),
        ("ContainerGetPid", {"action": {"action": "KILL"}}, "INVALID_ARGUMENT"),
        ("SetDNSServer", {"dns_server": "dns.example", "enable": True}, "INVALID_ARGUMENT"),
        ("ApplyHttpChaos", {"rules": "{}"}, "INVALID_ARGUMENT"),
        ("ApplyIOChaos", {"actions": "no json"}, "INVALID_ARGUMENT"),
        ("ApplyIOChaos", {"actions": "[1]"}, "INVALID_ARGUMENT"),
        ("ApplyIOChaos", {"actions": LATE, "volume": "/elsewhere"}, "UNKNOWN"),
        ("ApplyIOChaos", {"actions": '[{"type": "other"}]', "volume": "/data"}, "UNIMPLEMENTED"),
        ("ContainerKill", {"container_id": "containerd://gone"}, "NOT_FOUND"),
        ("SetTcs", {"container_id": "containerd://gone"}, "NOT_FOUND"),
    ],
)  # fmt: skip
def test_invalid_daemon_calls_are_refused(running: Any, call: str, fields: Any, code: str) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        running.call(call, **{"container_id": C1, **fields})
    assert refused.value.code().name == code
    assert refused.value.details()
    assert list_effects(running) == running.effect_store.snapshot([])
    assert running.daemon.records[-1].answer == refused.value.details()


def test_network_calls_fall_back_to_the_pod(running: Any) -> None:
    running.call("SetTcs", container_id="containerd://gone", pod_uid="pod-2", tcs=[DELAY])
    assert [effect.pod_uid for effect in list_effects(running).network] == ["pod-2"]


def test_stress_returns_pids_and_is_cancelled_by_them(running: Any) -> None:
    flags = " --cpu-load-slice 10 --cpu-method sqrt --cpu 2 --cpu-load 80"
    reply = running.call(
        "ExecStressors", target=C1, cpuStressors=flags, memoryStressors=" --workers 1 --size 64MB", oomScoreAdj=-5
    )
    assert reply.cpuInstance.isdecimal()
    assert reply.memoryInstance.isdecimal()
    assert reply.cpuInstance != reply.memoryInstance
    assert reply.cpuStartTime > 1_000_000_000_000
    by_resource = {e.arguments["resource"]: e.arguments for e in list_effects(running).containers}
    assert by_resource["cpu"] == {
        "resource": "cpu", "cpu-load-slice": 10, "cpu-method": "sqrt", "cpu": 2, "cpu-load": 80,
    }  # fmt: skip
    assert by_resource["memory"] == {"resource": "memory", "workers": 1, "size": "64MB", "oomScoreAdj": -5}
    running.call("CancelStressors", cpuInstance=reply.cpuInstance)
    assert [e.arguments["resource"] for e in list_effects(running).containers] == ["memory"]
    running.call("CancelStressors", memoryInstance=reply.memoryInstance)
    assert list_effects(running).containers == ()


def test_no_workers_no_stress(running: Any) -> None:
    reply = running.call("ExecStressors", target=C1)
    assert (reply.cpuInstance, reply.memoryInstance) == ("", "")
    assert list_effects(running).containers == ()


def test_http_chaos_reuses_its_process_and_returns_200(running: Any) -> None:
    rules = [{"target": "Request", "selector": {"port": 80}, "actions": {"abort": True}}]
    reply = running.call("ApplyHttpChaos", container_id=C1, rules=json.dumps(rules), proxy_ports=[80])
    assert reply.statusCode == 200
    assert reply.instance > 0
    assert only_effect(running).arguments == {"rules": rules, "proxyPorts": [80], "tls": False}
    again = running.call(
        "ApplyHttpChaos", container_id=C1, rules="[]", instance=reply.instance, startTime=reply.startTime
    )
    assert (again.statusCode, again.instance, again.startTime) == (200, reply.instance, reply.startTime)
    assert list_effects(running).containers == ()


@pytest.mark.parametrize(("delay", "status"), [("2s", 200), ("1m30s", 200), ("1.5s", 400)])
def test_proxy_parses_whole_numbers_only(running: Any, delay: str, status: int) -> None:
    rules = [{"target": "Request", "selector": {"port": 80}, "actions": {"delay": delay}}]
    reply = running.call("ApplyHttpChaos", container_id=C1, rules=json.dumps(rules), proxy_ports=[80])
    assert (reply.statusCode, bool(reply.error)) == (status, status != 200)
    assert bool(list_effects(running).containers) is (status == 200)


@pytest.mark.parametrize("flags", [" --workers 1 --size 256 MB", " --size 256"])
def test_flag_has_one_word(running: Any, flags: str) -> None:
    running.call("ExecStressors", target=C1, memoryStressors=flags)
    assert only_effect(running).arguments["size"] == 256


@pytest.mark.parametrize("empty", ["[]", "null"])
def test_io_ends_with_an_empty_list(running: Any, empty: str) -> None:
    actions = [{"type": "latency", "path": "/data/*", "percent": 50, "latency": "1s"}]
    sent = json.dumps([{**action, "source": "kit/k7f3a-1"} for action in actions])
    reply = running.call("ApplyIOChaos", container_id=C1, actions=sent, volume="/data")
    assert reply.instance > 0
    known = [{"type": "latency", "path": "/data/*", "percent": 50, "delaySeconds": 1.0}]
    assert only_effect(running).arguments == {"volume": "/data", "actions": known}
    assert running.call("ApplyIOChaos", container_id=C1, actions=empty, instance=reply.instance).instance == 0
    assert list_effects(running).containers == ()


@pytest.mark.parametrize("empty", ["", "[]", "null"])
def test_io_chaos_of_an_ended_container_is_recovered(running: Any, empty: str) -> None:
    assert running.call("ApplyIOChaos", container_id="containerd://gone", actions=empty, instance=7).instance == 0


@pytest.mark.parametrize(
    ("bring", "take", "kind", "arguments"),
    [
        (("SetTimeOffset", {"sec": -3, "nsec": 5, "clk_ids_mask": 0b101, "uid": "u", "pod_container_name": "pod-1:c"}),
         ("RecoverTimeOffset", {"uid": "u", "pod_container_name": "pod-1:c"}),
         "Time", {"seconds": -3, "nanoseconds": 5, "clocks": [0, 2]}),
        (("SetDNSServer", {"dns_server": "10.0.0.10", "enable": True}), ("SetDNSServer", {}),
         "DNS", {"server": "10.0.0.10"}),
        (("InstallJVMRules", {"rule": SLEEP, "port": 9277}), ("UninstallJVMRules", {"rule": SLEEP, "port": 9277}),
         "JVM",
         {"port": 9277, "rules": [{"name": "x", "class": "C", "method": "m", "actions": [{"sleepSeconds": 3.0}]}]}),
    ],
)  # fmt: skip
def test_container_effects_are_recorded_and_removed(
    running: Any, bring: Any, take: Any, kind: str, arguments: Any
) -> None:
    running.call(bring[0], container_id=C1, **bring[1])
    effect = only_effect(running)
    assert (effect.pod_uid, effect.container_id, effect.kind, effect.arguments) == ("pod-1", C1, kind, arguments)
    running.call(take[0], container_id=C1, **take[1])
    assert list_effects(running).containers == ()


@pytest.mark.parametrize(
    ("container", "rule", "code", "reported"),
    [
        ("containerd://c2", SLEEP, grpc.StatusCode.INVALID_ARGUMENT, "AttachNotSupportedException"),
        (C1, "RULE x", grpc.StatusCode.INVALID_ARGUMENT, "ENDRULE"),
        (C1, SLEEP.replace("AT ENTRY", "AT EXIT"), grpc.StatusCode.UNIMPLEMENTED, "AT ENTRY"),
        (C1, SLEEP.replace("Thread.sleep(3000)", "return 13"), grpc.StatusCode.UNIMPLEMENTED, "13 is not simulated"),
    ],
)
def test_jvm_rules_without_a_java_process_are_refused(
    running: Any, container: str, rule: str, code: Any, reported: str
) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        running.call("InstallJVMRules", container_id=container, rule=rule, port=9277)
    assert refused.value.code() is code
    assert reported in refused.value.details()
    assert list_effects(running).containers == ()


def test_block_chaos_is_recovered_by_injection_id(running: Any) -> None:
    reply = running.call("ApplyBlockChaos", container_id=C1, volume_path="/d", action="Delay", delay={"delay": 7})
    assert only_effect(running).arguments == {"volume": "/d", "delay": {"delay": 7, "jitter": 0, "correlation": 0.0}}
    running.call("RecoverBlockChaos", injection_id=reply.injection_id)
    assert list_effects(running).containers == ()


def test_container_kill_and_pid(running: Any) -> None:
    running.call("ContainerKill", container_id=C1, action={"action": "KILL"})
    assert running.killed == [("pod-1", C1)]
    assert running.call("ContainerGetPid", container_id=C1, action={"action": "GETPID"}).pid > 1


def test_records_name_the_object_of_the_call(running: Any) -> None:
    running.call("SetTcs", about="shop/cart-1", container_id=C1)
    record = running.daemon.records[-1]
    assert (record.call, record.about, record.pod_uid, record.answer) == ("SetTcs", "shop/cart-1", "pod-1", "ok")


class TestTls:
    def test_no_certificate_no_call(self, running: Any, connect: Any) -> None:
        stranger = type(running.call)(connect(running.port, None), running.call.messages)
        with pytest.raises(grpc.RpcError) as refused:
            stranger("SetTcs", container_id=C1, tcs=[DELAY])
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        assert list_effects(running).network == ()

    def test_certificate_of_another_authority(self, running: Any, connect: Any, authority: Any) -> None:
        pair = issue(type(authority).create("somebody else"), "manager")
        stranger = type(running.call)(connect(running.port, pair), running.call.messages)
        with pytest.raises(grpc.RpcError) as refused:
            stranger("SetTcs", container_id=C1, tcs=[DELAY])
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE

    def test_plain_text_gets_no_answer(self, running: Any) -> None:
        with grpc.insecure_channel(f"127.0.0.1:{running.port}") as channel, pytest.raises(grpc.RpcError) as refused:
            type(running.call)(channel, running.call.messages)("SetTcs", container_id=C1)
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE

    def test_version_1_3_is_negotiated(self, running: Any, authority: Any, tmp_path: Any) -> None:
        pair = issue(authority, "manager")
        (tmp_path / "pair.pem").write_bytes(pair.key + pair.certificate)
        context = ssl.create_default_context(cadata=pem(authority).decode())
        context.load_cert_chain(tmp_path / "pair.pem")
        context.set_alpn_protocols(["h2"])
        with (
            socket.create_connection(("127.0.0.1", running.port)) as plain,
            context.wrap_socket(plain, server_hostname=SERVER_NAME) as wrapped,
        ):
            assert wrapped.version() == "TLSv1.3"

    @pytest.mark.parametrize(("version", "refused"), [(b"TLSv1.2", True), (b"TLSv1.3", False), (None, False)])
    def test_older_versions_are_refused(self, version: bytes | None, refused: bool) -> None:
        class Context:
            def auth_context(self) -> dict[str, list[bytes]]:
                return {"ssl_tls_version": [version]} if version else {}

        if refused:
            with pytest.raises(_Refused, match=r"TLSv1\.2 was negotiated"):
                _require_tls13(Context())
        else:
            _require_tls13(Context())


def test_taken_port_is_a_clear_error(running: Any, authority: Any) -> None:
    server = issue(authority, SERVER_NAME, hosts=[SERVER_NAME])
    second = ChaosDaemonServer(
        running.call.messages,
        running.effect_store,
        ServerTls(server.certificate, server.key, pem(authority)),
        ContainerRuntime({}.get, lambda pod, container: None, Java()),
    )
    with pytest.raises(LabError, match=rf"127.0.0.1:{running.port} cannot be bound"):
        second.start("127.0.0.1", running.port)

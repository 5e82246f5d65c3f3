"""Debug pods observe the network from their own position."""

from __future__ import annotations

from typing import Any

import pytest

from scenario_kit.model import ContainerEffect
from scenario_kit.model.kubernetes.image import is_tool
from scenario_kit.model.runtime.process import ProcessStart
from tests.lab.twin import tiny
from tests.lab.twin.twin_cluster import TwinCluster


@pytest.fixture
def cluster() -> TwinCluster:
    found = TwinCluster(tiny.app(), tiny.objects())
    found.run(60)
    return found


def pod(*words: str, image: str = "busybox", **spec: Any) -> dict[str, Any]:
    container = {"name": "probe", "image": image, "command": list(words), **spec}
    metadata = {"name": "probe", "namespace": "shop", "uid": "uid-probe", "labels": {}, "annotations": {"workload": ""}}
    return {
        "kind": "Pod", "metadata": metadata, "spec": {"nodeName": "node-0", "containers": [container]},
        "status": {"phase": "Pending", "podIP": "10.244.9.9"},
    }  # fmt: skip


def run(cluster: TwinCluster, *words: str, **more: Any) -> ProcessStart:
    one = pod(*words, **more)
    cluster.kinds["Pod"]["probe"] = one
    cluster.version += 1
    cluster.twin.observe(cluster.view())
    return cluster.twin.start(one, "probe", cluster.now)


def read_result(start: ProcessStart) -> tuple[int, str]:
    assert start.exit is not None
    return start.exit.code, "\n".join(start.lines)


def address(cluster: TwinCluster, service: str) -> str:
    return str(cluster.get("Service", service)["spec"]["clusterIP"])


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("nslookup", "gate"), 0, "Name:\tgate.shop.svc.cluster.local\nAddress: {gate}"),
        (("nslookup", "gate.shop.svc.cluster.local"), 0, "Address: {gate}"),
        (("nslookup", "nobody"), 1, "** server can't find nobody.shop.svc.cluster.local: NXDOMAIN"),
        (("dig", "+short", "gate"), 0, "{gate}"),
        (("getent", "hosts", "gate"), 0, "{gate}"),
        (("wget", "-qO-", "http://gate/"), 0, "what pages hold is not simulated"),
        (("wget", "-qO-", "-T", "2", "http://gate/nowhere"), 1, "404 Not Found"),
        (("wget", "-qO-", "http://gate:81"), 1, "timed out"),
        (("wget", "-qO-", "http://nobody"), 1, "bad address 'nobody:80'"),
        (("curl", "-sS", "http://gate/live"), 0, "not simulated"),
        (("curl", "-I", "gate/"), 0, "HTTP/1.1 200 OK"),
        (("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}\\n", "http://gate/"), 0, "200"),
        (("curl", "http://nobody/"), 6, "Could not resolve host: nobody"),
        (("nc", "-zv", "-w", "2", "box", "7000"), 0, "box ({box}:7000) open"),
        (("nc", "-z", "nobody", "1"), 1, "bad address 'nobody'"),
        (("ping", "-c", "1", "gate"), 1, "100% packet loss"),
        (("cat", "/etc/resolv.conf"), 0, "search shop.svc.cluster.local svc.cluster.local cluster.local"),
        (("cat", "/no/such"), 1, "No such file or directory"),
        (("env",), 0, "HOSTNAME=probe"),
        (("ls", "/"), 0, "etc"),
        (("ps",), 0, "root"),
        (("hostname",), 0, "probe"),
        (("sh", "-c", "echo hello; nslookup gate && false"), 1, "hello"),
    ],
)
def test_usual_commands(cluster: TwinCluster, words: tuple[str, ...], code: int, text: str) -> None:
    expected = text.replace("{gate}", address(cluster, "gate")).replace("{box}", address(cluster, "box"))
    found_code, found = read_result(run(cluster, *words))
    assert expected in found
    assert found_code == code


def test_debug_pod_observes_broken_network(cluster: TwinCluster) -> None:
    cluster.scale("gate", 0)
    code, text = read_result(run(cluster, "wget", "-qO-", "http://gate/"))
    assert (code, "Connection refused" in text) == (1, True)
    policy = {"podSelector": {}, "policyTypes": ["Egress"], "egress": []}
    cluster.put({"kind": "NetworkPolicy", "metadata": {"name": "deny", "namespace": "shop"}, "spec": policy})
    code, text = read_result(run(cluster, "nslookup", "box"))
    assert (code, "no servers could be reached" in text) == (1, True)


@pytest.mark.parametrize(
    "words",
    [
        ("sleep", "3600"),
        ("sh", "-c", "while true; do wget -q gate; done"),
        ("sh", "-c", "nslookup gate | grep x"),
        ("httpd", "-f"),
        ("nginx",),
        (),
    ],
)
def test_unsupported_command_keeps_running(cluster: TwinCluster, words: tuple[str, ...]) -> None:
    assert run(cluster, *words).exit is None


def test_app_images_run_no_debug_commands(cluster: TwinCluster) -> None:
    assert run(cluster, "env", image="example.org/gate:1").exit is None


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox", True), ("busybox:1.37.0", True), ("busybox:1.36", True), ("nginx", True),
        ("nginx:1.29-alpine", True),
        ("curlimages/curl:8.10.1", True), ("nicolaka/netshoot", True), ("docker.io/library/alpine:3.20", True),
        ("registry.k8s.io/e2e-test-images/agnhost:2.53", True), ("busybox:does-not-exist", False),
        ("busyboks", False), ("example.org/busybox:1.37.0", False), ("redis:7", False),
    ],
)  # fmt: skip
def test_tool_images_are_recognised(image: str, expected: bool) -> None:
    assert is_tool(image) is expected


@pytest.mark.parametrize(
    ("actions", "words", "code", "text", "seconds"),
    [
        ({"abort": True}, ("curl", "-sS", "http://gate/live"), 52, "Empty reply from server", 0.1),
        ({"abort": True}, ("wget", "-qO-", "http://gate/live"), 1, "error getting response", 0.1),
        ({"delay": "2s"}, ("curl", "-sS", "http://gate/live"), 0, "not simulated", 2.1),
        ({"replace": {"code": 503}}, ("curl", "-sI", "http://gate/live"), 0, "HTTP/1.1 503 Service Unavailable", 0.1),
        ({"replace": {"code": 503}}, ("wget", "-qO-", "http://gate/live"), 1, "503 Service Unavailable", 0.1),
        ({"replace": {"code": 503}}, ("curl", "-sI", "http://gate/nowhere"), 0, "404 Not Found", 0.1),
    ],
)
def test_requests_pass_the_proxy_of_a_pod(
    cluster: TwinCluster, actions: dict[str, Any], words: tuple[str, ...], code: int, text: str, seconds: float
) -> None:
    (gate,) = cluster.pods("gate")
    target = "Response" if "replace" in actions else "Request"
    rule = {"target": target, "selector": {"port": 80, "code": 200}, "actions": actions}
    cluster.stress = (
        ContainerEffect(
            kind="HTTP",
            pod_uid=gate["metadata"]["uid"],
            container_id=gate["status"]["containerStatuses"][0]["containerID"],
            arguments={"rules": [rule], "proxyPorts": [80], "tls": False},
        ),
    )
    started = run(cluster, *words)
    found, output = read_result(started)
    assert (found, started.listens_after_seconds) == (code, pytest.approx(seconds))
    assert text in output

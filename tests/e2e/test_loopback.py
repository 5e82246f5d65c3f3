"""What a program reaches that runs on the machine of a lab, without the files of the lab: nothing that it asks for.

Every socket on which a lab listens is found, and has attempts in the table; each is made without an identity, with the
certificate of a solver, and with one of another lab.
"""

from __future__ import annotations

import base64
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import yaml

from scenario_kit.lab.chaos_daemon.protocol import load_name_server_messages
from scenario_kit.lab.control_plane.log_access import locate_kubelet_tls
from scenario_kit.lab.host import procfs
from scenario_kit.lab.host.mutual_tls import MutualTls
from scenario_kit.lab.host.state import LabState
from scenario_kit.lab.telemetry.prometheus_access import locate_prometheus_tls
from tests.e2e.conftest import Lab
from tests.lab.sockets import list_listeners

_KEYS = base64.b64encode(b"/registry/scenariokit.io/").decode()
_END = base64.b64encode(b"/registry/scenariokit.io0").decode()
_TRUTH = {"key": _KEYS, "range_end": _END}
_REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "object": {}}}

Attempt = tuple[str, str, Any]

#: By the purpose of a port: method, path and body.
ATTEMPTS: dict[str, list[Attempt]] = {
    "etcd": [
        ("POST", "/v3/kv/range", _TRUTH),
        ("POST", "/v3/kv/put", {"key": _KEYS, "value": ""}),
        ("POST", "/v3/maintenance/snapshot", {}),
        ("GET", "/metrics", None),
    ],
    "etcd-peer": [("GET", "/members", None), ("GET", "/raft/stream/message/1", None)],
    "kube-apiserver": [
        ("GET", "/apis/scenariokit.io/v1alpha1/scenarios", None),
        ("GET", "/apis/scenariokit.io/v1alpha1/namespaces/scenario-kit/trials", None),
        ("GET", "/api/v1/namespaces/scenario-kit/configmaps", None),
        ("GET", "/apis/chaos-mesh.org/v1alpha1/networkchaos", None),
        ("GET", "/api/v1/nodes/worker-1/proxy/containerLogs/kube-system/coredns/coredns", None),
    ],
    "kube-controller-manager": [("GET", "/metrics", None), ("GET", "/configz", None), ("GET", "/debug/pprof/", None)],
    "kube-scheduler": [("GET", "/metrics", None), ("GET", "/configz", None), ("GET", "/debug/pprof/", None)],
    "prometheus": [
        ("GET", "/api/v1/query?query=up", None),
        ("POST", "/api/v1/write", {}),
        ("POST", "/api/v1/otlp/v1/metrics", {}),
        ("POST", "/api/v1/admin/tsdb/delete_series?match[]=up", None),
        ("GET", "/api/v1/status/config", None),
        ("POST", "/-/reload", None),
        ("GET", "/federate?match[]=up", None),
    ],
    "kubelet": [
        ("GET", "/containerLogs/otel-demo/cart/cart", None),
        ("GET", "/pods", None),
        ("POST", "/exec/otel-demo/cart/cart?command=id", None),
        ("GET", "/metrics", None),
    ],
    "lab-server": [
        ("GET", "/worlds", None),
        ("GET", "/metrics", None),
        ("PUT", "/worlds/mine", {"namespace": "mine", "seed": 1, "mode": "Virtual", "app": {}}),
        ("DELETE", "/worlds/mine", None),
        ("POST", "/probe", {"namespace": "otel-demo", "pod": "cart", "port": 1}),
        ("GET", "/recordings/mine", None),
        ("GET", "/worlds/otel-demo/jaeger/api/services", None),
        ("GET", f"/worlds/otel-demo/{'0' * 32}/jaeger/api/services", None),
        ("GET", f"/worlds/otel-demo/{'0' * 32}/otlp", None),
    ],
    "metrics-server": [("GET", "/apis/metrics.k8s.io/v1beta1/pods", None)],
    "chaos-controller-manager": [("GET", "/metrics", None), ("GET", "/debug/pprof/", None)],
    # It answers reviews by what is in them, and knows nothing else.
    "chaos-webhook": [("GET", "/metrics", None), ("GET", "/debug/pprof/", None)],
    "chaos-targets": [("POST", "/external-targets", _REVIEW)],
    "admission-webhook": [("POST", "/review", _REVIEW), ("GET", "/metrics", None)],
    "chaos-daemon": [("POST", "/pb.ChaosDaemon/SetTcs", None)],
    "chaos-names": [("POST", "/pb.DNS/SetDNSChaos", None)],
}


def make_context(certificate: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """Build a TLS context that trusts every server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    return context


@pytest.fixture
def identities(lab: Lab, tmp_path: Path) -> dict[str, ssl.SSLContext]:
    user = yaml.safe_load(Path(lab.state.solver_kubeconfig).read_text())["users"][0]["user"]
    files = tmp_path / "solver.crt", tmp_path / "solver.key"
    for file, field in zip(files, ("client-certificate-data", "client-key-data"), strict=True):
        file.write_bytes(base64.b64decode(user[field]))
    other = MutualTls(tmp_path / "other-lab", "prometheus")
    other.write()
    return {
        "nobody": make_context(),
        "solver": make_context(*files),
        "another lab": make_context(other.client_certificate, other.client_key),
    }


def describe_answer(client: httpx.Client, scheme: str, port: int, attempt: Attempt) -> str:
    """Describe what was answered; empty where the attempt was refused."""
    method, path, body = attempt
    try:
        answer = client.request(method, f"{scheme}://127.0.0.1:{port}{path}", json=body)
    except httpx.TransportError:
        return ""
    return "" if answer.status_code in (400, 401, 403, 404) else f"{answer.status_code} {answer.text[:80]}"


def list_purposes(state: LabState) -> set[str]:
    """List what listens, by purpose; the operator begins to listen after the lab is up."""
    purposes = {port: purpose for purpose, port in state.ports.items()}
    deadline, seen = time.monotonic() + 60.0, set[str]()
    while not seen >= set(ATTEMPTS) and time.monotonic() < deadline:
        found = list_listeners(set(procfs.find(procfs.make_marker(state.folder))))
        seen = {purposes.get(port, f"unknown port {port}") for _, port in found}
        time.sleep(0.2)
    return seen


def test_lab_listeners_reject_unauthorized_clients(lab: Lab, identities: dict[str, ssl.SSLContext]) -> None:
    state = lab.state
    assert list_purposes(state) == set(ATTEMPTS)
    answered = []
    for identity, context in identities.items():
        with httpx.Client(verify=context, timeout=10.0, trust_env=False) as client:
            for purpose, attempts in ATTEMPTS.items():
                for attempt in attempts:
                    for scheme in ("https", "http"):
                        if message := describe_answer(client, scheme, state.ports[purpose], attempt):
                            answered.append(f"{identity}: {scheme} {purpose} {attempt[1]}: {message}")
    assert answered == []


def test_lab_itself_is_answered(lab: Lab) -> None:
    """The same ports accept the right key, so the refused attempts fail for its lack."""
    state = lab.state
    tls = locate_prometheus_tls(Path(state.folder) / "prometheus").build_client_context()
    with httpx.Client(verify=tls, trust_env=False) as client:
        assert client.get(f"{state.prometheus_url}/api/v1/query?query=1").status_code == 200
    pki = Path(state.folder) / "kwok" / "clusters" / state.name / "pki"
    with httpx.Client(verify=locate_kubelet_tls(pki).build_client_context(), trust_env=False) as client:
        response = client.get(f"https://localhost:{state.ports['kubelet']}/containerLogs/kube-system/nobody/main")
        assert (response.status_code, response.text) == (404, 'pod "nobody" does not exist')


def test_name_server_accepts_the_chaos_manager_only(lab: Lab) -> None:
    """The client has no TLS, so the server checks the process of the connection."""
    messages = load_name_server_messages()
    call = messages.calls["CancelDNSChaos"]
    with grpc.insecure_channel(f"127.0.0.1:{lab.state.ports['chaos-names']}") as channel:
        method: Callable[..., Any] = channel.unary_unary(
            f"/{messages.service}/CancelDNSChaos",
            request_serializer=call.request.SerializeToString,
            response_deserializer=call.reply.FromString,
        )
        with pytest.raises(grpc.RpcError) as refused:
            method(call.request(name="any"), timeout=10)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED

"""The metrics API: routes, documents, and client authentication."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from scenario_kit.clients.certificates import Authority, issue
from scenario_kit.lab.control_plane import apiservice
from scenario_kit.lab.control_plane.cluster_keys import write_cluster_keys
from scenario_kit.lab.host.http_server import Request
from scenario_kit.lab.server.metrics_api import MetricsApi, serve
from scenario_kit.lab.telemetry import Measured
from scenario_kit.model.runtime.process import Usage
from tests.lab.worlds.fake_lab import EPOCH, FakeLab, spec

PODS = "/apis/metrics.k8s.io/v1beta1/pods"
SHOP = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods"
NODES = "/apis/metrics.k8s.io/v1beta1/nodes"


@pytest.fixture
def lab() -> FakeLab:
    lab = FakeLab()
    lab.begin()
    for name in ("web", "cart"):
        running = {"name": "c", "state": {"running": {"startedAt": "2001-09-09T00:00:00Z"}}}
        lab.put(
            "Pod",
            name,
            metadata={"labels": {"app": name}},
            spec={"nodeName": "worker-1"},
            status={"phase": "Running", "containerStatuses": [running]},
        )
    world = lab.worlds.open(spec())
    world._measured = Measured(EPOCH, 15, {(f"Pod-{n}", "c"): Usage(0.5, 2.0**20) for n in ("web", "cart")})
    return lab


@pytest.fixture
def api(lab: FakeLab) -> MetricsApi:
    return MetricsApi(lab.worlds, lab.store)


def ask(api: MetricsApi, target: str, method: str = "GET") -> tuple[int, Any]:
    answer = api.answer(Request(method, *target.split("?")))
    return answer.status, json.loads(answer.body)


def names(document: Any) -> list[str]:
    return [each["metadata"]["name"] for each in document["items"]]


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (PODS, ["cart", "web"]),
        (SHOP, ["cart", "web"]),
        (SHOP + "?labelSelector=app%3Dweb", ["web"]),
        (SHOP + "?labelSelector=app+in+%28web%2Ccart%29&limit=500", ["cart", "web"]),
        (SHOP + "?fieldSelector=metadata.name%3Dcart", ["cart"]),
        (PODS + "?fieldSelector=metadata.namespace%21%3Dshop", []),
        ("/apis/metrics.k8s.io/v1beta1/namespaces/other/pods", []),
    ],
)
def test_lists_are_selected(api: MetricsApi, target: str, found: list[str]) -> None:
    status, document = ask(api, target)
    assert (status, names(document)) == (200, found)


def test_pod_metrics_are_served_or_not_found(api: MetricsApi) -> None:
    assert ask(api, SHOP + "/web")[1]["metadata"]["name"] == "web"
    status, missing = ask(api, SHOP + "/gone")
    assert (status, missing["reason"]) == (404, "NotFound")
    assert missing["message"] == 'pods.metrics.k8s.io "shop/gone" not found'


def test_nodes_without_pods_are_omitted(api: MetricsApi, lab: FakeLab) -> None:
    assert names(ask(api, NODES)[1]) == []


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", SHOP + "?watch=true", 405),
        ("DELETE", SHOP + "/web", 405),
        ("GET", SHOP + "?labelSelector=a%3Db+c", 400),
        ("GET", "/apis/metrics.k8s.io/v1beta1/services", 404),
        ("GET", "/worlds", 404),
    ],
)
def test_unsupported_request_is_rejected(api: MetricsApi, method: str, target: str, status: int) -> None:
    answered, document = ask(api, target, method)
    assert (answered, document["kind"], document["code"]) == (status, "Status", status)


def test_discovery_lists_both_kinds(api: MetricsApi) -> None:
    resources = ask(api, "/apis/metrics.k8s.io/v1beta1")[1]["resources"]
    assert {(r["name"], r["kind"], r["namespaced"]) for r in resources} == {
        ("pods", "PodMetrics", True),
        ("nodes", "NodeMetrics", False),
    }
    assert {tuple(r["verbs"]) for r in resources} == {("get", "list")}


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    write_cluster_keys(tmp_path / "pki")
    apiservice.write_keys(tmp_path / "pki")
    return tmp_path / "pki"


@pytest.fixture
def port(api: MetricsApi, pki: Path) -> Iterator[int]:
    server = serve(api, 0, apiservice.build_server_context(pki))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    thread.join()
    server.server_close()


def dial(port: int, pki: Path, certificate: str) -> httpx.Response:
    """As the API server does it: the name of the Service, the cluster's authority."""
    context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    if certificate:
        context.load_cert_chain(pki / f"{certificate}.crt", pki / f"{certificate}.key")
    with httpx.Client(verify=context, trust_env=False) as client:
        return client.get(
            f"https://127.0.0.1:{port}{SHOP}", extensions={"sni_hostname": apiservice.SERVER_NAME}, timeout=5
        )


def test_api_server_is_answered(port: int, pki: Path) -> None:
    assert names(dial(port, pki, "front-proxy-client").json()) == ["cart", "web"]


@pytest.mark.parametrize("certificate", ["", "admin", "oncall"])
def test_other_clients_are_rejected(port: int, pki: Path, certificate: str) -> None:
    pair = issue(Authority.load(pki / "ca.crt", pki / "ca.key"), "oncall", groups=["oncall"])
    pair.write(pki / "oncall.crt", pki / "oncall.key")
    with pytest.raises(httpx.TransportError):
        dial(port, pki, certificate)


def test_objects_verify_the_server(pki: Path) -> None:
    service, registration = apiservice.build_objects(pki, 4443)
    assert service["spec"] == {"type": "ExternalName", "externalName": "localhost"}
    assert registration["spec"]["caBundle"]
    assert "insecureSkipTLSVerify" not in registration["spec"]
    assert apiservice.build_flags(pki)["proxy-client-cert-file"].endswith("front-proxy-client.crt")

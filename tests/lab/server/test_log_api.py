"""The kubelet's log endpoint: responses, following, and client authentication."""

from __future__ import annotations

import copy
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from scenario_kit.lab.host.http_server import Answer, Request
from scenario_kit.lab.host.mutual_tls import MutualTls
from scenario_kit.lab.kubelet.logs import LogFolder
from scenario_kit.lab.server.log_api import LogApi, serve
from scenario_kit.model import Object

T0 = 1_767_225_600.0
PATH = "/containerLogs/app/p/main"


class Pods:
    """One pod whose container runs until it is stopped."""

    def __init__(self) -> None:
        self.pod: Object = {
            "metadata": {"namespace": "app", "name": "p", "uid": "u"},
            "spec": {"containers": [{"name": "main"}], "initContainers": [{"name": "wait"}]},
            "status": {"containerStatuses": [{"name": "main", "state": {"running": {}}}]},
        }

    def find(self, namespace: str, name: str) -> Object | None:
        return copy.deepcopy(self.pod) if (namespace, name) == ("app", "p") else None

    def end(self) -> None:
        self.pod["status"]["containerStatuses"][0]["state"] = {"terminated": {"exitCode": 0}}


@pytest.fixture
def pods() -> Pods:
    return Pods()


@pytest.fixture
def logs(tmp_path: Path, pods: Pods) -> LogFolder:
    folder = LogFolder(tmp_path / "pods")
    folder.add(pods.pod)
    folder.append("app", "p", "main", [(T0, "one"), (T0 + 1, "two")])
    return folder


def read(answer: Answer) -> str:
    assert answer.stream is not None
    return b"".join(answer.stream).decode()


def test_current_and_previous_logs_are_served(pods: Pods, logs: LogFolder) -> None:
    api = LogApi(logs, pods.find, lambda _: T0 + 10)
    assert read(api.answer(Request("GET", PATH))) == "one\ntwo\n"
    assert read(api.answer(Request("GET", PATH, "sinceSeconds=9"))) == "two\n"
    refused = api.answer(Request("GET", PATH, "previous=true"))
    assert (refused.status, refused.body) == (400, b'previous terminated container "main" in pod "p" not found')
    logs.begin("app", "p", "main", 1)
    assert read(api.answer(Request("GET", PATH, "previous=true"))) == "one\ntwo\n"
    assert read(api.answer(Request("GET", PATH))) == ""


@pytest.mark.parametrize(
    ("method", "path", "query", "status"),
    [
        ("GET", "/containerLogs/app/q/main", "", 404),
        ("GET", "/containerLogs/other/p/main", "", 404),
        ("GET", "/containerLogs/app/p/side", "", 400),
        ("GET", "/containerLogs/app/p/../main", "", 404),
        ("GET", PATH, "tailLines=all", 400),
        ("POST", PATH, "", 404),
        ("GET", "/pods", "", 404),
        ("GET", "/metrics", "", 404),
    ],
)
def test_invalid_log_request_is_refused(
    pods: Pods, logs: LogFolder, method: str, path: str, query: str, status: int
) -> None:
    answer = LogApi(logs, pods.find, lambda _: T0).answer(Request(method, path, query))
    assert (answer.status, answer.stream) == (status, None)


def test_following_ends_with_the_container(pods: Pods, logs: LogFolder) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 1:
            logs.append("app", "p", "main", [(T0 + 2, "three")])
        else:
            logs.append("app", "p", "main", [(T0 + 3, "last")])
            pods.end()

    api = LogApi(logs, pods.find, lambda _: T0, pause)
    assert read(api.answer(Request("GET", PATH, "follow=true&tailLines=1"))) == "two\nthree\nlast\n"


def test_following_ends_with_the_client(pods: Pods, logs: LogFolder) -> None:
    api = LogApi(logs, pods.find, lambda _: T0, lambda _: None)
    listens = iter([True, True, False])
    request = Request("GET", PATH, "follow=true", listens=lambda: next(listens))
    assert read(api.answer(request)) == "one\ntwo\n"


@pytest.fixture
def tls(tmp_path: Path) -> MutualTls:
    made = MutualTls(tmp_path / "tls", "kubelet")
    made.write()
    return made


@pytest.fixture
def address(pods: Pods, logs: LogFolder, tls: MutualTls) -> Iterator[str]:
    server = serve(LogApi(logs, pods.find, lambda _: T0), 0, tls.build_server_context())
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"https://localhost:{server.server_port}{PATH}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_api_server_client_is_answered(address: str, tls: MutualTls) -> None:
    with httpx.Client(verify=tls.build_client_context(), trust_env=False) as client:
        for _ in range(2):  # the connection can be used again
            assert client.get(address).text == "one\ntwo\n"


def test_other_clients_are_rejected(address: str, tls: MutualTls, tmp_path: Path) -> None:
    other = MutualTls(tmp_path / "other", "kubelet")
    other.write()
    unknown = ssl.create_default_context(cafile=str(tls.authority))
    stranger = ssl.create_default_context(cafile=str(tls.authority))
    stranger.load_cert_chain(other.client_certificate, other.client_key)
    for context in (unknown, stranger):
        with httpx.Client(verify=context, trust_env=False) as client, pytest.raises(httpx.TransportError):
            client.get(address)

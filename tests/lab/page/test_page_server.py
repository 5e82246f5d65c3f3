"""Who gets what from the page's server, over real sockets."""

import socket
import threading
from collections.abc import Iterator

import httpx
import pytest

from scenario_kit.errors import LabError
from scenario_kit.lab.host.http_server import Request
from scenario_kit.lab.page.server import PageSite, render_page, serve

from .conftest import HOSTILE, Lab

TOKEN = "correct"
GOOD = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def address(little: Lab) -> Iterator[str]:
    server = serve(PageSite(little, TOKEN, "demo"), 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def ask(url: str, method: str = "GET", **headers: str) -> httpx.Response:
    with httpx.Client(trust_env=False) as client:
        return client.request(method, url, headers=headers)


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/", "GET", {}, 200),
        ("/?x=1", "GET", {}, 200),
        ("/api/worlds", "GET", GOOD, 200),
        ("/api/worlds/otel-demo", "GET", GOOD, 200),
        ("/api/worlds/otel-demo/logs/payment", "GET", GOOD, 200),
        ("/api/worlds", "GET", {}, 401),
        ("/api/worlds", "GET", {"Authorization": "Bearer wrong"}, 401),
        ("/api/worlds", "GET", {"Authorization": f"Basic {TOKEN}"}, 401),
        ("/api/worlds/otel-demo", "GET", {}, 401),
        ("/api/worlds/otel-demo/logs/payment", "GET", {}, 401),
        ("/api/worlds?token=correct", "GET", {}, 401),
        ("/api/worlds", "GET", {**GOOD, "Host": "evil.example:80"}, 421),
        ("/api/worlds", "GET", {**GOOD, "Host": "127.0.0.1"}, 421),
        ("/", "GET", {"Host": "evil.example"}, 421),
        ("/api/worlds", "GET", {**GOOD, "Sec-Fetch-Site": "cross-site"}, 403),
        ("/", "GET", {"Sec-Fetch-Site": "same-site"}, 403),
        ("/api/worlds", "GET", {**GOOD, "Sec-Fetch-Site": "same-origin"}, 200),
        ("/api/worlds/otel-demo", "POST", GOOD, 405),
        ("/api/worlds/otel-demo", "DELETE", GOOD, 405),
        ("/api/worlds/otel-demo", "PUT", GOOD, 405),
        ("/api/worlds/otel-demo", "OPTIONS", GOOD, 405),
        ("/", "HEAD", {}, 405),
        ("/api/worlds/other", "GET", GOOD, 404),
        ("/api/worlds/../../etc/passwd", "GET", GOOD, 404),
        ("/api/worlds/otel-demo/logs/%2e%2e", "GET", GOOD, 404),
        ("/lab.json", "GET", GOOD, 404),
    ],
)
def test_requests_are_authorised_by_path_method_and_token(
    address: str, path: str, method: str, headers: dict[str, str], status: int
) -> None:
    answer = ask(address + path, method, **headers)
    assert answer.status_code == status
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers
    if status >= 400 and method != "HEAD":
        assert set(answer.json()) == {"error", "fix"}
        assert TOKEN not in answer.text


def test_localhost_is_accepted_as_host(address: str) -> None:
    port = address.rpartition(":")[2]
    assert ask(address + "/", Host=f"localhost:{port}").status_code == 200


def test_page_server_listens_on_loopback_only(little: Lab) -> None:
    server = serve(PageSite(little, TOKEN, "demo"), 0)
    try:
        assert server.server_address[0] == "127.0.0.1"
        with pytest.raises(OSError, match="in use"):
            serve(PageSite(little, TOKEN, "demo"), server.server_address[1])
    finally:
        server.server_close()


def test_lab_errors_are_shown_and_own_bugs_are_not(little: Lab) -> None:
    def broken() -> list:
        raise LabError("the lab server does not answer", fix="scenario-kit lab up")

    def bug() -> list:
        raise KeyError("x")

    site = PageSite(little, TOKEN, "demo")
    request = Request("GET", "/api/worlds", headers={"authorization": GOOD["Authorization"]})
    little.worlds = broken
    answer = site.answer(request)
    assert (answer.status, b"scenario-kit lab up" in answer.body) == (503, True)
    little.worlds = bug
    assert site.answer(request).status == 500


def test_page_is_self_contained_and_runs_only_its_script() -> None:
    html, policy = render_page('x"><script>alert(1)</script>')
    text = html.decode()
    assert "<script>alert(1)" not in text
    assert text.count("<script>") == 1
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert "innerHTML" not in text
    assert policy.startswith("default-src 'none'; img-src data:; connect-src 'self'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_unfinished_request_does_not_block_others(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert ask(address + "/").status_code == 200


def test_log_texts_are_served_unchanged(address: str) -> None:
    lines = ask(f"{address}/api/worlds/otel-demo/logs/payment", **GOOD).json()["lines"]
    assert lines[1]["text"] == HOSTILE

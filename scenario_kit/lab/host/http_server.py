"""HTTP servers on loopback: requests, responses, host and token checks."""

from __future__ import annotations

import hmac
import logging
import select
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from scenario_kit.lab.host.addresses import LOOPBACK
from scenario_kit.model.base import encode_json

_LOG = logging.getLogger(__name__)
#: Connections idle for this many seconds are closed.
_PATIENCE: Final = 3600
#: The body limit; an app without its manifests is some 100 KB.
LIMIT_BYTES: Final = 4 << 20
JSON: Final = "application/json"


class Request(NamedTuple):
    """One request: ``headers`` by lower-case name; ``listens`` returns whether the client is still connected."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = {}
    body: bytes = b""
    listens: Callable[[], bool] = lambda: True

    def has_token(self, token: str) -> bool:
        """Return whether the request has this bearer token; compares in constant time."""
        scheme, _, given = self.headers.get("authorization", "").partition(" ")
        return scheme == "Bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


class Answer(NamedTuple):
    """Status, body and content type; a ``stream`` is sent in place of the body as it comes, until it ends."""

    status: int
    body: bytes
    type: str = JSON
    stream: Iterator[bytes] | None = None


def answer_json(status: int, document: Mapping[str, Any]) -> Answer:
    """Build a JSON response."""
    return Answer(status, encode_json(document))


def build_refusal(status: int, error: str, fix: str = "") -> Answer:
    """Build an error response with a fix."""
    return answer_json(status, {"error": error, "fix": fix})


class _LoopbackHandler(BaseHTTPRequestHandler):
    """Answers requests by the server's ``answer``."""

    server: _LoopbackServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _PATIENCE

    def _handle(self) -> None:
        given = self._answer()
        try:
            self.send_response(given.status)
            for key, value in self.server.headers.items():
                self.send_header(key, value)
            self.send_header("Content-Type", given.type)
            if given.stream is not None:
                self._stream(given.stream)
                return
            self.send_header("Content-Length", str(len(given.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(given.body)
        except OSError:
            self.close_connection = True  # the client has disconnected

    def _stream(self, chunks: Iterator[bytes]) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            if chunk:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _answer(self) -> Answer:
        if not self.server.any_host and not _is_loopback(self.headers.get("Host", "")):
            self.close_connection = True
            return build_refusal(421, "this server accepts the names of loopback only", "send Host: 127.0.0.1:PORT")
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LIMIT_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            return build_refusal(413, f"expected a body of at most {LIMIT_BYTES} bytes with a Content-Length")
        body = self.rfile.read(int(length))
        path, _, query = self.path.partition("?")
        given = {key.lower(): str(value) for key, value in self.headers.items()}
        request = Request(self.command, path, query, given, body, lambda: _is_waiting(self.connection))
        return self.server.answer(request)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle  # noqa: N815

    def version_string(self) -> str:
        return self.server.name

    def log_message(self, format: str, *args: object) -> None:
        _LOG.debug(format, *args)


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self, answer: Callable[[Request], Answer], port: int, name: str, headers: Mapping[str, str], any_host: bool
    ) -> None:
        self.answer, self.name, self.headers, self.any_host = answer, name, headers, any_host
        super().__init__((LOOPBACK, port), _LoopbackHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's names
        _LOG.debug("a connection broke off", exc_info=True)


def create_server(
    answer: Callable[[Request], Answer],
    port: int,
    *,
    name: str = "lab",
    headers: Mapping[str, str] | None = None,
    any_host: bool = False,
    tls: ssl.SSLContext | None = None,
) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet.

    Args:
        answer: called in a thread per connection; must not raise.
        port: 0 takes a free one.
        name: the server's name.
        headers: added to every response.
        any_host: accept any Host header. By default only names of loopback are accepted (421 otherwise), against DNS
            rebinding by pages in a browser.
        tls: use TLS; the handshake runs in the connection's thread, so that an idle client does not block others.

    Raises:
        OSError: the port is in use.
    """
    made = _LoopbackServer(answer, port, name, headers or {}, any_host)
    if tls is not None:
        made.socket = tls.wrap_socket(made.socket, server_side=True, do_handshake_on_connect=False)
    return made


def _is_loopback(host: str) -> bool:
    return host.rpartition(":")[0] in (LOOPBACK, "localhost")


def _is_waiting(connection: socket.socket) -> bool:
    """Return whether the peer has neither closed nor reset the connection."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return not readable or bool(connection.recv(1, socket.MSG_PEEK))
    except (OSError, ValueError):
        return False

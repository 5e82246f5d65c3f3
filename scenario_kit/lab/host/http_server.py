"""HTTP servers on loopback: requests in, answers out, and what a caller must show before it is heard."""

from __future__ import annotations

import hmac
import logging
import select
import socket
import ssl
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

import msgspec

from scenario_kit.lab.host.addresses import LOOPBACK

_LOG = logging.getLogger(__name__)
#: Callers whose thread says nothing for so many seconds are cut off.
_PATIENCE: Final = 3600
#: An app with its manifests left out is some 100 KB.
LIMIT_BYTES: Final = 4 << 20
JSON: Final = "application/json"


class Request(NamedTuple):
    """One request: ``headers`` by their names in lower case, ``listens`` whether the caller still is there."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = {}
    body: bytes = b""
    listens: Callable[[], bool] = lambda: True

    def bears(self, token: str) -> bool:
        """Check whether it carries this bearer token; takes as long for one that is nearly right."""
        scheme, _, given = self.headers.get("authorization", "").partition(" ")
        return scheme == "Bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


class Answer(NamedTuple):
    """Status, body and its type."""

    status: int
    body: bytes
    type: str = JSON


def answer_json(status: int, document: Mapping[str, Any]) -> Answer:
    """Return a document as JSON."""
    return Answer(status, msgspec.json.encode(document))


def build_refusal(status: int, error: str, fix: str = "") -> Answer:
    """Build what is wrong with a request, and what to do."""
    return answer_json(status, {"error": error, "fix": fix})


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
        answer: called in a thread for each connection; must not raise.
        port: 0 takes a free one.
        name: what the server calls itself.
        headers: added to every answer.
        any_host: also hear requests that were not sent to a name of loopback. Without it a page in a browser, whose
            name somebody lets point here, gets nothing (421).
        tls: speak TLS; the handshake is the connection's own, so that one that is silent does not hold up others.

    Raises:
        OSError: the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = _PATIENCE

        def _handle(self) -> None:
            given = self._answer()
            try:
                self.send_response(given.status)
                for key, value in (headers or {}).items():
                    self.send_header(key, value)
                self.send_header("Content-Type", given.type)
                self.send_header("Content-Length", str(len(given.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(given.body)
            except OSError:
                self.close_connection = True  # the caller left: nobody is there to be told

        def _answer(self) -> Answer:
            if not any_host and not _is_loopback(self.headers.get("Host", "")):
                self.close_connection = True
                return build_refusal(
                    421, "this server answers to the names of loopback only", "send Host: 127.0.0.1:PORT"
                )
            length = self.headers.get("Content-Length", "0")
            if not length.isdecimal() or int(length) > LIMIT_BYTES or "Transfer-Encoding" in self.headers:
                self.close_connection = True
                return build_refusal(413, f"a body of at most {LIMIT_BYTES} bytes with its Content-Length is expected")
            body = self.rfile.read(int(length))
            path, _, query = self.path.partition("?")
            given = {key.lower(): str(value) for key, value in self.headers.items()}
            return answer(Request(self.command, path, query, given, body, lambda: _is_waiting(self.connection)))

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _handle  # noqa: N815

        def version_string(self) -> str:
            return name

        def log_message(self, format: str, *args: object) -> None:
            _LOG.debug(format, *args)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the library's names
            _LOG.debug("a connection broke off", exc_info=True)

    made = Server((LOOPBACK, port), Handler)
    if tls is not None:
        made.socket = tls.wrap_socket(made.socket, server_side=True, do_handshake_on_connect=False)
    return made


def _is_loopback(host: str) -> bool:
    return host.rpartition(":")[0] in (LOOPBACK, "localhost")


def _is_waiting(connection: socket.socket) -> bool:
    """Check whether the other side has neither closed nor reset the connection."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return not readable or bool(connection.recv(1, socket.MSG_PEEK))
    except (OSError, ValueError):
        return False

"""Shared parts of the operator's HTTP servers: listening, answering, no access log."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from scenario_kit.errors import UsageError

_Server = TypeVar("_Server", bound=ThreadingHTTPServer)


class QuietHandler(BaseHTTPRequestHandler):
    """A request handler without access log, since probes and reviews arrive every few seconds."""

    def write_answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        """Write a complete response."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


def listen(
    server: Callable[[tuple[str, int], type[QuietHandler]], _Server],
    address: tuple[str, int],
    handler: type[QuietHandler],
    option: str,
) -> _Server:
    """Create a server that listens on an address, given by the command-line ``option``.

    Raises:
        UsageError: the address cannot be bound.
    """
    try:
        return server(address, handler)
    except OSError as error:
        raise UsageError(f"{option} {address[0]}:{address[1]}: {error.strerror}", fix="choose a free port") from error


def serve_in_thread(server: ThreadingHTTPServer, name: str) -> None:
    """Serve in a daemon thread until ``shutdown`` is called."""
    threading.Thread(target=server.serve_forever, name=name, daemon=True).start()

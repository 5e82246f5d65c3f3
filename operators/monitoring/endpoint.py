"""``/healthz``, ``/readyz`` and ``/metrics`` over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from operators.http import QuietHandler, listen, serve_in_thread
from scenario_kit.errors import UsageError

#: Seconds without a heartbeat of the event loop after which the process is unhealthy.
SILENCE_SECONDS: Final = 60.0


class Heartbeat:
    """Time of the event loop's last heartbeat; none while the operator still waits for the Lease."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None

    def beat(self) -> None:
        """Record a heartbeat."""
        self._last = self._clock()

    def describe_silence(self) -> str:
        """Describe an overdue heartbeat; empty if it is on time."""
        if self._last is None or (silent := self._clock() - self._last) <= SILENCE_SECONDS:
            return ""
        return f"the event loop has not run for {silent:.0f} s"


class OperatorEndpoint:
    """Responses by path. ``ready`` describes why the operator is not ready; empty if it is."""

    def __init__(self, heartbeat: Heartbeat, ready: Callable[[], str], registry: CollectorRegistry) -> None:
        self._heartbeat = heartbeat
        self._ready = ready
        self._registry = registry

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Return the status, content type and body for a path."""
        match urlsplit(path).path:
            case "/healthz":
                return _answer_probe(self._heartbeat.describe_silence())
            case "/readyz":
                return _answer_probe(self._heartbeat.describe_silence() or self._ready())
            case "/metrics":
                return HTTPStatus.OK, CONTENT_TYPE_LATEST, generate_latest(self._registry)
        return HTTPStatus.NOT_FOUND, "text/plain", b"/healthz, /readyz and /metrics are served here\n"


def _answer_probe(problem: str) -> tuple[HTTPStatus, str, bytes]:
    status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
    return status, "text/plain; charset=utf-8", f"{problem or 'ok'}\n".encode()


def parse_address(text: str, option: str = "--listen") -> tuple[str, int]:
    """Parse an option's ``HOST:PORT``; an IPv6 address is bracketed.

    Raises:
        UsageError: the text is not an address.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{option} {text}: expected HOST:PORT", fix=f"{option} 127.0.0.1:8080")
    return host.strip("[]"), int(port)


def serve(address: tuple[str, int], probes: OperatorEndpoint) -> ThreadingHTTPServer:
    """Serve probes and metrics in a thread until ``shutdown`` is called on the returned server.

    Raises:
        UsageError: the address cannot be bound.
    """

    class EndpointHandler(QuietHandler):
        """Answers GET requests."""

        def do_GET(self) -> None:  # noqa: N802 - the library's name
            self.write_answer(*probes.answer(self.path))

    server = listen(ThreadingHTTPServer, address, EndpointHandler, "--listen")
    serve_in_thread(server, "probes")
    return server

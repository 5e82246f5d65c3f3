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

#: Seconds without a sign of life of the event loop after which the process counts as hung.
SILENCE_SECONDS: Final = 60.0


class Heartbeat:
    """When the event loop of the operator last ran. It counts from the first beat: a candidate that waits has none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: float | None = None

    def beat(self) -> None:
        """Record a sign of life."""
        self._last = self._clock()

    def describe_silence(self) -> str:
        """Describe for how long there was none, if that is too long; empty otherwise."""
        if self._last is None or (silent := self._clock() - self._last) <= SILENCE_SECONDS:
            return ""
        return f"the event loop has not run for {silent:.0f} s"


class OperatorEndpoint:
    """What the paths answer. ``ready`` returns what is missing, in words; empty if nothing is."""

    def __init__(self, heartbeat: Heartbeat, ready: Callable[[], str], registry: CollectorRegistry) -> None:
        self._heartbeat = heartbeat
        self._ready = ready
        self._registry = registry

    def answer(self, path: str) -> tuple[HTTPStatus, str, bytes]:
        """Return status, content type and body for a path."""
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
    """Parse the ``HOST:PORT`` of an option; an IPv6 address stands in brackets.

    Raises:
        UsageError: it is none.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{option} {text}: this is no HOST:PORT", fix=f"{option} 127.0.0.1:8080")
    return host.strip("[]"), int(port)


def serve(address: tuple[str, int], probes: OperatorEndpoint) -> ThreadingHTTPServer:
    """Serve the probes in a thread, until ``shutdown`` is called on what is returned.

    Raises:
        UsageError: nothing can listen at the address.
    """

    class EndpointHandler(QuietHandler):
        """Answers GET requests."""

        def do_GET(self) -> None:  # noqa: N802 - the library's name
            self.write_answer(*probes.answer(self.path))

    server = listen(ThreadingHTTPServer, address, EndpointHandler, "--listen")
    serve_in_thread(server, "probes")
    return server

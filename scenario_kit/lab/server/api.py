"""The lab server's HTTP API: loopback, JSON, a bearer token.

::

    GET    /healthz               200 while the server works (no token needed)
    GET    /worlds                {"worlds": [{trial, namespace, mode, seed, now, stored}]}
    PUT    /worlds/{trial}        {namespace, others?, app, seed, mode, assumptions?} -> the world; idempotent
    GET    /worlds/{trial}        the world
    POST   /worlds/{trial}/wait   {until, step?} -> {now, settled, reason}; idempotent, returns after about ten seconds
    DELETE /worlds/{trial}        {}; one that is gone is fine
    POST   /probe                 {namespace, pod, port, path?} -> {connected, status, told}; what a port answers
    GET    /metrics               Prometheus text of all wall worlds
    GET    /worlds/{namespace}/jaeger/api/…     traces of the world at home there, see ``lab.tracing`` (no token needed)
    GET    /worlds/{namespace}/otlp?since=&service=&errors=    the same as OTLP, one a line (no token needed)

Errors are ``{"error": text, "fix": text}``: 400 malformed, 401 token, 404 no such thing, 409 taken, 413 too large,
500 a bug of ours, 503 something below failed.
"""

from __future__ import annotations

import hmac
import logging
import re
import select
import socket
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec

from scenario_kit.errors import InfrastructureError
from scenario_kit.lab.server.opened import opened
from scenario_kit.lab.telemetry import CONTENT_TYPE, exposition
from scenario_kit.lab.worlds.registry import Taken, Unsuitable, Worlds, describe
from scenario_kit.lab.worlds.world import WorldSpec

_LOG = logging.getLogger(__name__)
#: An app with its manifests left out is some 100 KB.
LIMIT_BYTES = 4 << 20
#: A wait returns after this long (wall clock) at the latest, give or take a tick.
WAIT_SECONDS = 10.0
_WORLD = re.compile(r"/worlds/(?P<trial>[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)(?P<wait>/wait)?")
_JSON = "application/json"


class _Wait(msgspec.Struct, forbid_unknown_fields=True):
    until: float
    step: float | None = None


class _Probe(msgspec.Struct, forbid_unknown_fields=True):
    namespace: str
    pod: str
    port: int
    path: str = ""


class Answer(NamedTuple):
    """Status, body and its type."""

    status: int
    body: bytes
    type: str = _JSON


class Api:
    """Requests in, answers out; knows nothing of sockets but whether the caller is still there."""

    def __init__(self, worlds: Worlds, token: str, health: Callable[[], str] = lambda: "") -> None:
        """``health`` says what is wrong with the server, or nothing."""
        self._worlds = worlds
        self._token = token.encode()
        self._health = health

    def answer(self, method: str, path: str, authorization: str, body: bytes, caller: Callable[[], bool]) -> Answer:
        """Answer one request. ``path`` has the query; ``caller`` tells whether the other side still listens."""
        path, _, query = path.partition("?")
        if path == "/healthz" and method == "GET":
            problem = self._health()
            return _refusal(503, problem) if problem else _json(200, {"status": "ok"})
        if method == "GET" and (found := opened(self._worlds, path, query)) is not None:
            return Answer(*found)
        scheme, _, token = authorization.partition(" ")
        if scheme != "Bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            return _refusal(401, "the bearer token is missing or wrong", "send the serverToken of the lab's lab.json")
        try:
            return self._route(method, path, body, caller)
        except Taken as error:
            return _refusal(409, str(error))
        except (msgspec.MsgspecError, Unsuitable) as error:
            return _refusal(400, f"{method} {path}: {error}")
        except InfrastructureError as error:
            _LOG.error("%s %s: %s", method, path, error.message)
            return _refusal(503, f"{type(error).__name__}: {error.message}", error.fix)
        except Exception as error:  # noqa: BLE001 - the caller is told, and other trials go on
            _LOG.exception("%s %s failed", method, path)
            return _refusal(500, f"{type(error).__name__}: {error}", "a bug of ours: see the lab server's log")

    def _route(self, method: str, path: str, body: bytes, caller: Callable[[], bool]) -> Answer:
        if method == "GET" and path == "/metrics":
            return Answer(200, exposition(self._worlds.exposed()).encode(), CONTENT_TYPE)
        if method == "GET" and path == "/worlds":
            return _json(200, {"worlds": [describe(world) for world in self._worlds.all()]})
        if path == "/probe":
            return self._probe(body) if method == "POST" else _method(method, path)
        match = _WORLD.fullmatch(path)
        if match is None:
            return _refusal(404, f"{method} {path}: no such path")
        trial = match["trial"]
        if match["wait"]:
            return self._wait(trial, body, caller) if method == "POST" else _method(method, path)
        if method == "PUT":
            document = msgspec.json.decode(body, type=dict[str, Any])
            return _json(200, describe(self._worlds.open(WorldSpec.from_json({**document, "trial": trial}))))
        if method == "DELETE":
            self._worlds.close(trial)
            return _json(200, {})
        if method != "GET":
            return _method(method, path)
        world = self._worlds.get(trial)
        return _json(200, describe(world)) if world else _no_world(trial)

    def _probe(self, body: bytes) -> Answer:
        asked = msgspec.json.decode(body, type=_Probe)
        world = self._worlds.at_home(asked.namespace)
        if world is None:
            return _refusal(404, f"no world is at home in the namespace {asked.namespace}")
        return _json(200, world.probe(asked.pod, asked.port, asked.path, asked.namespace)._asdict())

    def _wait(self, trial: str, body: bytes, caller: Callable[[], bool]) -> Answer:
        asked = msgspec.json.decode(body, type=_Wait)
        if asked.step is not None and asked.step <= 0:
            return _refusal(400, f"step is {asked.step}, expected more than 0 seconds")
        world = self._worlds.get(trial)
        if world is None:
            return _no_world(trial)
        waited = world.wait(asked.until, stride=asked.step, seconds=WAIT_SECONDS, go_on=caller)
        return _json(200, waited._asdict())


def serve(api: Api, port: int) -> ThreadingHTTPServer:
    """A server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        server_version = "lab"
        timeout = 3600

        def _handle(self) -> None:
            length = self.headers.get("Content-Length", "0")
            if not _meant(self.headers.get("Host", "")):
                self.close_connection = True
                answer = _refusal(421, "this server answers to the names of loopback only")
            elif not length.isdecimal() or int(length) > LIMIT_BYTES or "Transfer-Encoding" in self.headers:
                self.close_connection = True
                answer = _refusal(413, f"a body of at most {LIMIT_BYTES} bytes with its Content-Length is expected")
            else:
                body = self.rfile.read(int(length))
                authorization = self.headers.get("Authorization", "")
                answer = api.answer(self.command, self.path, authorization, body, lambda: _listens(self.connection))
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.type)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except ConnectionError:
                self.close_connection = True  # the caller left: nobody is there to be told

        do_GET = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815 - the library's names

        def log_message(self, format: str, *args: object) -> None:
            _LOG.debug(format, *args)

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    return server


def _meant(host: str) -> bool:
    """Whether a request was sent to this machine by a name of its own: a page may have its own name point here."""
    return host.rpartition(":")[0] in ("127.0.0.1", "localhost")


def _listens(connection: socket.socket) -> bool:
    """Whether the other side has neither closed nor reset the connection."""
    try:
        readable, _, _ = select.select([connection], [], [], 0)
        return not readable or bool(connection.recv(1, socket.MSG_PEEK))
    except (OSError, ValueError):
        return False


def _json(status: int, document: Mapping[str, object]) -> Answer:
    return Answer(status, msgspec.json.encode(document))


def _refusal(status: int, error: str, fix: str = "") -> Answer:
    return _json(status, {"error": error, "fix": fix})


def _method(method: str, path: str) -> Answer:
    return _refusal(404, f"{method} {path}: no such method here")


def _no_world(trial: str) -> Answer:
    return _refusal(404, f"trial {trial} has no world; a restarted lab server has lost those it had")

"""The lab server's HTTP API: loopback, JSON, a bearer token.

::

    GET    /healthz               200 while the server works (no token needed)
    GET    /worlds                {"worlds": [{trial, namespace, mode, seed, now, stored}]}
    PUT    /worlds/{trial}        {namespace, others?, app, seed, mode, assumptions?} -> the world; idempotent
    GET    /worlds/{trial}        the world
    POST   /worlds/{trial}/wait   {until, step?} -> {now, settled, reason}; idempotent, returns after about ten seconds
    DELETE /worlds/{trial}        {}; also if there is none
    POST   /probe                 {namespace, pod, port, path?} -> {connected, status, told}; probe a port
    PUT    /recordings/{trial}    {} -> {trial}; record the world of the trial once it is opened
    GET    /recordings/{trial}?offset=      its ticks so far, from a byte on, one per line (``model.runtime.recording``)
    DELETE /recordings/{trial}    {}; also if there is none
    GET    /metrics               Prometheus text of all wall-clock worlds
    GET    /worlds/{namespace}/{key}/jaeger/api/…     traces of a world, see ``lab.tracing``; the key replaces the token
    GET    /worlds/{namespace}/{key}/otlp?since=&service=&errors=     the same as OTLP, one per line

Errors are ``{"error": text, "fix": text}``: 400 malformed, 401 token, 404 not found, 409 conflict, 413 too large,
422 an app that cannot be simulated, 500 an internal error, 503 a component below failed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from typing import Any

import msgspec

from scenario_kit.errors import InfrastructureError
from scenario_kit.lab.host.http_server import Answer, Request, answer_json, build_refusal, create_server
from scenario_kit.lab.server.public_api import answer_public
from scenario_kit.lab.server.recordings_api import answer_recordings
from scenario_kit.lab.telemetry import CONTENT_TYPE, format_exposition
from scenario_kit.lab.world_spec import WorldSpec
from scenario_kit.lab.worlds.registry import UnsupportedApp, WorldConflict, Worlds, describe

_LOG = logging.getLogger(__name__)
#: The maximum wall time of a wait, give or take a tick.
WAIT_SECONDS = 10.0
_WORLD = re.compile(r"/worlds/(?P<trial>[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)(?P<wait>/wait)?")


class _Wait(msgspec.Struct, forbid_unknown_fields=True):
    until: float
    step: float | None = None


class _Probe(msgspec.Struct, forbid_unknown_fields=True):
    namespace: str
    pod: str
    port: int
    path: str = ""


class LabServerApi:
    """Handles requests; independent of sockets except for whether the client is connected."""

    def __init__(self, worlds: Worlds, token: str, health: Callable[[], str] = lambda: "") -> None:
        """Create the API; ``health`` returns the server's problem, empty if none."""
        self._worlds = worlds
        self._token = token
        self._health = health

    def answer(self, request: Request) -> Answer:
        """Handle one request."""
        method, path = request.method, request.path
        if path == "/healthz" and method == "GET":
            problem = self._health()
            return build_refusal(503, problem) if problem else answer_json(200, {"status": "ok"})
        if method == "GET" and (found := answer_public(self._worlds, self._token, path, request.query)) is not None:
            return found
        if not request.has_token(self._token):
            return build_refusal(
                401, "the bearer token is missing or wrong", "send the serverToken of the lab's lab.json"
            )
        try:
            return self._route(request)
        except WorldConflict as error:
            return build_refusal(409, str(error))
        except UnsupportedApp as error:
            return build_refusal(422, str(error), "correct the app's twin.yaml: scenario-kit lint catalog/apps/<name>")
        except msgspec.MsgspecError as error:
            return build_refusal(400, f"{method} {path}: {error}")
        except InfrastructureError as error:
            _LOG.error("%s %s: %s", method, path, error.message)
            return build_refusal(503, f"{type(error).__name__}: {error.message}", error.fix)
        except Exception as error:  # noqa: BLE001 - answered with 500; the server continues
            _LOG.exception("%s %s failed", method, path)
            return build_refusal(500, f"{type(error).__name__}: {error}", "an internal error: see the lab server's log")

    def _route(self, request: Request) -> Answer:
        method, path = request.method, request.path
        if method == "GET" and path == "/metrics":
            return Answer(200, format_exposition(self._worlds.collect_exposed()).encode(), CONTENT_TYPE)
        if method == "GET" and path == "/worlds":
            return answer_json(200, {"worlds": [describe(world) for world in self._worlds.all()]})
        if path == "/probe":
            return self._probe(request.body) if method == "POST" else _refuse_method(method, path)
        recordings = self._worlds.recordings
        if recordings is not None and (found := answer_recordings(recordings, request)) is not None:
            return found
        match = _WORLD.fullmatch(path)
        if match is None:
            return build_refusal(404, f"{method} {path}: no such path")
        trial = match["trial"]
        if match["wait"]:
            return self._wait(trial, request) if method == "POST" else _refuse_method(method, path)
        if method == "PUT":
            document = msgspec.json.decode(request.body, type=dict[str, Any])
            return answer_json(200, describe(self._worlds.open(WorldSpec.from_json({**document, "trial": trial}))))
        if method == "DELETE":
            self._worlds.close(trial)
            return answer_json(200, {})
        if method != "GET":
            return _refuse_method(method, path)
        world = self._worlds.get(trial)
        return answer_json(200, describe(world)) if world else _refuse_world(trial)

    def _probe(self, body: bytes) -> Answer:
        probe = msgspec.json.decode(body, type=_Probe)
        world = self._worlds.get_by_namespace(probe.namespace)
        if world is None:
            return build_refusal(404, f"no world has the namespace {probe.namespace}")
        return answer_json(200, world.probe(probe.pod, probe.port, probe.path, probe.namespace)._asdict())

    def _wait(self, trial: str, request: Request) -> Answer:
        wait = msgspec.json.decode(request.body, type=_Wait)
        if wait.step is not None and wait.step <= 0:
            return build_refusal(400, f"step is {wait.step}, expected more than 0 seconds")
        world = self._worlds.get(trial)
        if world is None:
            return _refuse_world(trial)
        waited = world.wait(wait.until, stride=wait.step, seconds=WAIT_SECONDS, should_continue=request.listens)
        return answer_json(200, waited._asdict())


def serve(api: LabServerApi, port: int) -> ThreadingHTTPServer:
    """Create a server on loopback, not running yet; ``port`` 0 takes a free one.

    Raises:
        OSError: the port is in use.
    """
    return create_server(api.answer, port)


def _refuse_method(method: str, path: str) -> Answer:
    return build_refusal(404, f"{method} {path}: method not supported")


def _refuse_world(trial: str) -> Answer:
    return build_refusal(404, f"trial {trial} has no world; worlds are lost when the lab server restarts")
